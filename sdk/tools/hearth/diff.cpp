// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth diff: two models on the same inputs.

#include "commands.hpp"
#include "compare.hpp"
#include "model.hpp"
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth::tool {

namespace {

struct DiffOptions {
    ModelOptions first;
    std::string second;
    InputOptions inputs;
    std::string device = "cpu";
    std::string second_device;
    Tolerance tolerance;
    bool json = false;
};

struct Distance {
    double most = 0;           ///< |a - b|
    double most_relative = 0;  ///< |a - b| / max(|a|, |b|)
    double root_mean_square = 0;
};

Distance distance(const HostTensor& a, const HostTensor& b) {
    Distance d;
    double squares = 0;
    for (int64_t i = 0; i < a.element_count(); ++i) {
        const double x = a.get(i), y = b.get(i), apart = std::abs(x - y);
        if (std::isnan(apart)) continue;  // both infinite or NaN: first_difference tells
        d.most = std::max(d.most, apart);
        if (apart > 0)
            d.most_relative = std::max(d.most_relative, apart / std::max(std::abs(x), std::abs(y)));
        squares += apart * apart;
    }
    if (a.element_count() > 0)
        d.root_mean_square = std::sqrt(squares / static_cast<double>(a.element_count()));
    return d;
}

/// Both models' outputs, in order.
struct Ran {
    std::vector<std::pair<std::string, HostTensor>> outputs;
};

Result<Ran> run_one(const Model& model, size_t entry, const NamedTensors& inputs, int64_t rows,
                    const std::string& device) {
    const Runners runners = make_runners(device, -1);
    if (runners.list.empty()) return runners.no_gpu.in("no device");
    HEARTH_ASSIGN(NamedTensors found, run_model(*runners.list[0], model, entry, inputs, rows));
    Ran ran;
    for (const GraphOutput& output : model.graphs[entry].outputs)
        ran.outputs.emplace_back(output.name, std::move(found[output.name]));
    return ran;
}

/// The first model's inputs under the second one's names, which may differ: by position.
Result<NamedTensors> renamed(const Graph& from, const Graph& to, const NamedTensors& inputs) {
    if (from.inputs.size() != to.inputs.size())
        return invalid_argument(fmt::format("the first model takes {} inputs, the second {}",
                                            from.inputs.size(), to.inputs.size()));
    NamedTensors out;
    for (size_t i = 0; i < from.inputs.size(); ++i) {
        const Value &a = from.value(from.inputs[i]), &b = to.value(to.inputs[i]);
        const HostTensor& tensor = inputs.at(a.name);
        if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank())
            return invalid_argument(
                fmt::format("input {} is '{}' {}{} in the first model and '{}' {}{} in the second",
                            i, a.name, name_of(a.dtype), to_string(a.shape), b.name,
                            name_of(b.dtype), to_string(b.shape)));
        out[b.name] = tensor;
    }
    return out;
}

/// Whether they agree.
Result<bool> diff(const DiffOptions& options) {
    ModelOptions second_options = options.first;
    second_options.path = options.second;
    HEARTH_ASSIGN(const Model a, load_model(options.first));
    HEARTH_ASSIGN(const Model b, load_model(second_options));
    HEARTH_ASSIGN(const size_t entry_a, find_entry(a.graphs, options.first.entry));
    HEARTH_ASSIGN(const size_t entry_b, find_entry(b.graphs, options.first.entry));
    HEARTH_ASSIGN(const Inputs inputs, make_inputs(a.graphs[entry_a], options.inputs));
    HEARTH_ASSIGN(const NamedTensors inputs_b,
                  renamed(a.graphs[entry_a], b.graphs[entry_b], inputs.tensors));
    HEARTH_ASSIGN(const Ran ran_a,
                  run_one(a, entry_a, inputs.tensors, inputs.rows, options.device));
    const std::string& device_b =
        options.second_device.empty() ? options.device : options.second_device;
    HEARTH_ASSIGN(const Ran ran_b, run_one(b, entry_b, inputs_b, inputs.rows, device_b));
    if (ran_a.outputs.size() != ran_b.outputs.size())
        return invalid_argument(fmt::format("the first model has {} outputs, the second {}",
                                            ran_a.outputs.size(), ran_b.outputs.size()));
    bool agree = true;
    Json list = Json::array();
    for (size_t i = 0; i < ran_a.outputs.size(); ++i) {
        const auto& [name, x] = ran_a.outputs[i];
        const auto& [name_b, y] = ran_b.outputs[i];
        const auto difference = first_difference(y, x, options.tolerance);
        agree = agree && !difference;
        Json line = {{"output", name}, {"equal_bits", x == y}, {"agree", !difference}};
        if (name_b != name) line["second_name"] = name_b;
        if (x.shape() == y.shape()) {
            const Distance d = distance(x, y);
            line.update(
                {{"max_abs", d.most}, {"max_rel", d.most_relative}, {"rms", d.root_mean_square}});
        }
        if (difference) line["difference"] = *difference;
        if (!options.json)
            fmt::print("{}: {}{}{}\n", name,
                       x == y ? "equal bits"
                       : line.contains("max_abs")
                           ? fmt::format("max |a-b| {:.3g}, relative {:.3g}, rms {:.3g}",
                                         line["max_abs"].get<double>(),
                                         line["max_rel"].get<double>(), line["rms"].get<double>())
                           : "not comparable",
                       difference ? "; " : "", difference.value_or(""));
        list.push_back(std::move(line));
    }
    if (options.json) print_json({{"agree", agree}, {"rows", inputs.rows}, {"outputs", list}});
    return agree;
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App* command = app.add_subcommand(
        "diff", "Run two models on the same inputs and compare their outputs, by position.");
    add_model_options(*command, options->first);
    command->add_option("SECOND", options->second, "The other model.")->required();
    add_input_options(*command, options->inputs);
    command->add_option("--device", options->device, "cpu (the reference), gpu or program.")
        ->check(CLI::IsMember({"gpu", "cpu", "program", "native"}))
        ->capture_default_str();
    command->add_option("--second-device", options->second_device, "Default: the same.")
        ->check(CLI::IsMember({"gpu", "cpu", "program", "native"}));
    add_tolerance_options(*command, options->tolerance);
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->footer("Exit code 0 if all outputs agree, 1 if not or if something went wrong.");
    command->callback([options, &exit_code] {
        const Result<bool> agree = diff(*options);
        if (!agree.ok()) print_error("diff", agree.status(), options->json);
        exit_code = agree.ok() && *agree ? kExitOk : kExitFailed;
    });
}

}  // namespace hearth::tool
