// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks the device properties that code is generated for.

#pragma once

#include <hearth/status.hpp>
#include <hearth/types.hpp>

namespace hearth {

/// Checks every field, and that they fit together.  Code generation divides by these numbers and
/// writes them into kernels.
///
/// Errors: kInvalidArgument naming each wrong field, with what was expected and found.
Status check_device_caps(const DeviceCaps& caps);

}  // namespace hearth
