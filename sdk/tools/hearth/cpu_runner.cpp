// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/compile.hpp"
#include "cpu/interpreter.hpp"
#include "cpu/run_program.hpp"
#include "runner.hpp"

#include <fmt/format.h>

namespace hearth::tool {

namespace {

class CpuRunner final : public Runner {
  public:
    std::string_view name() const override { return "cpu"; }
    Result<std::vector<HostTensor>> run(const ImportedModel& model,
                                        std::span<const HostTensor> inputs, int64_t rows) override {
        return evaluate(model.graph(), inputs, rows);
    }
};

class ProgramRunner final : public Runner {
  public:
    std::string_view name() const override { return "program"; }
    Result<std::vector<HostTensor>> run(const ImportedModel& model,
                                        std::span<const HostTensor> inputs, int64_t rows) override {
        HEARTH_TRY(model.fits_device());
        HEARTH_ASSIGN(Graph graph, trace_of(model, "main")->finish());
        CompileOptions options;
        options.rows_capacity = static_cast<uint64_t>(rows);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs({std::move(graph)}, options));
        ProgramMemory memory(compiled.program);
        HEARTH_ASSIGN(NamedTensors found, run_program(compiled.program, "main", compiled.graphs[0],
                                                      named_inputs(inputs), memory, rows));
        return take_outputs(model, found);
    }
};

}  // namespace

NamedTensors named_inputs(std::span<const HostTensor> inputs) {
    NamedTensors named;
    for (size_t i = 0; i < inputs.size(); ++i) named.emplace(fmt::format("input_{}", i), inputs[i]);
    return named;
}

Result<std::vector<HostTensor>> take_outputs(const ImportedModel& model, NamedTensors& found) {
    std::vector<HostTensor> outputs;
    for (size_t i = 0; i < model.outputs().size(); ++i) {
        const auto at = found.find(fmt::format("output_{}", i));
        if (at == found.end())
            return internal_error(fmt::format("the program has no output_{}", i));
        outputs.push_back(std::move(at->second));
    }
    return outputs;
}

std::unique_ptr<Runner> make_program_runner() {
    return std::make_unique<ProgramRunner>();
}

std::unique_ptr<Runner> make_cpu_runner() {
    return std::make_unique<CpuRunner>();
}

}  // namespace hearth::tool
