// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth diff: compares two models on the same inputs, or the dumps of two runs.

#include "commands.hpp"
#include "compare.hpp"
#include "dump_file.hpp"
#include "model.hpp"
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace hearth::tool {

namespace {

struct DiffOptions {
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    ModelOptions first;
    std::string second;
    InputOptions inputs;
    std::string device = "reference";
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
        if (std::isnan(apart)) continue;  // both infinite or NaN: first_difference reports it
        d.most = std::max(d.most, apart);
        if (apart > 0)
            d.most_relative = std::max(d.most_relative, apart / std::max(std::abs(x), std::abs(y)));
        squares += apart * apart;
    }
    if (a.element_count() > 0)
        d.root_mean_square = std::sqrt(squares / static_cast<double>(a.element_count()));
    return d;
}

/// Outputs of both models, in order.
struct Ran {
    std::vector<std::pair<std::string, HostTensor>> outputs;
};

Result<Ran> run_one(const Model& model, size_t entry, const NamedTensors& inputs,
                    int64_t batch_size, const std::string& device, const CompileOptions& assume) {
    const Runners runners = make_runners(device, -1, assume);
    if (runners.list.empty()) return runners.missing.with_context("no device");
    HEARTH_ASSIGN(NamedTensors found,
                  run_model(*runners.list[0], model, entry, inputs, batch_size));
    Ran ran;
    for (const GraphOutput& output : model.graphs[entry].outputs)
        ran.outputs.emplace_back(output.name, std::move(found[output.name]));
    return ran;
}

/// The first model's inputs under the second model's names, matched by position.
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

/// Compares two models; returns true if they agree.
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
    HEARTH_ASSIGN(const Ran ran_a, run_one(a, entry_a, inputs.tensors, inputs.batch_size,
                                           options.device, options.assume));
    const std::string& device_b =
        options.second_device.empty() ? options.device : options.second_device;
    HEARTH_ASSIGN(const Ran ran_b,
                  run_one(b, entry_b, inputs_b, inputs.batch_size, device_b, options.assume));
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
            print("{}: {}{}{}\n", name,
                  x == y ? "equal bits"
                  : line.contains("max_abs")
                      ? fmt::format("max |a-b| {:.3g}, relative {:.3g}, rms {:.3g}",
                                    line["max_abs"].get<double>(), line["max_rel"].get<double>(),
                                    line["rms"].get<double>())
                      : "not comparable",
                  difference ? "; " : "", difference.value_or(""));
        list.push_back(std::move(line));
    }
    if (options.json)
        print_json({{"agree", agree}, {"batch_size", inputs.batch_size}, {"outputs", list}});
    return agree;
}

bool are_dumps(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) || path.ends_with(".safetensors");
}

/// Differences between two dumps of one execution; inputs and weights before results.
Json differences(const Dump& a, const Dump& b, Tolerance tolerance) {
    Json list = Json::array();
    const auto add = [&](const std::string& what, std::string text) {
        list.push_back({{"what", what}, {"difference", std::move(text)}});
    };
    for (const char* key : {"graph", "entry", "batch_size"})
        if (a.text(key) != b.text(key))
            add(key,
                fmt::format("'{}' in the first, '{}' in the second", a.text(key), b.text(key)));
    if (!list.empty()) return list;
    for (const char* group : {"input/", "variable/", "command/", "output/", "variable_after/"}) {
        const NamedTensors first = a.group(group), second = b.group(group);
        for (const auto& [name, tensor] : second)
            if (!first.contains(name)) add(group + name, "only in the second");
        for (const auto& [name, tensor] : first) {
            const auto other = second.find(name);
            if (other == second.end())
                add(group + name, "only in the first");
            else if (const auto difference = first_difference(other->second, tensor, tolerance))
                add(group + name, *difference);
        }
    }
    return list;
}

/// Compares the dumps of two runs pairwise, in order; returns true if they agree.
Result<bool> diff_dumps(const DiffOptions& options) {
    const std::string& path = options.first.path;
    HEARTH_ASSIGN(const std::vector<std::filesystem::path> first, dump_files(path));
    HEARTH_ASSIGN(const std::vector<std::filesystem::path> second, dump_files(options.second));
    bool agree = first.size() == second.size();
    Json list = Json::array();
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
        HEARTH_ASSIGN(const Dump a, read_dump_file(first[i].string()));
        HEARTH_ASSIGN(const Dump b, read_dump_file(second[i].string()));
        const Json found = differences(a, b, options.tolerance);
        agree = agree && found.empty();
        if (!options.json) {
            print("{}: {}, batch size {}{}\n", first[i].filename().string(), a.text("entry"),
                  a.text("batch_size"), found.empty() ? ": agree" : "");
            for (const Json& line : found)
                print("  {}: {}\n", line["what"].get<std::string>(),
                      line["difference"].get<std::string>());
        }
        list.push_back({{"first", first[i].filename().string()},
                        {"second", second[i].filename().string()},
                        {"differences", found}});
    }
    if (options.json)
        print_json({{"agree", agree},
                    {"first_count", first.size()},
                    {"second_count", second.size()},
                    {"dumps", list}});
    else if (first.size() != second.size())
        print("{} dumps in the first, {} in the second\n", first.size(), second.size());
    return agree;
}

/// Compares dumps with dumps, or models with models.
Result<bool> diff_either(const DiffOptions& options) {
    const bool first = are_dumps(options.first.path), second = are_dumps(options.second);
    if (first != second)
        return invalid_argument(
            fmt::format("'{}' is a dump and '{}' is a model; expected two models or two dumps",
                        first ? options.first.path : options.second,
                        first ? options.second : options.first.path));
    return first ? diff_dumps(options) : diff(options);
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App* command = app.add_subcommand("diff",
                                           "Run two models on the same inputs and compare their "
                                           "outputs, by position; or compare the dumps of "
                                           "two runs, files or folders, one after the other.");
    add_model_options(*command, options->first);
    add_assume_options(*command, options->assume);
    add_trust_option(*command, options->first);
    command->add_option("SECOND", options->second, "The other model, or the other run's dumps.")
        ->required();
    add_input_options(*command, options->inputs);
    command
        ->add_option("--device", options->device,
                     "reference (the interpreter); gpu; cpu (compiled kernels); program; or "
                     "another library.")
        ->check(known_device())
        ->capture_default_str();
    command->add_option("--second-device", options->second_device, "Default: the same.")
        ->check(known_device());
    add_tolerance_options(*command, options->tolerance);
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->footer("Exit code 0 if everything agrees, 1 if not or on errors.");
    command->callback([options, &exit_code] {
        const Result<bool> agree = diff_either(*options);
        if (!agree.ok()) print_error("diff", agree.status(), options->json);
        exit_code = agree.ok() && *agree ? kExitOk : kExitFailed;
    });
}

}  // namespace hearth::tool
