// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs graphs and packages on a GPU, or on this machine's CPU as a device.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/graph_file.hpp"
#include "model.hpp"
#include "native/device_executor.hpp"
#include "native/open_device.hpp"
#include "runner.hpp"

#include <fmt/format.h>
#include <standalone/program_runner.hpp>

#include <limits>

namespace hearth::tool {

namespace {

/// Runs on a GPU, or on this machine's CPU as a device.
class DeviceRunner final : public Runner {
  public:
    static Result<std::unique_ptr<Runner>> create(const std::string& wish,
                                                  const CompileOptions& options) {
        auto runner = std::make_unique<DeviceRunner>();
        runner->options_ = options;
        // -O1: most of these kernels run only once, so compile time matters.
        HEARTH_ASSIGN(runner->opened_, native::open_device(wish, {.build = {.flags = "-O1"}}));
        HEARTH_ASSIGN(runner->options_.caps, runner->device().caps());
        HEARTH_ASSIGN(runner->executor_,
                      native::make_device_executor(
                          runner->device(), runner->is_cpu() ? "cpu" : "gpu", runner->options_));
        return std::unique_ptr<Runner>(std::move(runner));
    }

    Executor& executor() override { return *executor_; }

    Result<NamedTensors> run_graph(Graph graph, const NamedTensors& inputs,
                                   int64_t batch_size) override {
        return compile_and_run(std::move(graph), inputs, batch_size, compile_options());
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const PackageOptions& options) override {
        if (is_cpu() && !options.trusts_kernels) {
            if (options.device_target != nullptr)
                return invalid_argument(
                    "--device-target chooses among the package's programs, whose C text a CPU "
                    "compiles and runs only with --trust");
            HEARTH_ASSIGN(const PackageView view, open_package(package));
            HEARTH_ASSIGN(std::vector<Graph> graphs, load_graphs(view));
            HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
            Graph graph = std::move(graphs[index]);
            graphs.clear();
            CompileOptions compiled_with = compile_options();
            compiled_with.precision = precision_of(view);
            return compile_and_run(std::move(graph), inputs, batch_size, std::move(compiled_with));
        }
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> program,
                      standalone::ProgramRunner::create_from_package(device(), package,
                                                                     options.device_target));
        return run(*program, entry, inputs, batch_size);
    }
    Status keep_dump(uint32_t command, std::vector<std::byte>* bytes) override {
        dump_command_ = command;
        dump_ = bytes;
        return {};
    }
    CompileOptions compile_options() const override { return options_; }

  private:
    standalone::Device& device() const { return *opened_.device; }
    bool is_cpu() const { return opened_.host != nullptr; }

    Result<NamedTensors> compile_and_run(Graph graph, const NamedTensors& inputs,
                                         int64_t batch_size, CompileOptions options) {
        options.max_batch_size = static_cast<uint64_t>(batch_size);
        const std::string entry = graph.name;
        HEARTH_ASSIGN(std::vector<std::byte> bytes, compile_to_bytes(std::move(graph), options));
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> program,
                      standalone::ProgramRunner::create(device(), std::move(bytes)));
        return run(*program, entry, inputs, batch_size);
    }

    static Result<std::vector<std::byte>> compile_to_bytes(Graph graph,
                                                           const CompileOptions& options) {
        std::vector<Graph> entries;
        entries.push_back(std::move(graph));
        HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs(std::move(entries), options));
        compiled.graphs.clear();  // their weights are in the program
        return save_program(compiled.program);
    }

    Result<NamedTensors> run(standalone::ProgramRunner& program, const std::string& entry,
                             const NamedTensors& inputs, int64_t batch_size) {
        if (dump_ != nullptr) {
            HEARTH_ASSIGN(*dump_, program.dump(entry.c_str(), batch_size, inputs, dump_command_));
        }
        return program.run(entry.c_str(), batch_size, inputs);
    }

    native::OpenDevice opened_;
    CompileOptions options_;
    std::unique_ptr<Executor> executor_;
    uint32_t dump_command_ = HEARTH_NO_COMMAND;
    std::vector<std::byte>* dump_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Runner>> make_gpu_runner(int device_index, const CompileOptions& options) {
    return DeviceRunner::create(std::to_string(device_index), options);
}

Result<std::unique_ptr<Runner>> make_cpu_runner(const CompileOptions& options) {
    return DeviceRunner::create("cpu", options);
}

}  // namespace hearth::tool
