// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exports the inline functions of hearth.h, for languages that cannot call inline functions.

#define HEARTH_EXPORT_INLINE_FUNCTIONS
#include <hearth/hearth.h>
