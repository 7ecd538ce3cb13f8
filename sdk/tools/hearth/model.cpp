// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads ONNX files and packages, parses shapes and values from options, and makes inputs.

#include "model.hpp"

#include "cases.hpp"
#include "compiler/driver/graph_file.hpp"
#include "compiler/passes/fold_weights.hpp"
#include "core/path.hpp"
#include "import/data/npy.hpp"
#include "program/file_kind.hpp"
#include "tables.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/file.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

namespace hearth::tool {

namespace {

constexpr uint64_t kMaxInputBytes = uint64_t{4} << 30;

/// Uniform in [-1, 1) for floats, in [0, 2) for other types; depends only on seed and name.
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

/// Parses --input options into a map from input name to the text after the equals sign.
Result<std::map<std::string, std::string>> parse_inputs(const Graph& graph,
                                                        const std::vector<std::string>& texts) {
    std::map<std::string, std::string> given;
    for (const std::string& text : texts) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals + 1 == text.size())
            return invalid_argument(
                "'" + text +
                "' does not describe an input; expected NAME=FILE, NAME=random, "
                "NAME=zeros or NAME=ones");
        const std::string name = text.substr(0, equals);
        const bool known = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                       [&](ValueId id) { return graph.value(id).name == name; });
        if (!known)
            return not_found("no input is named '" + name +
                             "'; expected one of: " + input_names(graph));
        if (!given.emplace(name, text.substr(equals + 1)).second)
            return invalid_argument("input '" + name + "' is given twice; give it once");
    }
    return given;
}

bool is_file(const std::string& source) {
    return source != "random" && source != "zeros" && source != "ones";
}

/// The extent of `found` in the batch dimension of `declared`.
Result<int64_t> batch_size_in(const std::string& name, const Shape& declared, const Shape& found) {
    if (found.rank() != declared.rank())
        return invalid_argument("input '" + name + "' is " + to_string(declared) +
                                ", the file has " + to_string(found) +
                                "; give a file of that shape");
    for (int i = 0; i < declared.rank(); ++i) {
        const Dim d = declared[i];
        if (!d.is_batch) continue;
        if (d.count > 0 && found[i].count % d.count == 0 && found[i].count > 0)
            return found[i].count / d.count;
        return invalid_argument("input '" + name + "' is " + to_string(declared) +
                                ", the file has " + to_string(found) +
                                "; give a file of that shape");
    }
    return int64_t{0};
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
    command.add_option("MODEL", options.path, "An ONNX file or a package (.hearth).")->required();
    command.add_option("--shape", options.shapes,
                       "Shape of an ONNX input, as in x=1,3,160,160; an extent may be `batch`. An "
                       "input that is named several times makes an entry for each of its sizes.");
    command.add_option("--value", options.values,
                       "Value of an ONNX input that must be constant, as in sr=16000, because it "
                       "selects branches, "
                       "shapes or loop counts.");
    add_bound_option(command, options.bounds);
    command.add_option("--entry", options.entry,
                       "Entry of a package, or size of a model; default: the only one, or `main`.");
}

void add_bound_option(CLI::App& command, std::vector<std::string>& bounds) {
    command
        .add_option("--bound", bounds,
                    "Largest extent or trip count that depends on data, as in nms=100: of a "
                    "node (NonMaxSuppression, NonZero, Unique, Compress, Range, Loop), by its "
                    "name or that of an output. The model then has a further output, the count.")
        ->allow_extra_args(false);
}

void add_assume_options(CLI::App& command, CompileOptions& options) {
    command.add_flag("--assume-int32", options.assume_int32,
                     "On a GPU without 64-bit integers, hold i64 in 32 bits even where their range "
                     "is not proven to fit.");
    command.add_flag("--assume-float32", options.assume_float32, "On a GPU, compute f64 in f32.");
}

void add_trust_option(CLI::App& command, ModelOptions& options) {
    command.add_flag("--trust", options.trusts_kernels,
                     "On a CPU device, compile and run the C text in the package: code of whoever "
                     "made it. Default: C of its graph.");
}

