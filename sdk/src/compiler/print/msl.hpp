// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints kernels in the Metal Shading Language, 2.3 and later.  No runtime of Hearth's loads them, and none was run on a
// device of Apple's: tests compile them as C++ and execute them on the CPU.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// A kernel function of this name.  Operand i is [[buffer(i)]]; behind them is a Run with the live rows and the number of
/// workgroups, of body.threads threads each along x.
/// Errors: kUnsupported naming what MSL, or this printer, lacks: f64, chunks of f16, matrices of a subgroup.
Result<std::string> print_msl(const Body& body, std::string_view name);

}  // namespace hearth
