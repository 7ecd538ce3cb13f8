// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tables of kernels that are executed as bodies (compiler/reference/kernel_code.hpp), for CPU devices
// without a C compiler.

#pragma once

#include <hearth/hearth.h>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <memory>
#include <span>
#include <vector>

namespace hearth::native {

/// A table and its entries.
class InterpretedKernels {
  public:
    /// Functions for these kernels, whose bodies this process has kept (keep_bodies).
    /// Errors: kNotFound for a kernel whose body was not kept; kOutOfRange for more than
    /// 4096 different kernels in a process; those of lower_kernel().
    static Result<std::unique_ptr<InterpretedKernels>> make(
        CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources);

    const hearth_cpu_kernel_table* table() const { return &table_; }

  private:
    std::vector<hearth_cpu_kernel> kernels_;
    hearth_cpu_kernel_table table_{};
};

}  // namespace hearth::native
