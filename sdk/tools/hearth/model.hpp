// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Models for the tool's commands: ONNX files and packages.

#pragma once

#include "compare.hpp"
#include "compiler/ir/graph.hpp"
#include "program/package.hpp"
#include "runner.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hearth::tool {

/// Options of a model that several commands share.
struct ModelOptions {
    std::string path;
    /// "x=1,3,96,96"; an extent may be the word batch.  An input that occurs more than once has
    /// several sizes, each of which becomes an entry.
    std::vector<std::string> shapes;
    std::vector<std::string> values;  ///< "sr=16000": inputs that are constant at import
    std::vector<std::string> bounds;  ///< "nms=100": extents and trip counts that depend on data
    std::string entry;                ///< empty: the only one, or "main"
    /// Batch size of a model that cannot have a symbolic one.
    int64_t fixed_batch_size = 1;
    bool trusts_kernels = false;  ///< see PackageOptions
    bool keeps_weights = false;   ///< of an ONNX file, as they are: without fold_weights()
};
void add_model_options(CLI::App& command, ModelOptions& options);
/// Adds --assume-int32 and --assume-float32, of commands that compile.
void add_assume_options(CLI::App& command, CompileOptions& options);
/// Adds --trust, of commands that run models on a CPU device.
void add_trust_option(CLI::App& command, ModelOptions& options);

struct Model {
    std::vector<Graph> graphs;         ///< one per entry
    std::vector<std::byte> package;    ///< empty for an ONNX file
    bool trusts_kernels = false;       ///< see PackageOptions
    std::vector<std::string> strings;  ///< see ImportedModel::strings
    /// Remarks about unexpected decisions of the import.
    std::vector<std::string> remarks;

    bool is_package() const { return !package.empty(); }
};

/// Reads the file and detects its type by its contents.  An ONNX model that cannot have a symbolic
/// batch size is imported again with fixed_batch_size; its remarks, also printed to stderr, say so.
Result<Model> load_model(const ModelOptions& options);

/// Parses "x=1,3,96,96"; an extent may be the word batch.
Result<NamedShape> parse_shape(const std::string& text);

/// Parses "sr=16000" or "shape=3,-1": an input and its values, as f64.
Result<NamedTensor> parse_value(const std::string& text);

/// Parses "nms=100": a node or an output, and its bound.
Result<NamedBound> parse_bound(const std::string& text);

/// Adds --bound.
void add_bound_option(CLI::App& command, std::vector<std::string>& bounds);

/// The shapes of each size of a model.  Inputs that occur once have that shape in all sizes; the
/// others must occur equally often.
Result<std::vector<std::vector<NamedShape>>> parse_sizes(const std::vector<std::string>& texts);

/// Short name of a size: "1x3x160x160".
std::string size_name(const std::vector<NamedShape>& size);

/// Opens a view; the bytes must be aligned, as a vector's are.
Result<PackageView> open_package(std::span<const std::byte> bytes);

/// Operand precision of products in the package's programs, as recorded by `hearth cook`.
Precision precision_of(const PackageView& package);

/// Finds the entry of this name; with an empty name the only one, or "main".
/// Errors: kNotFound listing the entries.
Result<size_t> find_entry(std::span<const Graph> graphs, const std::string& name);

/// Runs an entry: a package's program, or the graph, compiled on the fly (see PackageOptions).
Result<NamedTensors> run_model(Runner& runner, const Model& model, size_t entry,
                               const NamedTensors& inputs, int64_t batch_size,
                               const char* device_target = nullptr);
/// As above; frees the model's weights before the run where the runner has its own.
Result<NamedTensors> run_model(Runner& runner, Model&& model, size_t entry,
                               const NamedTensors& inputs, int64_t batch_size,
                               const char* device_target = nullptr);

/// Options that choose tensors for a graph's inputs.
struct InputOptions {
    /// "NAME=FILE" (.npy, .pb), "NAME=random", "NAME=zeros", "NAME=ones"; inputs without an option
    /// are random.
    std::vector<std::string> inputs;
    uint64_t seed = 1;
    int64_t batch_size = 1;  ///< if no input file determines it
};
void add_input_options(CLI::App& command, InputOptions& options);
/// Adds --rtol and --atol; the given tolerance is the default.
void add_tolerance_options(CLI::App& command, Tolerance& tolerance);

struct Inputs {
    NamedTensors tensors;
    int64_t batch_size = 1;
};
Result<Inputs> make_inputs(const Graph& graph, const InputOptions& options);

}  // namespace hearth::tool