void add_input_options(CLI::App& command, InputOptions& options) {
    command.add_option("-i,--input", options.inputs,
                       "NAME=FILE (.npy or .pb), NAME=random, NAME=zeros or NAME=ones; inputs "
                       "that are not named are random.");
    command.add_option("--seed", options.seed, "Seed of random inputs.")
        ->check(programs::whole_number())
        ->capture_default_str();
    command
        .add_option("--batch-size", options.batch_size,
                    "Batch size, unless an input file determines it.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
}

Result<NamedShape> parse_shape(const std::string& text) {
    const auto bad = [&] {
        return invalid_argument(
            "'" + text +
            "' is no shape; expected NAME=EXTENT,EXTENT,..., each extent a number or `batch`");
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
        else if (text.compare(at, end - at, "batch") == 0)
            named.shape.push_back(kBatch);
        else
            return bad();
        at = end + 1;
    }
    return named;
}

Result<NamedTensor> parse_value(const std::string& text) {
    const size_t equals = text.rfind('=');
    std::vector<double> numbers;
    for (size_t at = equals + 1; equals != std::string::npos && at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        double number = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, number);
        if (error != std::errc() || stop != text.data() + end) {
            numbers.clear();
            break;
        }
        numbers.push_back(number);
        at = end + 1;
    }
    if (numbers.empty())
        return invalid_argument("'" + text + "' is no value; expected NAME=NUMBER,NUMBER,...");
    const Shape shape{Dim(static_cast<int64_t>(numbers.size()))};
    return NamedTensor{text.substr(0, equals), HostTensor::of(shape, numbers, DType::kF64)};
}

Result<NamedBound> parse_bound(const std::string& text) {
    const size_t equals = text.rfind('=');
    NamedBound bound{text.substr(0, equals), 0};
    const char* const end = text.data() + text.size();
    const char* const begin = equals == std::string::npos ? end : text.data() + equals + 1;
    const auto [stop, error] = std::from_chars(begin, end, bound.count);
    if (bound.name.empty() || error != std::errc() || stop != end || bound.count < 1)
        return invalid_argument("'" + text +
                                "' is no bound; expected NAME=NUMBER, with a number from 1 on");
    return bound;
}

Result<std::vector<std::vector<NamedShape>>> parse_sizes(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::vector<Shape>>> inputs;  // sorted by name
    for (const std::string& text : texts) {
        HEARTH_ASSIGN(const NamedShape named, parse_shape(text));
        const auto same = [&](const auto& input) { return input.first == named.name; };
        auto at = std::find_if(inputs.begin(), inputs.end(), same);
        if (at == inputs.end()) at = inputs.insert(at, {named.name, {}});
        at->second.push_back(named.shape);
    }
    size_t count = 1;
    for (const auto& [name, shapes] : inputs) count = std::max(count, shapes.size());
    std::vector<std::vector<NamedShape>> sizes(count);
    for (const auto& [name, shapes] : inputs) {
        if (shapes.size() != 1 && shapes.size() != count)
            return invalid_argument(
                fmt::format("--shape has {} shapes for '{}' and {} for another input; expected one "
                            "for all sizes, or one for each",
                            shapes.size(), name, count));
        for (size_t i = 0; i < count; ++i)
            sizes[i].push_back({name, shapes[shapes.size() == 1 ? 0 : i]});
    }
    return sizes;
}

std::string size_name(const std::vector<NamedShape>& size) {
    std::string text;
    for (const NamedShape& input : size) {
        if (!text.empty()) text += "_";
        for (int i = 0; i < input.shape.rank(); ++i) {
            const Dim d = input.shape[i];
            text += (i > 0 ? "x" : "") + (d.is_batch ? "batch" : std::to_string(d.count));
        }
    }
    return text;
}

Result<PackageView> open_package(std::span<const std::byte> bytes) {
    PackageView view;
    ViewError error;
    if (!view.open(bytes, &error)) return Status(error.code, error.text.c_str());
    return view;
}

