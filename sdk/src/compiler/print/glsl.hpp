// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints bodies as GLSL.
//
// The text names an operand "b3" and expects that `b3.at[i]` is an element as it lies in memory; as
// vectors of 16 and 8 bytes `b3w.at[i]` and `b3p.at[i]` (BodyRequirements); "rows"; and the
// functions of shaders/common that the body requires.  An operand in a region (GlslOptions::in_region) has the
// place "b3a" instead, a uint, and functions of region_functions() reach its elements.

#pragma once

#include "compiler/kernel/body.hpp"

#include <string>
#include <vector>

namespace hearth {

struct GlslOptions {
    /// Quotients of floats are the nearest ones (shaders/common/division.glsl); otherwise the driver's.
    bool divides_exactly = false;
    /// The larger or smaller of a float and a number asks whether the float is NaN.  Without, a comparison leaves NaN as
    /// it is, where the driver takes it as it is written.
    bool asks_for_nan = false;
    /// Kernels that bind descriptors, per operand: it lies in a region that is bound as a whole, at a place
    /// (program/program.hpp, locate()).  Buffer parameters and variables are places then, not addresses.
    std::vector<bool> in_region = {};
};

/// All of the body: shared memory, functions and main().
std::string print_glsl(const Body& body, GlslOptions options = {});

/// What main() does, alone.
std::string print_glsl_statements(const Body& body);

/// The functions of mathematics that GLSL lacks, or that Vulkan leaves too inexact, of 32 bits: hearth_sin and others.
/// shaders/common has those of 64 bits (int64.glsl), of rounding (narrow.glsl) and of division (division.glsl).
const std::string& print_glsl_math();

/// Shared memory and functions alone.
std::string print_glsl_functions(const Body& body, GlslOptions options = {});

}  // namespace hearth
