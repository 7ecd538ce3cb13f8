// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A runner for executors of graphs; of a package it runs the graphs inside.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/graph_file.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "model.hpp"
#include "runner.hpp"
#include "tables.hpp"

#include <utility>

namespace hearth::tool {

namespace {

/// Operand precision of products in the package's programs, as recorded by `hearth cook`.
Precision precision_of(const PackageView& view) {
    const Json notes = Json::parse(view.notes(), nullptr, /*allow_exceptions=*/false);
    const bool is_f16 = notes.is_object() && notes.value("precision", Json()) == "f16";
    return is_f16 ? Precision::kF16 : Precision::kF32;
}

/// Runs graphs with an executor; of a package it runs the graphs inside.
class GraphRunner final : public Runner {
  public:
    explicit GraphRunner(std::unique_ptr<Executor> executor) : executor_(std::move(executor)) {}

    Executor& executor() override { return *executor_; }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const char*) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        return run_graph(graphs[index], inputs, batch_size);
    }
    Status check(const Status&) const override { return {}; }
    Status check(const NamedTensors&) const override { return {}; }

  private:
    std::unique_ptr<Executor> executor_;
};

class ProgramRunner final : public Runner {
  public:
    Executor& executor() override { return *executor_; }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t batch_size,
                                     const char* device_target) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        const int chosen = device_target == nullptr ? 0 : view.find_device_target(device_target);
        if (chosen < 0)
            return not_found("the package has no device target '" + std::string(device_target) +
                             "'; `hearth inspect` lists those it has");
        HEARTH_ASSIGN(const Program program,
                      load_program(view.program(static_cast<uint32_t>(chosen)), view.weights()));
        // The debug tables refer to the compiled graphs, so these are compiled again.
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        CompileOptions options;
        options.max_batch_size = program.max_batch_size;
        options.precision = precision_of(view);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(graphs, options));
        ProgramMemory memory(program);
        return run_program(program, entry, compiled.graphs[index], inputs, memory, batch_size);
    }
    Status check(const Status& fits_device) const override { return fits_device; }
    Status check(const NamedTensors&) const override { return {}; }

  private:
    std::unique_ptr<Executor> executor_ = make_program_executor();
};

}  // namespace

std::unique_ptr<Runner> make_graph_runner(std::unique_ptr<Executor> executor) {
    return std::make_unique<GraphRunner>(std::move(executor));
}

std::unique_ptr<Runner> make_program_runner() {
    return std::make_unique<ProgramRunner>();
}

}  // namespace hearth::tool
