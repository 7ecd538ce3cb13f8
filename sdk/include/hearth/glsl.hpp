// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exports networks as GLSL functions, for the application's own shaders.  `hearth cook --target
// glsl` does the same.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// An entry as a GLSL function, made by export_glsl.
struct GlslFunction {
    std::string text = {};  ///< source of a file to include right after #version
    /// The variable whose device address the function takes; empty: it reads no weights.
    std::string variable = {};
};

/// Returns a GLSL function that computes an entry for one batch item: a fragment or compute shader
/// of the application calls it to run a small network inline.  It reads the weights of the session
/// that trains them:
///
///     void NAME(uvec2 weights, vec2 position, ..., out vec3 color, ...);
///
/// weights  device address of GlslFunction::variable, from hearth_session_get_variable_buffer, low
///          word first.  The application records the barrier between the recording that learns and
///          the shader, as for any use of a variable's bytes.
/// others   one item of each input in the order of declaration, then of each output: a float, int
///          or uint (also for bools); a vector for 2 to 4 elements, an array for more.  Tensors
///          without a batch axis are passed whole.
///
/// The text also defines NAME_program, a uvec2: the hash of the program that it belongs to
/// (hearth_program_info::hash), low word first.
///
/// entry     computes each batch item from that item alone; its updates are dropped.
/// compiled  the program of the sessions, compiled from this entry and others with `options`.
/// name      of the function; empty: the entry's.
///
/// Arithmetic is the kernels': in f32, whatever type the weights are stored in, with operands of
/// products rounded as `options.precision` requires.
/// Errors: kUnsupported naming the operator that a function cannot contain (one with a custom
/// kernel, one that mixes batch items, a random number), or a tensor with too many elements;
/// kInvalidArgument for names that are invalid in GLSL, and for weights that `compiled` lacks.
/// Threads: any.  Deterministic.
Result<GlslFunction> export_glsl(Trace& entry, const Compiled& compiled,
                                 const CompileOptions& options, std::string_view name = {});

}  // namespace hearth
