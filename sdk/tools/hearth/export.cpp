// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth export: writes an entry of a package, or an ONNX file as Hearth imports it, as an ONNX
// file, with trained weights on request.

#include "commands.hpp"
#include "model.hpp"
#include "tables.hpp"

#include <hearth/file.hpp>

#include <onnx_export/export_model.hpp>

namespace hearth::tool {

namespace {

struct ExportOptions {
    ModelOptions model;
    std::string output;
    std::string weights;
    bool json = false;
};

Status export_model(const ExportOptions& options) {
    HEARTH_TRY(check_writable(options.output));
    ModelOptions as_they_are = options.model;
    as_they_are.keeps_weights = true;
    HEARTH_ASSIGN(const Model model, load_model(as_they_are));
    HEARTH_ASSIGN(const size_t entry, find_entry(model.graphs, options.model.entry));
    const Graph& graph = model.graphs[entry];
    std::vector<std::byte> weights;
    if (!options.weights.empty()) {
        HEARTH_ASSIGN(weights, read_whole_file(options.weights));
    }
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  export_with_weights(graph, weights, model.package));
    HEARTH_TRY(write_file_atomically(options.output, bytes));
    if (options.json)
        print_json({{"entry", graph.name}, {"bytes", bytes.size()}, {"output", options.output}});
    else
        print("{}: entry {}, {} bytes\n", options.output, graph.name, bytes.size());
    return {};
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = app.add_subcommand(
        "export", "Write an entry of a package, or an ONNX file as Hearth reads it, as ONNX.");
    add_model_options(*command, options->model);
    command->add_option("-o,--output", options->output, "The ONNX file to write.")->required();
    command->add_option("--weights", options->weights,
                        "Trained weights: a .brain file of the package, or a .safetensors, .pt or "
                        ".pth file with the params' names.");
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        if (Status status = export_model(*options); !status.ok()) {
            print_error("export", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
