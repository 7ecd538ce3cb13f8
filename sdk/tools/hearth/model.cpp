// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "model.hpp"

#include "cases.hpp"
#include "compile/graph_file.hpp"
#include "npy.hpp"

#include <hearth/core/philox.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

namespace hearth::tool {

namespace {

constexpr uint64_t kMostInputBytes = uint64_t{4} << 30;

/// Uniform in [-1, 1) for floats, in [0, 2) for the others: a function of seed and name.
HostTensor random_tensor(const std::string& name, DType dtype, const Shape& shape, uint64_t seed) {
    HostTensor tensor(dtype, shape);
    const uint64_t key = stream_key(name, seed);
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const double u = uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i)));
        if (is_floating(dtype))
            tensor.set(i, 2 * u - 1);
        else
            tensor.set_int(i, static_cast<int64_t>(2 * u));
    }
    return tensor;
}

Result<HostTensor> read_tensor_file(const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
    if (path.ends_with(".npy")) return read_npy(bytes);
    HEARTH_ASSIGN(NamedTensor tensor, read_onnx_tensor(bytes));
    return std::move(tensor.tensor);
}

std::string input_names(const Graph& graph) {
    std::string names;
    for (ValueId id : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value(id).name;
    return names;
}

/// What was said for each input: its name to the text after the equals sign.
Result<std::map<std::string, std::string>> parse_inputs(const Graph& graph,
                                                        const std::vector<std::string>& texts) {
    std::map<std::string, std::string> given;
    for (const std::string& text : texts) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals + 1 == text.size())
            return invalid_argument("'" + text +
                                    "' is no input; expected NAME=FILE, NAME=random, "
                                    "NAME=zeros or NAME=ones");
        const std::string name = text.substr(0, equals);
        const bool known = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                       [&](ValueId id) { return graph.value(id).name == name; });
        if (!known)
            return not_found("no input is named '" + name + "'; there are: " + input_names(graph));
        if (!given.emplace(name, text.substr(equals + 1)).second)
            return invalid_argument("input '" + name + "' is given twice");
    }
    return given;
}

bool is_file(const std::string& source) {
    return source != "random" && source != "zeros" && source != "ones";
}

/// The rows that `found` has where `declared` says rows.
Result<int64_t> rows_in(const std::string& name, const Shape& declared, const Shape& found) {
    if (found.rank() != declared.rank())
        return invalid_argument("input '" + name + "' is " + to_string(declared) +
                                ", the file has " + to_string(found));
    for (int i = 0; i < declared.rank(); ++i) {
        const Dim d = declared[i];
        if (!d.per_row) continue;
        if (d.count > 0 && found[i].count % d.count == 0 && found[i].count > 0)
            return found[i].count / d.count;
        return invalid_argument("input '" + name + "' is " + to_string(declared) +
                                ", the file has " + to_string(found));
    }
    return int64_t{0};
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
    command.add_option("MODEL", options.path, "An ONNX file or a package (.hearth).")->required();
    command.add_option("--shape", options.shapes,
                       "Shape of an ONNX input, NAME=EXTENT,...; an extent may be `rows`.");
    command.add_option("--entry", options.entry,
                       "Which entry of a package; default: the only one, or `main`.");
}

void add_input_options(CLI::App& command, InputOptions& options) {
    command.add_option("-i,--input", options.inputs,
                       "NAME=FILE (.npy or .pb), NAME=random, NAME=zeros or NAME=ones; inputs "
                       "that are not named are random.");
    command.add_option("--seed", options.seed, "Of random inputs.")
        ->check(programs::whole_number())
        ->capture_default_str();
    command.add_option("--rows", options.rows, "Rows, where no file says how many.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
}

Result<NamedShape> parse_shape(const std::string& text) {
    const auto bad = [&] {
        return invalid_argument("'" + text + "' is no shape; expected NAME=EXTENT,EXTENT,...");
    };
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return bad();
    NamedShape named{text.substr(0, equals), {}};
    size_t at = equals + 1;
    while (at < text.size()) {
        const size_t end = std::min(text.find(',', at), text.size());
        int64_t extent = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, extent);
        const bool is_number = error == std::errc() && stop == text.data() + end && extent >= 0;
        if (named.shape.rank() == kMaxRank) return bad();
        if (is_number)
            named.shape.push_back(Dim(extent));
        else if (text.compare(at, end - at, "rows") == 0)
            named.shape.push_back(kRows);
        else
            return bad();
        at = end + 1;
    }
    return named;
}

