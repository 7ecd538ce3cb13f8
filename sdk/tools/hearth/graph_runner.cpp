// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A runner for executors of graphs; of a package it runs the graphs inside.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/graph_file.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "model.hpp"
#include "runner.hpp"

#include <utility>

namespace hearth::tool {

namespace {

/// Runs graphs with an executor; of a package it runs the graphs inside.
class GraphRunner final : public Runner {
  public:
    explicit GraphRunner(std::unique_ptr<Executor> executor) : executor_(std::move(executor)) {}

    Executor& executor() override { return *executor_; }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const PackageOptions&) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        HEARTH_ASSIGN(std::vector<Graph> graphs, load_graphs(view));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        return run_graph(std::move(graphs[index]), inputs, batch_size);
    }

  private:
    std::unique_ptr<Executor> executor_;
};

class ProgramRunner final : public Runner {
  public:
    explicit ProgramRunner(const CompileOptions& options)
        : executor_(make_program_executor(options)) {}
    Executor& executor() override { return *executor_; }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const PackageOptions& options) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        const char* const target = options.device_target;
        const int chosen = target == nullptr ? 0 : view.find_device_target(target);
        if (chosen < 0)
            return not_found("the package has no device target '" + std::string(target) +
                             "'; `hearth inspect` lists those it has");
        HEARTH_ASSIGN(const Program program, load_program(view, static_cast<uint32_t>(chosen)));
        // The debug tables refer to the compiled graphs, so these are compiled again.
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        CompileOptions compiled_with;
        compiled_with.max_batch_size = program.max_batch_size;
        compiled_with.precision = precision_of(view);
        compiled_with.assume_int32 = compiled_with.assume_float32 =
            true;  // the program's own storage counts
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(graphs, compiled_with));
        ProgramMemory memory(program);
        return run_program(program, entry, compiled.graphs[index], inputs, memory, batch_size);
    }

  private:
    std::unique_ptr<Executor> executor_;
};

}  // namespace

std::unique_ptr<Runner> make_graph_runner(std::unique_ptr<Executor> executor) {
    return std::make_unique<GraphRunner>(std::move(executor));
}

std::unique_ptr<Runner> make_program_runner(const CompileOptions& options) {
    return std::make_unique<ProgramRunner>(options);
}

}  // namespace hearth::tool
