// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// VMA's functions, as every game that uses it has them in one of its files.

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
