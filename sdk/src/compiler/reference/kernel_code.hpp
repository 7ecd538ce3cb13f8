// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernel bodies as code of a register machine, for CPUs without a C compiler.
//
// lower_kernel() translates a body to a list of instructions on registers of 32 bits; run() executes
// it, one invocation after another, and switches between the invocations of a workgroup at barriers.
// Results have the bits of the C that print_c() writes, compiled with the flags in
// docs/how-to/cpu_device.md.  Like that C, and unlike run_kernel(), nothing is checked while it runs.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hearth {

struct KernelInstruction;

/// Immutable; any number of threads may run it.
class KernelCode {
  public:
    KernelCode();
    KernelCode(KernelCode&& other) noexcept;
    KernelCode& operator=(KernelCode&& other) noexcept;
    ~KernelCode();

    /// As a hearth_cpu_kernel_fn.  operands: one pointer per operand of the body.
    void run(void* const* operands, int32_t rows, int32_t first, int32_t end,
             int32_t workgroups) const;

  private:
    friend class KernelLowering;
    struct Invocation;
    /// Runs until the next barrier; returns false at the end.
    bool resume(Invocation& invocation, uint32_t* shared) const;

    std::vector<KernelInstruction> code_;
    std::vector<uint32_t> initial_;  ///< registers with constants; the others are 0
    uint32_t entry_ = 0;             ///< index of the first instruction
    uint32_t threads_ = 1;
    uint32_t shared_words_ = 0;
    uint32_t operand_count_ = 0, buffer_count_ = 0;
    bool has_barriers_ = false;
};

/// cpu: decides whether kMultiplyAdd rounds once, as it does in C for this CPU.
/// Errors: kUnsupported naming the instruction, for what print_c() rejects, too: subgroups, fragments.
Result<KernelCode> lower_kernel(const Body& body, CpuIsa cpu, std::string_view name);

}  // namespace hearth
