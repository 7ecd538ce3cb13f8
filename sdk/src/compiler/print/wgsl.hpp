// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints bodies of CPUs as WGSL, for WebGPU: their invocations need not meet, so that WebGPU's workgroups hold as many
// of them as they like.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>

#include <string>

namespace hearth {

/// Invocations of a workgroup of WebGPU; Body::threads of them, one after the other, are a workgroup of the body.
constexpr uint32_t kWgslWorkgroup = 64;

/// A module with the entry point "main".  WebGPU refuses buffers that overlap in one dispatch, and offers few:
///
///     binding 0  storage, all of the program's memory, as words
///     binding 1  uniform: i32 rows, i32 workgroups of the body
///     constants  at_N: the word at which operand N begins, in the body's order
///
/// The body must be proven (verify_body).
/// Errors: kUnsupported for barriers, functions, elements of other than 4 bytes, and lanes that are not 4.
Result<std::string> print_wgsl(const Body& body);

}  // namespace hearth
