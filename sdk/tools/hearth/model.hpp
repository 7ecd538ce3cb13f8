// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Models as the tool's commands take them: ONNX files and packages.

#pragma once

#include "ir/graph.hpp"
#include "program/package.hpp"
#include "runner.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hearth::tool {

/// What a model is asked to be: options that several commands share.
struct ModelOptions {
    std::string path;
    std::vector<std::string> shapes;  ///< "x=1,3,96,96"; an extent may be the word rows
    std::string entry;                ///< of a package; empty: the only one, or "main"
};
void add_model_options(CLI::App& command, ModelOptions& options);

struct Model {
    std::vector<Graph> graphs;       ///< one for each entry
    std::vector<std::byte> package;  ///< empty for an ONNX file
    Status fits_device;

    bool is_package() const { return !package.empty(); }
};

/// Reads the file, whatever it is by its contents.
Result<Model> load_model(const ModelOptions& options);

/// "x=1,3,96,96" as a shape; an extent may be the word rows.
Result<NamedShape> parse_shape(const std::string& text);

/// The view of a package whose bytes are aligned, as a vector's are.
Result<PackageView> open_package(std::span<const std::byte> bytes);

/// The entry of this name; with an empty name the only one, or "main".
/// Errors: kNotFound listing what there is.
Result<size_t> find_entry(std::span<const Graph> graphs, const std::string& name);

/// Runs an entry: a package's program, or the graph compiled here.
Result<NamedTensors> run_model(Runner& runner, const Model& model, size_t entry,
                               const NamedTensors& inputs, int64_t rows,
                               const char* profile = nullptr);

/// Tensors for a graph's inputs.
struct InputOptions {
    /// "NAME=FILE" (.npy, .pb), "NAME=random", "NAME=zeros", "NAME=ones"; inputs that are not named
    /// are random.
    std::vector<std::string> inputs;
    uint64_t seed = 1;
    int64_t rows = 1;  ///< for inputs that no file says anything about
};
void add_input_options(CLI::App& command, InputOptions& options);

struct Inputs {
    NamedTensors tensors;
    int64_t rows = 1;
};
Result<Inputs> make_inputs(const Graph& graph, const InputOptions& options);

}  // namespace hearth::tool
