// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// This machine's CPU as a device, for development without a GPU: kernels are built by the system's C
// compiler when programs are loaded, and cached.  Link hearth::cpu.  A game that ships for CPUs
// links cooked kernels instead ("CPU device" in hearth.h).  Without a compiler and without cooked
// kernels they are interpreted, to the same bits, and tens of times slower
// (docs/how-to/cpu_device.md).
//
//     HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
//     HEARTH_ASSIGN(Agents agents, make_agents(device.context(), spec, network, Ppo{}));
//     for each frame:
//         HEARTH_TRY(device.context().begin_frame());
//         agents.poll();
//         HEARTH_TRY(device.run([&](VkCommandBuffer commands) { return agents.record(commands); }));

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/executor.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth::native {
class Host;
}

namespace hearth::cpu {

/// Writes "hearth: MESSAGE" to stderr.
void print_progress(std::string_view message);

/// Options of open_device().
struct DeviceOptions {
    CpuIsa isa = CpuIsa::kNone;  ///< kNone: the widest that this machine supports
    /// Threads that execute a recording, the caller's included; 0: one for each core.  Small
    /// networks are fastest with one.
    uint32_t threads = 1;
    std::string compiler = {};  ///< the C compiler; empty: the environment's CC, or else cc or gcc
    std::string flags = "-O3";  ///< for the C compiler
    /// Folder of compiled kernels; empty: hearth/native in the user's cache folder.
    std::string cache_folder = {};
    /// Cooked kernels (`hearth cook --kernels`), which need no compiler; each outlives the device.
    std::vector<const hearth_cpu_kernel_table*> tables = {};
    /// Called with "compiling 31 kernels", which takes seconds, and "compiled 31 kernels in 4.2 s",
    /// or with "no C compiler 'cc': interpreting 31 kernels, ...".  Kernels from the cache are not
    /// reported.
    std::function<void(std::string_view message)> progress = print_progress;
};

/// A context for this machine's CPU, with a command buffer.  Move-only; destroy it after everything
/// that was created from its context.  One thread at a time.
class Device {
  public:
    Device(Device&& other) noexcept;
    Device& operator=(Device&& other) noexcept;
    ~Device();

    Context& context() { return context_; }
    /// True if kernels that were loaded so far are interpreted for lack of a C compiler.
    bool interprets_kernels() const;
    /// Calls record(VkCommandBuffer), which returns a Status or a Result, and executes what it
    /// recorded; the work is complete on return.
    /// Errors: those of `record`, and nothing is executed then; of CpuCommandBuffer::execute().
    template <class F>
    requires(std::is_invocable_v<F&, VkCommandBuffer>) Status run(F record) {
        if (Status recorded = status_of(record(commands_.handle())); !recorded.ok()) {
            commands_.reset();
            return recorded;
        }
        return commands_.execute();
    }

  private:
    friend Result<Device> open_device(DeviceOptions options);
    Device();
    static Status status_of(Status status) { return status; }
    template <class T>
    static Status status_of(const Result<T>& result) {
        return result.status();
    }

    std::unique_ptr<native::Host> host_;  ///< outlives the context
    Context context_;
    CpuCommandBuffer commands_;
};

/// Opens this machine's CPU as a device.
/// Errors: kUnsupported if this machine cannot run `isa` or one of the tables.  Without a C compiler,
/// kernels that another process compiled are an error of what loads them: Session::create_pipelines.
Result<Device> open_device(DeviceOptions options = {});

/// An executor (executor.hpp) on this machine's CPU, which compiles the graphs that it loads.
/// Errors: as open_device().
Result<std::unique_ptr<Executor>> make_executor(DeviceOptions options = {});

}  // namespace hearth::cpu