Precision precision_of(const PackageView& package) {
    return programs::precision_in(package.notes());
}

namespace {

/// Adds the sizes from --shape to an error: many models support only some sizes and give no hint in
/// their errors.
Status with_sizes(const Status& status, const std::vector<NamedShape>& shapes) {
    if (status.code() != StatusCode::kInvalidArgument || shapes.empty()) return status;
    std::string text;
    for (const NamedShape& s : shapes) text += " " + s.name + " " + to_string(s.shape);
    return invalid_argument(status.message() + "; imported with" + text + "; try another --shape");
}

/// Imports the model with these shapes; with fixed_batch_size if it cannot have a symbolic batch size.
Result<ImportedModel> read_size(std::span<const std::byte> bytes, const ModelOptions& options,
                                std::vector<NamedShape> shapes, std::vector<std::string>& remarks) {
    ImportOptions import_options;
    import_options.input_shapes = std::move(shapes);
    import_options.shape_flag_name = "--shape";
    import_options.value_flag_name = "--value";
    import_options.bound_flag_name = "--bound";
    for (const std::string& text : options.bounds) {
        HEARTH_ASSIGN(NamedBound bound, parse_bound(text));
        import_options.bounds.push_back(std::move(bound));
    }
    for (const std::string& text : options.values) {
        HEARTH_ASSIGN(NamedTensor value, parse_value(text));
        import_options.constant_inputs.push_back(std::move(value));
    }
    import_options.external_data = directory_loader(path_of(options.path).parent_path().string());
    const std::vector<NamedShape> given = import_options.input_shapes;
    Result<ImportedModel> open = import_onnx(bytes, import_options);
    if (open.ok()) return open;
    import_options.batch_size = options.fixed_batch_size;
    for (NamedShape& named : import_options.input_shapes)
        named.shape = named.shape.resolve(options.fixed_batch_size);
    Result<ImportedModel> fixed = import_onnx(bytes, import_options);
    if (!fixed.ok()) return with_sizes(open.status(), given);
    std::string taken;
    for (const TensorSpec& port : fixed->inputs())
        taken += (taken.empty() ? "" : ", ") + port.name + " " + to_string(port.shape);
    remarks.push_back(fmt::format("its batch size cannot stay symbolic ({}); compiled for {}",
                                  open.status().message(), taken));
    return fixed;
}

Result<Model> read_model(std::span<const std::byte> bytes, const ModelOptions& options) {
    Model model;
    model.trusts_kernels = options.trusts_kernels;
    if (is_package(bytes)) {
        if (!options.shapes.empty() || !options.values.empty() || !options.bounds.empty())
            return invalid_argument(
                "--shape, --value and --bound are for ONNX files, and this is a package, whose "
                "shapes are fixed; cook its ONNX file again with them");
        model.package.assign(bytes.begin(), bytes.end());
        HEARTH_ASSIGN(const PackageView view, open_package(model.package));
        ViewError error;
        if (!view.check_programs(&error)) return Status(error.code, error.text.c_str());
        HEARTH_ASSIGN(model.graphs, load_graphs(view));
        model.strings = programs::strings_in(view.notes());
        return model;
    }
    if (const std::string kind = describe_file(bytes); kind.starts_with("a Hearth"))
        return invalid_argument("expected an ONNX file or a package (.hearth), found " + kind);
    HEARTH_ASSIGN(std::vector<std::vector<NamedShape>> sizes, parse_sizes(options.shapes));
    for (const std::vector<NamedShape>& size : sizes) {
        HEARTH_ASSIGN(const ImportedModel imported, read_size(bytes, options, size, model.remarks));
        if (options.keeps_weights) {
            model.graphs.push_back(imported.graph());
        } else {
            HEARTH_ASSIGN(Graph folded, fold_weights(imported.graph()));
            model.graphs.push_back(std::move(folded));
        }
        model.strings.assign(imported.strings().begin(), imported.strings().end());
        if (sizes.size() > 1) model.graphs.back().name = size_name(size);
    }
    for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = 0; k < i; ++k)
            if (model.graphs[i].name == model.graphs[k].name)
                return invalid_argument("--shape gives the size " + model.graphs[i].name +
                                        " twice");
    return model;
}

}  // namespace

