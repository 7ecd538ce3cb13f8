// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs imported models through a runner, and selects runners by --device.

#include "runner.hpp"

#include <fmt/format.h>

namespace hearth::tool {

namespace {

/// Traces the model with inputs "input_0", ... and outputs "output_0", ... instead of the file's
/// names, so that an output may have an input's name.
std::unique_ptr<Trace> trace_of(const ImportedModel& model) {
    auto trace = std::make_unique<Trace>("main");
    std::vector<Tensor> inputs;
    for (const TensorSpec& port : model.inputs())
        inputs.push_back(
            trace->input(fmt::format("input_{}", inputs.size()), port.shape, port.dtype));
    const std::vector<Tensor> outputs = model.call(*trace, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
        trace->output(fmt::format("output_{}", i), outputs[i]);
    return trace;
}

}  // namespace

Result<std::vector<HostTensor>> Runner::run(const ImportedModel& model,
                                            std::span<const HostTensor> inputs,
                                            int64_t batch_size) {
    NamedTensors named;
    for (size_t i = 0; i < inputs.size(); ++i) named.emplace(fmt::format("input_{}", i), inputs[i]);
    HEARTH_ASSIGN(NamedTensors found, run_trace(*trace_of(model), named, batch_size));
    std::vector<HostTensor> outputs;
    for (size_t i = 0; i < model.outputs().size(); ++i) {
        const auto at = found.find(fmt::format("output_{}", i));
        if (at == found.end())
            return internal_error(fmt::format("the program has no output_{}", i));
        outputs.push_back(std::move(at->second));
    }
    return outputs;
}

Result<NamedTensors> Runner::run_trace(Trace& trace, const NamedTensors& inputs,
                                       int64_t batch_size) {
    HEARTH_ASSIGN(Graph graph, trace.build());
    return run_graph(std::move(graph), inputs, batch_size);
}

Result<NamedTensors> Runner::run_graph(Graph graph, const NamedTensors& inputs,
                                       int64_t batch_size) {
    const std::string name = graph.name;
    std::vector<Graph> entries;
    entries.push_back(std::move(graph));
    HEARTH_TRY(executor().load(std::move(entries), batch_size));
    return executor().run(name, inputs, batch_size);
}

Status Runner::keep_dump(uint32_t, std::vector<std::byte>*) {
    return unsupported("a dump records a run on a device, and --device is " + std::string(name()) +
                       "; use --device gpu or --device cpu");
}

Runners make_runners(std::string_view device, int device_index, const CompileOptions& options,
                     bool cooked) {
    Runners runners;
    const auto add = [&](Result<std::unique_ptr<Runner>> runner) {
        if (!runner.ok())
            runners.missing = runner.status();
        else
            runners.list.push_back(cooked ? make_cooked_runner(std::move(*runner))
                                          : std::move(*runner));
    };
    if (device == "reference" || device == "both")
        add(make_graph_runner(make_reference_executor()));
    if (device == "gpu" || device == "both") add(make_gpu_runner(device_index, options));
    if (device == "program") add(make_program_runner(options));
    if (device == "cpu") add(make_cpu_runner(options));
    if (std::unique_ptr<Executor> executor = make_registered_executor(device))
        add(make_graph_runner(std::move(executor)));
    return runners;
}

CLI::Validator known_device(bool may_be_both) {
    std::vector<std::string> names{"reference", "gpu", "cpu", "program"};
    if (may_be_both) names.push_back("both");
    for (const std::string_view name : registered_executors()) names.emplace_back(name);
    return CLI::IsMember(std::move(names));
}

}  // namespace hearth::tool
