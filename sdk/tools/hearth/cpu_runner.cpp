// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/compile.hpp"
#include "compile/graph_file.hpp"
#include "cpu/interpreter.hpp"
#include "cpu/run_program.hpp"
#include "model.hpp"
#include "runner.hpp"
#include "tables.hpp"

namespace hearth::tool {

namespace {

/// What products of the package's programs read, as `hearth cook` noted.
Precision precision_of(const PackageView& view) {
    const Json notes = Json::parse(view.notes(), nullptr, /*allow_exceptions=*/false);
    const bool is_f16 = notes.is_object() && notes.value("precision", Json()) == "f16";
    return is_f16 ? Precision::kF16 : Precision::kF32;
}

class CpuRunner final : public Runner {
  public:
    std::string_view name() const override { return "cpu"; }
    Result<NamedTensors> run_graph(const Graph& graph, const NamedTensors& inputs,
                                   int64_t rows) override {
        NamedTensors weights;
        return interpret(graph, inputs, weights, rows);
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t rows,
                                     const char*) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        return run_graph(graphs[index], inputs, rows);
    }
    Status check(const Status&) const override { return {}; }
    Status check(const NamedTensors&) const override { return {}; }
};

class ProgramRunner final : public Runner {
  public:
    std::string_view name() const override { return "program"; }
    Result<NamedTensors> run_graph(const Graph& graph, const NamedTensors& inputs,
                                   int64_t rows) override {
        CompileOptions options;
        options.rows_capacity = static_cast<uint64_t>(rows);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs({graph}, options));
        ProgramMemory memory(compiled.program);
        return run_program(compiled.program, graph.name, compiled.graphs[0], inputs, memory, rows);
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t rows,
                                     const char* profile) override {
        HEARTH_ASSIGN(const PackageView view, open_package(package));
        const int chosen = profile == nullptr ? 0 : view.find_profile(profile);
        if (chosen < 0) return not_found("no profile is named '" + std::string(profile) + "'");
        HEARTH_ASSIGN(const Program program,
                      load_program(view.program(static_cast<uint32_t>(chosen)), view.weights()));
        // Its debug tables speak of the graphs as compiled, so they are made again.
        HEARTH_ASSIGN(const std::vector<Graph> graphs, load_graphs(view.graph(), view.weights()));
        HEARTH_ASSIGN(const size_t index, find_entry(graphs, entry));
        CompileOptions options;
        options.rows_capacity = program.rows_capacity;
        options.precision = precision_of(view);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(graphs, options));
        ProgramMemory memory(program);
        return run_program(program, entry, compiled.graphs[index], inputs, memory, rows);
    }
    Status check(const Status& fits_device) const override { return fits_device; }
    Status check(const NamedTensors&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Runner> make_program_runner() {
    return std::make_unique<ProgramRunner>();
}

std::unique_ptr<Runner> make_cpu_runner() {
    return std::make_unique<CpuRunner>();
}

}  // namespace hearth::tool