Result<Model> load_model(const ModelOptions& options) {
    HEARTH_ASSIGN(const MappedFile file, MappedFile::open(options.path));
    const std::span<const std::byte> bytes = file.bytes();
    Result<Model> model = read_model(bytes, options);
    if (!model.ok()) return model.status().with_context(options.path);
    for (const std::string& remark : model->remarks)
        print_to(stderr, "remark: {}: {}\n", options.path, remark);
    return model;
}

Result<size_t> find_entry(std::span<const Graph> graphs, const std::string& name) {
    std::string names;
    for (size_t i = 0; i < graphs.size(); ++i) {
        if (graphs[i].name == (name.empty() ? "main" : name)) return i;
        names += (names.empty() ? "" : ", ") + graphs[i].name;
    }
    if (name.empty() && graphs.size() == 1) return size_t{0};
    return not_found(name.empty() ? "there are several entries; --entry takes one of: " + names
                                  : "no entry is named '" + name + "'; expected one of: " + names);
}

Result<NamedTensors> run_model(Runner& runner, const Model& model, size_t entry,
                               const NamedTensors& inputs, int64_t batch_size,
                               const char* device_target) {
    return run_model(runner, Model(model), entry, inputs, batch_size, device_target);
}

Result<NamedTensors> run_model(Runner& runner, Model&& model, size_t entry,
                               const NamedTensors& inputs, int64_t batch_size,
                               const char* device_target) {
    Graph graph = std::move(model.graphs[entry]);
    model.graphs.clear();
    if (model.is_package())
        return runner.run_package(
            model.package, graph.name, inputs, batch_size,
            {.device_target = device_target, .trusts_kernels = model.trusts_kernels});
    return runner.run_graph(std::move(graph), inputs, batch_size);
}

Result<Inputs> make_inputs(const Graph& graph, const InputOptions& options) {
    HEARTH_ASSIGN(const auto given, parse_inputs(graph, options.inputs));
    Inputs inputs;
    inputs.batch_size = options.batch_size;
    for (const auto& [name, source] : given) {
        if (!is_file(source)) continue;
        Result<HostTensor> tensor = read_tensor_file(source);
        if (!tensor.ok()) return tensor.status().with_context("input '" + name + "'");
        HEARTH_ASSIGN(const int64_t batch_size,
                      batch_size_in(name, graph.value(graph.find(name)).shape, tensor->shape()));
        if (batch_size > 0) inputs.batch_size = batch_size;
        inputs.tensors[name] = std::move(*tensor);
    }
    for (ValueId id : graph.inputs) {
        const Value& v = graph.value(id);
        const Shape shape = v.shape.resolve(inputs.batch_size);
        const auto file = inputs.tensors.find(v.name);
        if (file != inputs.tensors.end()) {
            if (file->second.dtype() != v.dtype || file->second.shape() != shape)
                return invalid_argument(fmt::format(
                    "input '{}' is {}{}, the file has {}{}; give a file of that type and shape",
                    v.name, name_of(v.dtype), to_string(v.shape), name_of(file->second.dtype()),
                    to_string(file->second.shape())));
            continue;
        }
        if (static_cast<uint64_t>(shape.element_count(1)) > kMaxInputBytes / size_bytes(v.dtype))
            return out_of_range("input '" + v.name + "' " + to_string(shape) +
                                " is larger than 4 GiB; give a smaller --shape or --batch-size");
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

void add_tolerance_options(CLI::App& command, Tolerance& tolerance) {
    command.add_option("--rtol", tolerance.relative, "Relative tolerance.")
        ->check(programs::finite_number(0, 1e30))
        ->capture_default_str();
    command.add_option("--atol", tolerance.absolute, "Absolute tolerance.")
        ->check(programs::finite_number(0, 1e30))
        ->capture_default_str();
}

}  // namespace hearth::tool