Result<PackageView> open_package(std::span<const std::byte> bytes) {
    PackageView view;
    ViewError error;
    if (!view.open(bytes, &error)) return Status(error.code, error.text.c_str());
    return view;
}

namespace {

Result<Model> read_model(std::vector<std::byte> bytes, const ModelOptions& options) {
    Model model;
    if (is_package(bytes)) {
        if (!options.shapes.empty())
            return invalid_argument("--shape is for ONNX files; a package's shapes are fixed");
        model.package = std::move(bytes);
        HEARTH_ASSIGN(const PackageView view, open_package(model.package));
        HEARTH_ASSIGN(model.graphs, load_graphs(view.graph(), view.weights()));
        return model;
    }
    ImportOptions import_options;
    for (const std::string& text : options.shapes) {
        HEARTH_ASSIGN(NamedShape shape, parse_shape(text));
        import_options.input_shapes.push_back(std::move(shape));
    }
    import_options.external_data =
        files_below(std::filesystem::path(options.path).parent_path().string());
    HEARTH_ASSIGN(const ImportedModel imported, import_onnx(bytes, import_options));
    model.fits_device = imported.fits_device();
    model.graphs.push_back(imported.graph());
    return model;
}

}  // namespace

Result<Model> load_model(const ModelOptions& options) {
    HEARTH_ASSIGN(std::vector<std::byte> bytes, read_file(options.path));
    Result<Model> model = read_model(std::move(bytes), options);
    if (!model.ok()) return model.status().in(options.path);
    return model;
}

Result<size_t> find_entry(std::span<const Graph> graphs, const std::string& name) {
    std::string names;
    for (size_t i = 0; i < graphs.size(); ++i) {
        if (graphs[i].name == (name.empty() ? "main" : name)) return i;
        names += (names.empty() ? "" : ", ") + graphs[i].name;
    }
    if (name.empty() && graphs.size() == 1) return size_t{0};
    return not_found(name.empty() ? "which entry? --entry takes one of: " + names
                                  : "no entry is named '" + name + "'; there are: " + names);
}

Result<NamedTensors> run_model(Runner& runner, const Model& model, size_t entry,
                               const NamedTensors& inputs, int64_t rows, const char* profile) {
    HEARTH_TRY(runner.check(model.fits_device));
    HEARTH_TRY(runner.check(inputs));
    const Graph& graph = model.graphs[entry];
    if (model.is_package())
        return runner.run_package(model.package, graph.name, inputs, rows, profile);
    return runner.run_graph(graph, inputs, rows);
}

Result<Inputs> make_inputs(const Graph& graph, const InputOptions& options) {
    HEARTH_ASSIGN(const auto given, parse_inputs(graph, options.inputs));
    Inputs inputs;
    inputs.rows = options.rows;
    for (const auto& [name, source] : given) {
        if (!is_file(source)) continue;
        Result<HostTensor> tensor = read_tensor_file(source);
        if (!tensor.ok()) return tensor.status().in("input '" + name + "'");
        HEARTH_ASSIGN(const int64_t rows,
                      rows_in(name, graph.value(graph.find(name)).shape, tensor->shape()));
        if (rows > 0) inputs.rows = rows;
        inputs.tensors[name] = std::move(*tensor);
    }
    for (ValueId id : graph.inputs) {
        const Value& v = graph.value(id);
        const Shape shape = v.shape.at(inputs.rows);
        const auto file = inputs.tensors.find(v.name);
        if (file != inputs.tensors.end()) {
            if (file->second.dtype() != v.dtype || file->second.shape() != shape)
                return invalid_argument(fmt::format("input '{}' is {}{}, the file has {}{}", v.name,
                                                    name_of(v.dtype), to_string(v.shape),
                                                    name_of(file->second.dtype()),
                                                    to_string(file->second.shape())));
            continue;
        }
        if (static_cast<uint64_t>(shape.element_count(1)) > kMostInputBytes / size_bytes(v.dtype))
            return out_of_range("input '" + v.name + "' " + to_string(shape) + " is too large");
        const auto said = given.find(v.name);
        const std::string source = said == given.end() ? "random" : said->second;
        HostTensor tensor(v.dtype, shape);
        if (source == "random") tensor = random_tensor(v.name, v.dtype, shape, options.seed);
        if (source == "ones")
            for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.set(i, 1);
        inputs.tensors[v.name] = std::move(tensor);
    }
    return inputs;
}

}  // namespace hearth::tool
