// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Models as the tool's commands take them: ONNX files and packages.

#pragma once

#include "compare.hpp"
#include "compiler/ir/graph.hpp"
#include "program/package.hpp"
#include "runner.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hearth::tool {

/// What a model is asked to be: options that several commands share.
struct ModelOptions {
    std::string path;
    /// "x=1,3,96,96"; an extent may be the word rows.  An input that is named more than once has
    /// several sizes, each of which becomes an entry.
    std::vector<std::string> shapes;
    std::vector<std::string> values;  ///< "sr=16000": contents that the model needs to know
    std::string entry;                ///< empty: the only one, or "main"
    /// Rows of a model whose number of rows cannot be left open.
    int64_t fixed_rows = 1;
};
void add_model_options(CLI::App& command, ModelOptions& options);

struct Model {
    std::vector<Graph> graphs;       ///< one for each entry
    std::vector<std::byte> package;  ///< empty for an ONNX file
    Status fits_device;
    /// What was made of the file that one might not expect.
    std::vector<std::string> notes;

    bool is_package() const { return !package.empty(); }
};

/// Reads the file, whatever it is by its contents.  An ONNX model whose rows cannot be left open is
/// read again with fixed_rows of them; its notes, also printed to stderr, say so.
Result<Model> load_model(const ModelOptions& options);

/// "x=1,3,96,96" as a shape; an extent may be the word rows.
Result<NamedShape> parse_shape(const std::string& text);

/// "sr=16000" or "shape=3,-1": an input and numbers, as f64.
Result<NamedTensor> parse_value(const std::string& text);

/// The shapes of each size of a model.  Inputs that are named once have that shape in all sizes; the
/// others must be named equally often.
Result<std::vector<std::vector<NamedShape>>> parse_sizes(const std::vector<std::string>& texts);

/// "1x3x160x160": what tells a size from the others.
std::string size_name(const std::vector<NamedShape>& size);

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
/// --rtol and --atol, with the tolerance as it is as their defaults.
void add_tolerance_options(CLI::App& command, Tolerance& tolerance);

struct Inputs {
    NamedTensors tensors;
    int64_t rows = 1;
};
Result<Inputs> make_inputs(const Graph& graph, const InputOptions& options);

}  // namespace hearth::tool
