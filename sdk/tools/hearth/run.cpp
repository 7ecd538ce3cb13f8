// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth run: runs a model on given or random inputs.

#include "commands.hpp"
#include "core/path.hpp"
#include "import/data/npy.hpp"
#include "model.hpp"
#include "tables.hpp"
#include "tensor_proto.hpp"

#include <hearth/file.hpp>
#include <hearth/hearth.h>

#include <fmt/format.h>
#include <programs/arguments.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace hearth::tool {

namespace {

struct RunOptions {
    ModelOptions model;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    InputOptions inputs;
    std::string device = "gpu";
    int device_index = -1;
    std::string device_target;
    std::string output;
    std::string format = "npy";
    std::string dump;
    uint32_t dump_command = HEARTH_NO_COMMAND;
    bool json = false;
};

Json describe(const std::string& name, const HostTensor& tensor) {
    double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
    int64_t non_finite = 0;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const double value = tensor.get(i);
        if (!std::isfinite(value)) {
            ++non_finite;
            continue;
        }
        least = std::min(least, value);
        most = std::max(most, value);
        sum += value;
    }
    const auto finite = static_cast<double>(tensor.element_count() - non_finite);
    Json json = {
        {"name", name}, {"dtype", name_of(tensor.dtype())}, {"shape", to_string(tensor.shape())}};
    if (finite > 0) json.update({{"min", least}, {"max", most}, {"mean", sum / finite}});
    json["non_finite"] = non_finite;
    return json;
}

/// Replaces characters that file systems do not allow.
std::string file_name(std::string name) {
    for (char& c : name)
        if (std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos || c < ' ') c = '_';
    return name;
}

std::string output_path(const RunOptions& options, const std::string& name) {
    return options.output + "/" + file_name(name) + "." + options.format;
}

/// Creates the output folder, and checks before the run that all outputs can be written.
Status check_outputs(const RunOptions& options, const Graph& graph) {
    if (options.output.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(path_of(options.output), error);
    if (error)
        return not_found("cannot make the folder '" + options.output + "': " + error.message());
    std::map<std::string, std::string> names;  // by path
    for (const GraphOutput& output : graph.outputs) {
        const std::string path = output_path(options, output.name);
        const auto [first, is_new] = names.emplace(path, output.name);
        if (!is_new)
            return invalid_argument("outputs '" + first->second + "' and '" + output.name +
                                    "' would both be written to '" + path + "'");
        HEARTH_TRY(check_writable(path).with_context("output '" + output.name + "'"));
    }
    return {};
}

Status write_output(const RunOptions& options, const std::string& name, const HostTensor& tensor) {
    const std::vector<std::byte> bytes =
        options.format == "npy" ? write_npy(tensor) : write_tensor_proto(name, tensor);
    return write_file_atomically(output_path(options, name), bytes)
        .with_context("output '" + name + "'");
}

Status run(const RunOptions& options) {
    ModelOptions model_options = options.model;
    model_options.fixed_batch_size = options.inputs.batch_size;
    HEARTH_ASSIGN(Model model, load_model(model_options));
    HEARTH_ASSIGN(const size_t entry, find_entry(model.graphs, options.model.entry));
    HEARTH_TRY(check_outputs(options, model.graphs[entry]));
    HEARTH_ASSIGN(const Inputs inputs, make_inputs(model.graphs[entry], options.inputs));
    const std::string entry_name = model.graphs[entry].name;
    std::vector<std::string> output_names;
    for (const GraphOutput& output : model.graphs[entry].outputs)
        output_names.push_back(output.name);
    const Runners runners = make_runners(options.device, options.device_index, options.assume);
    if (runners.list.empty()) return runners.missing.with_context("no device");
    std::vector<std::byte> dump;
    if (!options.dump.empty()) {
        HEARTH_TRY(check_writable(options.dump).with_context("--dump"));
        HEARTH_TRY(runners.list[0]->keep_dump(options.dump_command, &dump));
    }
    HEARTH_ASSIGN(
        const NamedTensors outputs,
        run_model(*runners.list[0], std::move(model), entry, inputs.tensors, inputs.batch_size,
                  options.device_target.empty() ? nullptr : options.device_target.c_str()));
    if (!options.dump.empty())
        HEARTH_TRY(write_file_atomically(options.dump, dump).with_context("--dump"));
    Json list = Json::array();
    for (const std::string& name : output_names) {
        const auto found = outputs.find(name);
        if (found == outputs.end()) return internal_error("there is no '" + name + "'");
        list.push_back(describe(name, found->second));
        if (!options.output.empty()) HEARTH_TRY(write_output(options, name, found->second));
    }
    if (options.json) {
        print_json({{"device", runners.list[0]->name()},
                    {"entry", entry_name},
                    {"batch_size", inputs.batch_size},
                    {"outputs", list}});
        return {};
    }
    for (const Json& o : list)
        print("{} {}{}  min {}  max {}  mean {}{}\n", o["name"].get<std::string>(),
              o["dtype"].get<std::string>(), o["shape"].get<std::string>(),
              o.value("min", std::nan("")), o.value("max", std::nan("")),
              o.value("mean", std::nan("")),
              o["non_finite"] != 0 ? fmt::format("  {} not finite", o["non_finite"].get<int64_t>())
                                   : "");
    return {};
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* command =
        app.add_subcommand("run", "Run a model once, on tensors from files or random ones.");
    add_model_options(*command, options->model);
    add_assume_options(*command, options->assume);
    add_trust_option(*command, options->model);
    add_input_options(*command, options->inputs);
    command->add_option("-o,--output", options->output,
                        "Folder for the outputs, one file each; default: only print statistics.");
    command->add_option("--format", options->format, "Of the outputs: npy, or pb (TensorProto).")
        ->check(CLI::IsMember({"npy", "pb"}))
        ->capture_default_str();
    command
        ->add_option("--device", options->device,
                     "gpu; cpu (compiled kernels); reference (the interpreter); program; or "
                     "another library.")
        ->check(known_device())
        ->capture_default_str();
    command
        ->add_option("--device-index", options->device_index,
                     "Which GPU of `hearth info`; default: the first discrete one.")
        ->check(programs::device_index());
    command->add_option("--device-target", options->device_target,
                        "Device target of a package; default: the first that the device can run.");
    command->add_option("--dump", options->dump,
                        "File (.safetensors) for inputs, weights, outputs and the program, which "
                        "`hearth replay` runs again.");
    command
        ->add_option(
            "--dump-command", options->dump_command,
            "Index of a command of the entry (`hearth inspect` lists them) whose results the "
            "dump also holds.")
        ->needs("--dump");
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        if (Status status = run(*options); !status.ok()) {
            print_error("run", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
