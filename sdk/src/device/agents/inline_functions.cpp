// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exports the inline functions of hearth_agents.h.

#include <hearth/hearth.h>  // before the definition: device/capi exports those of hearth.h

#define HEARTH_EXPORT_INLINE_FUNCTIONS
#include <hearth/hearth_agents.h>
