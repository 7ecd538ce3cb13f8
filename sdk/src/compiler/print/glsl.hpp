// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints bodies as GLSL: functions around kernels that users write in it, functions for shaders, and listings.
//
// The text names an operand "b3" and expects that `b3.at[i]` is an element as it lies in memory, and "rows".  Listings
// have no other reader than people: what a kernel does with matrices and with halves in words is written as calls of
// the instructions (compiler/kernel/instructions.hpp), not as GLSL.

#pragma once

#include "compiler/kernel/body.hpp"

#include <string>
#include <string_view>

namespace hearth {

struct GlslOptions {
    /// Quotients of floats are the nearest ones (hearth_divide); otherwise the driver's.
    bool divides_exactly = false;
    /// The larger or smaller of a float and a number asks whether the float is NaN.  Without, a comparison leaves NaN as
    /// it is, where the driver takes it as it is written.
    bool asks_for_nan = false;
};

/// All of the body: shared memory, functions and main().
std::string print_glsl(const Body& body, GlslOptions options = {});

/// What main() does, alone.
std::string print_glsl_statements(const Body& body);

/// Shared memory and functions alone.
std::string print_glsl_functions(const Body& body, GlslOptions options = {});

/// The functions that GLSL lacks, or that Vulkan leaves too inexact: hearth_sin and others.
/// has_int64: those of 64 bits, too, which need an extension.
const std::string& print_glsl_math(bool has_int64 = false);

std::string_view glsl_type(ScalarType type);
/// The type of an element as it lies in memory; held: see device_dtype().
std::string_view glsl_held_type(DType held);
/// `stored`, an element in memory, as the number that kernels compute with.
std::string glsl_loaded(DType held, const std::string& stored);
/// A literal of exactly this value (infinities and NaN included).
std::string glsl_literal(double value, ScalarType type);
std::string glsl_literal(uint64_t bits, ScalarType type);

}  // namespace hearth
