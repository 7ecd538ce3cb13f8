// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles VMA's implementation, as every game that uses VMA does in one source file.

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
