// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes a kernel body on the CPU and reports errors that a device would not: the reference for
// kernels, as the interpreter is the reference for operators.
//
// All invocations of a workgroup execute the statements in lockstep, each statement under a mask of
// active invocations (single instruction, multiple threads).  This is one of the orders that a
// device may choose; races are detected from the accesses between two barriers, not by chance.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Memory of an operand, before and after the kernel.
struct OperandMemory {
    HostTensor tensor;
    std::vector<bool> is_written;  ///< per element: by the host side, or by the kernel

    static OperandMemory full(HostTensor tensor);
    /// Memory with nothing written.
    static OperandMemory empty(DType dtype, const Shape& shape);
};

struct KernelLaunch {
    std::string label;  ///< name of the kernel in errors
    uint32_t workgroups = 1;
    int64_t rows = 1;
    std::vector<uint32_t> words = {};  ///< what kPushedWord reads
};

/// Runs the kernel.  operands: one per operand of the body, of its type.
/// Errors: kInternal naming the launch, function, workgroup, invocation and element for the first
/// of: a race (an element of shared memory between two barriers, or of a buffer anywhere, that one
/// invocation writes and another one reads or writes); a read of unwritten memory; an access out of
/// bounds; a barrier that not all invocations of a workgroup reach.
/// kInvalidArgument: operands of other types, or another number of them.
/// Floats are computed in f32; mathematical functions are computed in double and rounded once.
Status run_kernel(const Body& body, const KernelLaunch& launch, std::span<OperandMemory> operands);

}  // namespace hearth
