// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints bodies as C11: the second target, for machines without a GPU.
//
// The text needs the functions of mathematics of <math.h>, memcpy, and nothing else; it has no globals.
// Integers wrap around as everywhere, so it is to be compiled with -fwrapv, and with
// -ffp-contract=off where its bits are to be those of another compiler.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// What all kernels of a file share: includes and static functions.  Once, at its beginning.
std::string_view c_prelude();

/// Vector registers of the CPU, for kernels whose bodies have lanes; behind the prelude.
std::string_view c_lanes(CpuIsa cpu);

/// The type of an element as it lies in memory; held: see device_dtype().
std::string_view c_held_type(DType held);

/// A function
///
///     void NAME(void* const* operands, int32_t rows, int32_t first, int32_t end, int32_t workgroups);
///
/// that runs workgroups [first, end) of `workgroups`.  operands: where the body's operands lie, in their order,
/// as they would on a GPU.  Ranges that do not overlap may run at the same time, and give the same bits in
/// whatever order.  The body must be proven (verify_body).
/// Errors: kUnsupported for a kernel with barriers in which an invocation alone leaves a loop by returning, or goes
/// on with the next turn of a loop that has barriers.
Result<std::string> print_c(const Body& body, std::string_view name);

}  // namespace hearth
