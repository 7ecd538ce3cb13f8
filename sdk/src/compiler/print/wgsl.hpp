// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints bodies of CPUs as WGSL, for WebGPU: their invocations need not meet, so that WebGPU's workgroups hold as many
// of them as they like.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>

#include <string>

namespace hearth {

/// Invocations of a workgroup of WebGPU, unless those of the body's workgroups work together; Body::threads of them,
/// one after the other, are a workgroup of the body.
constexpr uint32_t kWgslWorkgroup = 64;
/// kWgslWorkgroup, or Body::threads if the body has barriers or shared memory.
uint32_t wgsl_workgroup_size(const Body& body);

/// A module with the entry point "main".  WebGPU refuses buffers that overlap in one dispatch, and offers few:
///
///     binding 0  storage, all of the program's memory, as words
///     binding 1  uniform: i32 rows, i32 workgroups of the body
///     constants  at_N: the word at which operand N begins, in the body's order
///
/// The body must be proven (verify_body).
/// Errors: kUnsupported for functions, elements of other than 4 bytes, lanes that are not 4, workgroups of over 256
/// invocations and shared arrays of over 16384 bytes.
Result<std::string> print_wgsl(const Body& body);

}  // namespace hearth
