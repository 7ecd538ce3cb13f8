// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runners: execute models on concrete data with an executor (hearth/executor.hpp), and packages on
// the same device.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>
#include <hearth/executor.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/io.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// The program of a package that runs.
struct PackageOptions {
    const char* device_target = nullptr;  ///< null: the best for the device
    /// Lets a CPU device compile the C text in the package, which is code of whoever made it;
    /// otherwise it compiles the package's graph.
    bool trusts_kernels = false;
};

class Runner {
  public:
    virtual ~Runner() = default;
    std::string_view name() { return executor().name(); }
    /// The executor that runs graphs.
    virtual Executor& executor() = 0;
    /// inputs: in the model's order, with its types and its shapes at this batch size.  Returns
    /// its outputs.  Errors: kUnsupported for what this device cannot do; all others are failures.
    Result<std::vector<HostTensor>> run(const ImportedModel& model,
                                        std::span<const HostTensor> inputs, int64_t batch_size);
    /// Runs the trace's graph once; inputs and outputs by name.
    Result<NamedTensors> run_trace(Trace& trace, const NamedTensors& inputs, int64_t batch_size);
    /// Frees the graph's weights, unless others share them, before it runs where it can.
    virtual Result<NamedTensors> run_graph(Graph graph, const NamedTensors& inputs,
                                           int64_t batch_size);
    virtual Result<NamedTensors> run_package(std::span<const std::byte> package,
                                             const std::string& entry, const NamedTensors& inputs,
                                             int64_t batch_size, const PackageOptions& options) = 0;
    /// Stores a dump ("Dumps" in hearth.h) of each following run in `bytes`.
    /// command  a command of the entry whose results are included, or HEARTH_NO_COMMAND.
    virtual Status keep_dump(uint32_t command, std::vector<std::byte>* bytes);
    /// Options that run_graph compiles with.
    virtual CompileOptions compile_options() const { return {}; }
};

/// An executor of graphs: the reference interpreter, or another library.
std::unique_ptr<Runner> make_graph_runner(std::unique_ptr<Executor> executor);

/// Compiles each model and runs the planned Program on the CPU, at its real arena offsets.
std::unique_ptr<Runner> make_program_runner(const CompileOptions& options);

/// Compiles each model and runs it on one GPU of the machine (hearth info lists them; negative: the
/// default).  Never falls back to the CPU.  Errors: kNotFound and others if there is no device that
/// Hearth can use.
Result<std::unique_ptr<Runner>> make_gpu_runner(int device_index, const CompileOptions& options);

/// Compiles each model to C, builds it with the system's compiler and runs it on this machine's
/// CPU.
Result<std::unique_ptr<Runner>> make_cpu_runner(const CompileOptions& options);

/// Runs each graph with `inner`, then cooks it to a package for the same device and runs that: the
/// results must be bitwise equal.  Errors: kInternal naming the first output that differs.
std::unique_ptr<Runner> make_cooked_runner(std::unique_ptr<Runner> inner);

/// The runners selected by --device: reference, gpu, both (reference and gpu), cpu, program, or a
/// registered executor.  options: all but the device and the batch size.
struct Runners {
    std::vector<std::unique_ptr<Runner>> list;
    Status missing;  ///< reason why a requested device is not available
};
Runners make_runners(std::string_view device, int device_index, const CompileOptions& options,
                     bool cooked = false);

/// Validates --device; its message lists the available devices.
CLI::Validator known_device(bool may_be_both = false);

}  // namespace hearth::tool
