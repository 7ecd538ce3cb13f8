// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes a body on the CPU, and says what a device would not: the reference for kernels, as the
// interpreter is the reference for operators.
//
// All invocations of a workgroup go through the statements together, each statement by those that
// have come there (single instruction, multiple threads, with masks).  That is one of the orders
// that a device may choose; races are found by who touches what between two barriers, not by luck.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth {

/// What a kernel finds in the memory of an operand, and leaves there.
struct OperandMemory {
    HostTensor tensor;
    std::vector<bool> is_written;  ///< per element: by the host, or by the kernel

    static OperandMemory full(HostTensor tensor);
    /// Memory that nothing has been written to.
    static OperandMemory empty(DType dtype, const Shape& shape);
};

struct KernelLaunch {
    std::string label;  ///< what errors call the kernel
    uint32_t workgroups = 1;
    int64_t rows = 1;
};

/// Runs the kernel.  operands: one per operand of the body, of its type.
/// Errors: kInternal naming the launch, function, workgroup, invocation and what was touched, for the
/// first of: a race (an element of shared memory between two barriers, or of a buffer anywhere,
/// that one invocation writes and another one reads or writes); a read of what nothing has written;
/// an access out of bounds; a barrier that not all invocations of a workgroup come to.
/// kInvalidArgument: operands of other types, or another number of them.
/// Floats are computed in f32, functions of mathematics rounded once from double.
Status run_kernel(const Body& body, const KernelLaunch& launch, std::span<OperandMemory> operands);

}  // namespace hearth
