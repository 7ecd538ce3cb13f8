// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/compile.hpp"
#include "cpu/interpreter.hpp"
#include "cpu/run_program.hpp"
#include "runner.hpp"

namespace hearth::tool {

namespace {

class CpuRunner final : public Runner {
  public:
    std::string_view name() const override { return "cpu"; }
    Result<NamedTensors> run_trace(Trace& trace, const NamedTensors& inputs,
                                   int64_t rows) override {
        HEARTH_ASSIGN(const Graph graph, trace.finish());
        NamedTensors weights;
        return interpret(graph, inputs, weights, rows);
    }

  protected:
    Status check(const ImportedModel&, std::span<const HostTensor>) const override { return {}; }
};

class ProgramRunner final : public Runner {
  public:
    std::string_view name() const override { return "program"; }
    Result<NamedTensors> run_trace(Trace& trace, const NamedTensors& inputs,
                                   int64_t rows) override {
        HEARTH_ASSIGN(Graph graph, trace.finish());
        const std::string entry = graph.name;
        CompileOptions options;
        options.rows_capacity = static_cast<uint64_t>(rows);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs({std::move(graph)}, options));
        ProgramMemory memory(compiled.program);
        return run_program(compiled.program, entry, compiled.graphs[0], inputs, memory, rows);
    }

  protected:
    Status check(const ImportedModel& model, std::span<const HostTensor>) const override {
        return model.fits_device();
    }
};

}  // namespace

std::unique_ptr<Runner> make_program_runner() {
    return std::make_unique<ProgramRunner>();
}

std::unique_ptr<Runner> make_cpu_runner() {
    return std::make_unique<CpuRunner>();
}

}  // namespace hearth::tool
