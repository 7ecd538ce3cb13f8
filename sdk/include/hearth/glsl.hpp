// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks as GLSL functions, for the game's own shaders.  `hearth cook --target glsl` does the same.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// An entry as a GLSL function, made by export_glsl.
struct GlslFunction {
    std::string text;  ///< of a file to include right after #version
    /// The slot of which the function wants the device address; empty: it reads no weights.
    std::string slot;
};

/// A GLSL function that computes an entry for one row: a fragment or compute shader of the game's calls
/// it to run a small network itself.  It reads the weights of the very session that trains them:
///
///     void NAME(uvec2 weights, vec2 place, ..., out vec3 colour, ...);
///
/// weights  what hearth_session_get_slot_buffer says is the device address of GlslFunction::slot, low
///          word first.  A barrier between the recording that learns and the shader is the game's, as
///          for any use of a slot's bytes.
/// others   one row of each input in the order of declaration, then of each output: a float, int or uint
///          (bools too); of 2 to 4 elements a vector, of more an array.  Tensors without rows are whole.
///
/// The text also defines NAME_program, a uvec2: the hash of the program that it belongs to
/// (hearth_program_info::hash), low word first.
///
/// entry     computes each row from that row alone; its updates are left out.
/// compiled  the program that the sessions have, made of this entry and others with `options`.
/// name      of the function; empty: the entry's.
///
/// Numbers are computed as in kernels: in f32, whatever type the weights are kept in, with operands of
/// products rounded as `options.precision` says.
/// Errors: kUnsupported naming the operator that cannot be part of it (one with a kernel of its own, one
/// that mixes rows, a random number), or what has too many elements for a function; kInvalidArgument for
/// names that GLSL does not take, and for weights that `compiled` lacks.
/// Threads: any.  Deterministic.
Result<GlslFunction> export_glsl(Trace& entry, const Compiled& compiled,
                                 const CompileOptions& options, std::string_view name = {});

}  // namespace hearth
