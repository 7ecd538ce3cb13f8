// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Callbacks of CPU devices for tools, tests and demos: threads, and kernels, built by the system's
// compiler as programs are loaded, or interpreted where there is no compiler.

#pragma once

#include "native/interpreted_kernels.hpp"
#include "native/library.hpp"
#include "native/shared_library.hpp"
#include "native/thread_team.hpp"

#include <hearth/hearth.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace hearth::native {

struct HostOptions {
    CpuIsa cpu = CpuIsa::kNone;  ///< kNone: the widest that this machine supports
    uint32_t threads = 1;
    BuildOptions build;
    /// Compiled kernels, which need no compiler; each outlives the host's contexts.
    std::vector<const hearth_cpu_kernel_table*> tables = {};
    /// Called before and after the compiler runs, and when kernels are interpreted, which is
    /// otherwise said on stderr; optional.
    std::function<void(std::string_view message)> progress = {};
};

/// Must outlive the contexts created with its info().
class Host {
  public:
    explicit Host(HostOptions options = {});
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// For hearth_context_create_cpu and standalone::Instance::create_native.
    hearth_cpu_context_create_info info();
    /// Reason why kernels could not be built; empty if they could.
    const std::string& error() const { return error_; }
    /// True if kernels have been interpreted for lack of a C compiler.
    bool has_interpreted() const { return !interpreted_.empty(); }

  private:
    Result<const hearth_cpu_kernel_table*> provide(
        CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources);
    Result<const hearth_cpu_kernel_table*> interpret(
        CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources);
    Result<const hearth_cpu_kernel_table*> build(CpuIsa cpu,
                                                 std::span<const hearth_cpu_kernel_source> sources);

    HostOptions options_;
    ThreadTeam team_;
    const bool has_compiler_;
    std::vector<SharedLibrary> libraries_;
    std::vector<std::unique_ptr<InterpretedKernels>> interpreted_;
    std::string error_;
};

}  // namespace hearth::native
