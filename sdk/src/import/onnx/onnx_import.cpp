// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts an ONNX model to a Graph: visits the nodes that the outputs need, in the file's order,
// and applies the rules of the operator records (OpDef::onnx).  Constant expressions are folded
// immediately, so that shape arithmetic leaves no nodes behind.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ir/shared_constant.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/ops/shared/packed_elements.hpp"
#include "core/out_of_memory.hpp"
#include "import/onnx/onnx_compositions.hpp"
#include "import/onnx/onnx_importer.hpp"

#include <hearth/ops.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace hearth {

namespace {

constexpr int kOldestOpset = 1;
constexpr int kNewestOpset = 28;

// Limits of constant folding: expressions beyond them, or beyond the budget, are computed when the
// model runs.
constexpr int64_t kMostIntegers = 1 << 20;
constexpr int64_t kMostFloats = 64;
constexpr int64_t kMostWork = 1 << 24;  // per node: multiplications or operations of similar cost

}  // namespace

std::optional<OnnxImportRule> find_import_rule(std::string_view op_type, int opset) {
    static const auto rules = [] {
        std::unordered_map<std::string_view, std::vector<OnnxImportRule>> map;
        for (std::span<const OpDef> family : op_families())
            for (const OpDef& op : family)
                for (const OnnxMapping& m : op.onnx) map[m.op_type].push_back({&op, &m});
        for (std::span<const OnnxMapping> family : {onnx_compositions(), onnx_data_operators(),
                                                    onnx_contrib_operators(), onnx_ml_operators()})
            for (const OnnxMapping& m : family) map[m.op_type].push_back({nullptr, &m});
        return map;
    }();
    std::optional<OnnxImportRule> best;
    auto consider = [&](const OnnxImportRule& rule) {
        if (rule.mapping->since_opset <= opset &&
            (!best || best->mapping->since_opset < rule.mapping->since_opset))
            best = rule;
    };
    if (const auto at = rules.find(op_type); at != rules.end())
        for (const OnnxImportRule& rule : at->second) consider(rule);
    for (std::span<const OpDef> family : registered_families())
        for (const OpDef& op : family)
            for (const OnnxMapping& m : op.onnx)
                if (m.op_type == op_type) consider({&op, &m});
    return best;
}

bool is_import_builtin(std::string_view op_type) {
    return op_type == "Constant" || op_type == "ConstantOfShape" || op_type == "Shape" ||
           op_type == "Size" || is_list_operator(op_type);
}

namespace {

/// Converts the node's attributes to those of the record: same names, the record's types.
Result<Attrs> attrs_for(const OpDef& op, const Attrs& from) {
    Attrs to;
    for (const Attr& a : from.all()) {
        const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                                       [&](const AttrSpec& s) { return s.name == a.name; });
        if (spec == op.attrs.end()) return unsupported("attribute " + quoted(a.name));
        const auto* number = std::get_if<int64_t>(&a.value);
        if (spec->type == AttrType::kDType && number != nullptr) {
            const std::optional<DType> dtype = dtype_from_onnx(*number);
            if (!dtype) return unsupported("element type " + onnx_type_name(*number));
            to.set(a.name, *dtype);
        } else {
            to.set(a.name, a.value);
        }
    }
    return to;
}

/// The declared shape as text: "[batch, 3, ?]".
std::string declared_text(const OnnxPort& port) {
    if (!port.has_shape) return "of no shape";
    std::string text;
    for (const OnnxDim& d : port.dims) {
        if (!text.empty()) text += ", ";
        text += d.count >= 0 ? std::to_string(d.count) : d.name.empty() ? "?" : d.name;
    }
    return "[" + text + "]";
}

Status check_given(const OnnxPort& port, const Shape& given, std::string_view option) {
    if (!port.has_shape) return {};
    bool fits = given.rank() == static_cast<int>(port.dims.size());
    for (size_t i = 0; fits && i < port.dims.size(); ++i)
        fits = port.dims[i].count < 0 || given[static_cast<int>(i)] == Dim(port.dims[i].count);
    if (fits) return {};
    return invalid_argument("input " + quoted(port.name) + " is " + declared_text(port) +
                            " in the model, " + std::string(option) + " has " + to_string(given));
}

bool is_open(const OnnxPort& port) {
    return !port.has_shape || std::any_of(port.dims.begin(), port.dims.end(),
                                          [](const OnnxDim& d) { return d.count < 0; });
}

/// Extents that an example proposes where neither the model nor a name tells them: of images and of
/// other lists.
struct ExampleSize {
    int64_t height = 160, width = 160, length = 512;
};
// Detectors and classifiers of usual sizes, then readers of lines of text, which have one height.
constexpr ExampleSize kExampleSizes[] = {
    {160, 160, 512}, {224, 224, 128}, {256, 256, 64}, {320, 320, 16}, {640, 640, 1},
    {48, 160, 512},  {32, 160, 512},  {64, 160, 512}, {96, 96, 512},  {112, 112, 512},
};

/// The extent of this axis that a node which reads the input requires, by its weights; nothing if
/// none tells it.
std::optional<int64_t> extent_in_weights(const OnnxGraph& graph, const OnnxPort& port,
                                         size_t axis) {
    for (const OnnxNode& node : graph.nodes) {
        if (node.inputs.size() < 2 || node.inputs[0] != port.name || !node.domain.empty()) continue;
        const auto at = graph.initializers.find(node.inputs[1]);
        if (at == graph.initializers.end()) continue;
        const Shape& weight = at->second->shape();
        const auto integer = [&](std::string_view name, int64_t fallback) {
            const AttrValue* value = node.attrs.find(name);
            const int64_t* n = value != nullptr ? std::get_if<int64_t>(value) : nullptr;
            return n != nullptr ? *n : fallback;
        };
        const auto is_one_of = [&](std::initializer_list<std::string_view> types) {
            return std::ranges::find(types, node.op_type) != types.end();
        };
        const bool is_last = axis + 1 == port.dims.size();
        if (is_one_of({"Conv"}) && axis == 1 && weight.rank() > 2)
            return weight[1].count * std::clamp<int64_t>(integer("group", 1), 1, kMaxExtent);
        if (is_one_of({"MatMul"}) && is_last && weight.rank() > 1)
            return weight[weight.rank() - 2].count;
        if (is_one_of({"Gemm"}) && is_last && weight.rank() == 2)
            return weight[integer("transB", 0) != 0 ? 1 : 0].count;
        if (is_one_of({"LSTM", "GRU", "RNN"}) && is_last && weight.rank() == 3)
            return weight[2].count;
    }
    return {};
}

/// Suggests extents for an input with an open shape: what the weights require, 1 for the first open
/// extent (usually the batch), `size` for the others.  Equal names get equal extents.
NamedShape example_of(const OnnxGraph& graph, const OnnxPort& port, const ExampleSize& size,
                      std::map<std::string, int64_t>& named) {
    constexpr int64_t kChannels = 3;
    NamedShape example{port.name, {}};
    const bool is_image = port.dims.size() == 4;
    const int64_t last = is_image ? port.dims[3].count : 0;
    const size_t channels = last >= 1 && last <= 4 && port.dims[1].count < 0 ? 3 : 1;
    const size_t height = channels == 1 ? 2 : 1;
    bool is_first = true;
    for (size_t i = 0; i < port.dims.size(); ++i) {
        const OnnxDim& d = port.dims[i];
        const int64_t usual = !is_image       ? size.length
                              : i == channels ? kChannels
                              : i == height   ? size.height
                                              : size.width;
        int64_t extent = extent_in_weights(graph, port, i).value_or(usual);
        if (d.count < 0 && std::exchange(is_first, false)) extent = 1;
        if (d.count >= 0)
            extent = d.count;
        else if (!d.name.empty())
            extent = named.emplace(d.name, extent).first->second;
        example.shape.push_back(Dim(extent));
    }
    if (!port.has_shape) example.shape.push_back(Dim(size.length));
    return example;
}

/// Shape of an input that was not given.  `leading` is the unknown extent that stands for the batch
/// size.  Errors: kInvalidArgument if other extents are unknown.
Result<Shape> declared_shape(const OnnxPort& port, const OnnxDim*& leading, Dim rows) {
    const std::string what = "input " + quoted(port.name);
    if (!port.has_shape) return invalid_argument(what + " has no shape in the model");
    Shape shape;
    for (const OnnxDim& d : port.dims) {
        if (d.count >= 0) {
            shape.push_back(Dim(d.count));
            continue;
        }
        if (shape.rank() > 0)
            return invalid_argument(what + " is " + declared_text(port) +
                                    " in the model; only the first extent may be symbolic");
        if (leading != nullptr && leading->name != d.name && !d.name.empty() &&
            !leading->name.empty())
            return invalid_argument(what + " has the leading extent " + quoted(d.name) +
                                    ", another input has " + quoted(leading->name) +
                                    "; all symbolic leading extents must be the one batch size; "
                                    "give fixed shapes by input_shapes (--shape)");
        if (leading == nullptr || leading->name.empty()) leading = &d;
        shape.push_back(rows);
    }
    return shape;
}

/// Converts input contents from the application to the input's type and shape.
Result<HostTensor> contents_for(const OnnxPort& port, const Shape& shape, const HostTensor& given) {
    if (given.dtype() == port.dtype && given.shape() == shape) return given;
    if (shape.has_batch() || given.element_count() != shape.element_count(1))
        return invalid_argument("input " + quoted(port.name) + " is " + to_string(shape) +
                                ", its given value is " + to_string(given.shape()));
    HostTensor contents(port.dtype, shape);
    for (int64_t i = 0; i < contents.element_count(); ++i) {
        if (is_floating(port.dtype) || is_floating(given.dtype()))
            contents.set(i, given.get(i));
        else
            contents.set_int(i, given.get_int(i));
        if (contents.get(i) != given.get(i) && !is_floating(port.dtype))
            return invalid_argument("input " + quoted(port.name) + " is of " +
                                    std::string(name_of(port.dtype)) + ", which " +
                                    std::to_string(given.get(i)) + " is not");
    }
    return contents;
}

/// The output of Shape or Size; extents with padding are bounds.
Extents shape_of(const OnnxNode& node, const Shape& shape, const OnnxPaddings& paddings) {
    if (node.op_type == "Size")
        return {{shape.element_count()}, true, std::vector<bool>(1, !paddings.empty())};
    Extents out;
    const auto [begin, end] = shape_range(node, shape.rank());
    for (int64_t i = begin; i < end; ++i) {
        const int axis = static_cast<int>(i);
        out.append(shape[axis], paddings.contains(axis));
    }
    return out;
}

/// True for operators whose results onnx_padding.cpp gives the counts of a shape with bounds.
bool takes_bounds(const OnnxNode& node) {
    static constexpr std::string_view kTaking[] = {"ConstantOfShape", "Expand", "Reshape", "Slice"};
    return node.domain.empty() && std::ranges::find(kTaking, node.op_type) != std::end(kTaking);
}

}  // namespace

std::string label_of(const OnnxNode& node) {
    if (!node.name.empty() || node.outputs.empty()) return node.name;
    return node.outputs[0];
}

std::pair<int64_t, int64_t> shape_range(const OnnxNode& node, int rank) {
    const auto at = [&](std::string_view name, int64_t fallback) {
        const int64_t n = node.integer(name, fallback);
        return std::clamp<int64_t>(n < 0 ? n + rank : n, 0, rank);
    };
    return {at("start", 0), at("end", rank)};
}

OnnxImporter::OnnxImporter(const OnnxModel& model, const ImportOptions& options, Budget& budget)
    : model_(model),
      options_(options),
      missing_(model),
      trace_(model.graph.name.empty() ? "model" : model.graph.name),
      used_bounds_(options.bounds.size(), false),
      budget_(budget) {
    trace_.set_limit(&budget);
}

Result<ImportedModel> OnnxImporter::run() {
    if (model_.opset > kNewestOpset || model_.opset < kOldestOpset)
        return unsupported("operator set " + std::to_string(model_.opset) + "; known are " +
                           std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
    if (missing_.is_certain()) return unsupported("not supported: " + missing_.text());
    Scope scope{nullptr, &model_.graph, model_.opset, nullptr, nullptr, 0, {}};
    HEARTH_TRY(declare_inputs(scope));
    for (const NamedBound& bound : options_.bounds)
        if (bound.count < 1 || bound.count > kMaxExtent)
            return out_of_range(std::string(options_.bound_flag_name) + " " + bound.name + "=" +
                                std::to_string(bound.count) + "; expected 1 to " +
                                std::to_string(kMaxExtent));
    HEARTH_TRY(import_nodes(scope));
    HEARTH_TRY(check_bounds());
    HEARTH_TRY(name_outputs(scope));
    HEARTH_ASSIGN(Graph graph, trace_.build());
    return ImportedModel(std::make_shared<const Graph>(std::move(graph)), model_.strings.strings(),
                         counts_);
}

/// The bound from options.bounds of this node.
std::optional<int64_t> OnnxImporter::bound_of(const OnnxNode& node) {
    static constexpr std::string_view kBounded[] = {"Compress", "Loop",  "NonMaxSuppression",
                                                    "NonZero",  "Range", "Unique"};
    if (!node.domain.empty() || std::ranges::find(kBounded, node.op_type) == std::end(kBounded))
        return {};
    boundable_.insert(label_of(node));
    for (size_t i = 0; i < options_.bounds.size(); ++i) {
        const std::string& name = options_.bounds[i].name;
        if (name.empty() ||
            (name != node.name && std::ranges::find(node.outputs, name) == node.outputs.end()))
            continue;
        used_bounds_[i] = true;
        return options_.bounds[i].count;
    }
    return {};
}

/// Errors: kNotFound for a bound of no node that takes one.
Status OnnxImporter::check_bounds() const {
    for (size_t i = 0; i < used_bounds_.size(); ++i) {
        if (used_bounds_[i]) continue;
        std::string names;
        for (const std::string& name : boundable_)
            names += (names.empty() ? "" : ", ") + quoted(name);
        return not_found(std::string(options_.bound_flag_name) + " names " +
                         quoted(options_.bounds[i].name) + "; expected " +
                         (names.empty() ? "none: no extent depends on data"
                                        : "a node or an output of one of: " + names));
    }
    return {};
}

/// Adds to an error about contents that are not known at import which inputs they depend on.
Status OnnxImporter::name_unknown(const Status& status, const Tensor& unknown) const {
    const std::string names = unknown.ok() ? names_of_inputs_behind(unknown) : "";
    if (names.empty()) return status;
    return Status(status.code(), status.message() + "; it depends on " + names +
                                     ": give the value by " +
                                     std::string(options_.value_flag_name));
}

Status OnnxImporter::declare_inputs(Scope& scope) {
    const OnnxDim* leading = nullptr;  // the unknown extent that stands for the batch size
    const auto check_name = [&](const std::string& name, std::string_view option) -> Status {
        const bool is_known =
            name.empty() || std::any_of(model_.graph.inputs.begin(), model_.graph.inputs.end(),
                                        [&](const OnnxPort& p) { return p.name == name; });
        if (is_known) return {};
        return not_found(std::string(option) + " names " + quoted(name) +
                         ", which is not an input of the model; expected one of: " + input_names());
    };
    for (const NamedShape& given : options_.input_shapes)
        HEARTH_TRY(check_name(given.name, options_.shape_flag_name));
    for (const NamedTensor& given : options_.constant_inputs)
        HEARTH_TRY(check_name(given.name, "constant_inputs"));
    if (options_.batch_size < 0)
        return out_of_range("rows is " + std::to_string(options_.batch_size));
    const Dim rows = options_.batch_size > 0 ? Dim(options_.batch_size) : kBatch;
    for (const OnnxPort& port : model_.graph.inputs) {
        const NamedShape* given = given_for(port, options_.input_shapes);
        Shape shape;
        if (given != nullptr) {
            shape = given->shape;
            HEARTH_TRY(check_given(port, shape, options_.shape_flag_name));
        } else {
            Result<Shape> declared = declared_shape(port, leading, rows);
            if (!declared.ok())
                return invalid_argument(std::string(declared.status().message()) + ": give " +
                                        missing_shapes());
            shape = *declared;
        }
        if (Status s = check_extents(shape); !s.ok())
            return s.with_context("input " + quoted(port.name));
        const Tensor input = trace_.input(port.name, shape, port.dtype);
        HEARTH_TRY(trace_.status());
        scope.values[port.name] = {input, {}};
        const NamedTensor* value = given_for(port, options_.constant_inputs);
        if (value == nullptr) continue;
        HEARTH_ASSIGN(HostTensor contents, contents_for(port, shape, value->tensor));
        known_contents_[input.value()] = std::make_shared<const HostTensor>(std::move(contents));
    }
    return {};
}

std::string OnnxImporter::input_names() const {
    std::string names;
    for (const OnnxPort& port : model_.graph.inputs)
        names += (names.empty() ? "" : ", ") + quoted(port.name);
    return names;
}

/// Suggested options for all inputs with open shapes: "input_shapes x=1,3,160,160".  Of the usual
/// sizes the first with which the model can be imported; the trials share one budget.
std::string OnnxImporter::missing_shapes() const {
    constexpr uint64_t kMostCopied = uint64_t{1} << 28;
    uint64_t bytes = 0;
    for (const auto& [name, data] : model_.graph.initializers) bytes += data->bytes().size();
    Budget budget = budget_;
    std::vector<NamedShape> first;
    for (const ExampleSize& size : kExampleSizes) {
        std::map<std::string, int64_t> named;
        std::vector<NamedShape> examples;
        for (const OnnxPort& port : model_.graph.inputs)
            if (is_open(port) && given_for(port, options_.input_shapes) == nullptr)
                examples.push_back(example_of(model_.graph, port, size, named));
        if (first.empty()) first = examples;
        if (bytes > kMostCopied) break;
        ImportOptions trial = options_;
        trial.input_shapes.insert(trial.input_shapes.end(), examples.begin(), examples.end());
        if (!OnnxImporter(model_, trial, budget).run().ok()) continue;
        first = std::move(examples);
        break;
    }
    std::string text;
    for (const NamedShape& example : first) {
        text += (text.empty() ? "" : " ") + std::string(options_.shape_flag_name) + " " +
                example.name + "=";
        for (int i = 0; i < example.shape.rank(); ++i)
            text += (i > 0 ? "," : "") + std::to_string(example.shape[i].count);
    }
    return text;
}

/// Finds the element of `given` for this input, by name or by position.
template <class T>
const T* OnnxImporter::given_for(const OnnxPort& port, const std::vector<T>& given) const {
    const auto position = static_cast<size_t>(&port - model_.graph.inputs.data());
    for (size_t i = 0; i < given.size(); ++i)
        if (given[i].name.empty() ? i == position : given[i].name == port.name) return &given[i];
    return nullptr;
}

/// Looks up a name in this graph and the enclosing ones; initializers are added to the trace when
/// they are first read.
Result<OnnxKnown> OnnxImporter::find(Scope& scope, const std::string& name) {
    for (const Scope* s = &scope; s != nullptr; s = s->outer) {
        HEARTH_TRY(budget_.spend(Budget::Of::kVisits, 1 + name.size() / 64));
        if (const auto at = s->values.find(name); at != s->values.end()) return at->second;
        if (s->graph == nullptr) continue;
        if (const auto at = s->graph->initializers.find(name); at != s->graph->initializers.end())
            return initializer(name, at->second, s->graph->int4_initializers.contains(name));
    }
    return invalid_argument("reads " + quoted(name) + ", which no earlier node computes");
}

namespace {

/// The lower four bits of each element in u32 words, from the lowest bits up.
HostTensor int4_words_of(const HostTensor& elements) {
    constexpr int64_t kPerWord = 8;
    HostTensor words(DType::kU32, {Dim((elements.element_count() + kPerWord - 1) / kPerWord)});
    for (int64_t i = 0; i < elements.element_count(); ++i)
        words.as<uint32_t>()[static_cast<size_t>(i / kPerWord)] |=
            static_cast<uint32_t>(elements.get_int(i) & 15) << (i % kPerWord * 4);
    return words;
}

}  // namespace

Result<OnnxKnown> OnnxImporter::initializer(const std::string& name,
                                            const std::shared_ptr<const HostTensor>& data,
                                            bool is_int4) {
    if (const auto at = initializers_.find(data.get()); at != initializers_.end())
        return Known{at->second, {}};
    const bool is_param =
        options_.trainable && is_floating(data->dtype()) && data->shape().rank() > 0;
    if (is_param) HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes, data->bytes().size()));
    // Nested graphs may have initializers of the same name.
    std::string own = options_.prefix + name;
    for (int i = 2; is_param && !param_names_.insert(own).second; ++i)
        own = options_.prefix + name + "#" + std::to_string(i);
    const Init init{Init::Kind::kData, 0, 0, 0, data};
    const Tensor tensor = is_param  ? trace_.param(own, data->shape(), init, data->dtype())
                          : is_int4 ? unpack_elements(trace_.constant(int4_words_of(*data)),
                                                      data->shape(), data->dtype(), 4)
                                    : shared_constant(trace_, data);
    HEARTH_TRY(trace_.status());
    if (is_int4) known_contents_[tensor.value()] = data;
    initializers_[data.get()] = tensor;
    return Known{tensor, {}};
}

Status OnnxImporter::import_nodes(Scope& scope) {
    auto known = needed_.find(scope.graph);
    if (known == needed_.end()) {
        HEARTH_ASSIGN(std::vector<const OnnxNode*> nodes, needed_nodes(*scope.graph));
        known = needed_.emplace(scope.graph, std::move(nodes)).first;
    }
    const std::vector<const OnnxNode*>& needed = known->second;
    for (const OnnxNode* node : needed) {
        HEARTH_TRY(
            budget_.spend(Budget::Of::kVisits, 1 + node->inputs.size() + node->outputs.size()));
        if (Status s = import_node(*node, scope); !s.ok()) return s.with_context(node->label());
    }
    return {};
}

Status OnnxImporter::import_node(const OnnxNode& node, Scope& scope) {
    if (!node.references.empty()) {
        if (scope.call == nullptr)
            return invalid_argument("attribute " + quoted(node.references[0].name) +
                                    " refers to a function's attribute outside a function");
        HEARTH_ASSIGN(const OnnxNode resolved,
                      node.resolved(*scope.call, *scope.defaults, budget_));
        return import_node(resolved, scope);
    }
    Knowns inputs;
    for (const std::string& name : node.inputs) {
        Known known;
        if (!name.empty()) {
            HEARTH_ASSIGN(known, find(scope, name));
        }
        inputs.push_back(std::move(known));
    }
    if (const auto function = model_.functions.find(node.function_key());
        function != model_.functions.end()) {
        HEARTH_ASSIGN(const Knowns outputs, import_function(function->second, node, inputs, scope));
        return define(node, outputs, scope);
    }
    if (is_control(node)) {
        HEARTH_ASSIGN(const Knowns outputs, import_control(node, inputs, scope));
        return define(node, outputs, scope);
    }
    if (handles_lists(node)) {
        HEARTH_ASSIGN(const Knowns outputs, import_list_operator(node, inputs));
        return define(node, outputs, scope);
    }
    for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].sequence)
            return unsupported("input " + std::to_string(i) + " is a sequence of tensors");
    HEARTH_ASSIGN(const Knowns outputs, apply_rule(node, inputs, scope.opset));
    return define(node, outputs, scope);
}

Result<OnnxImporter::Knowns> OnnxImporter::apply_rule(const OnnxNode& node, const Knowns& inputs,
                                                      int opset) {
    std::optional<Extents> bounds = extents_of(node, inputs);
    if (bounds && !bounds->has_bounds()) return Knowns{known_extents(std::move(*bounds))};
    if (bounds && bounds->has_rows()) return Knowns{{{}, std::move(bounds)}};
    if (bounds && (node.op_type == "Shape" || node.op_type == "Size"))
        return Knowns{{used_shape(node, inputs[0].tensor), std::move(bounds)}};
    if (std::optional<Tensor> number = number_of_rows(node, inputs)) return Knowns{{*number, {}}};
    // Loop bodies read their constants in every iteration.
    const auto known_constant = constants_.find(&node);
    if (known_constant != constants_.end()) return Knowns{{known_constant->second, {}}};

    const Graph& graph = trace_.graph();
    const size_t first_value = graph.values.size();
    const size_t first_node = graph.nodes.size();
    HEARTH_ASSIGN(const Knowns operands,
                  paddings_.empty() ? inputs : masked_operands(node, inputs));
    const auto first_own = static_cast<NodeId>(graph.nodes.size());
    RuleNotes notes;
    std::vector<Tensor> results = run_rule(node, operands, opset, notes);
    if (!trace_.status().ok()) return name_unknown(trace_.status(), notes.unknown);
    for (size_t v = first_value; v < graph.values.size(); ++v)
        HEARTH_TRY(check_extents(graph.values[v].shape));
    for (size_t n = first_node; n < graph.nodes.size(); ++n)
        HEARTH_TRY(fold(static_cast<NodeId>(n)));
    HEARTH_TRY(follow_rule(node, inputs, first_own, notes.paddings, results));
    // A node resolved for one call is temporary, and its address may be reused.
    if (node.op_type == "Constant" && !node.is_resolved) constants_[&node] = results[0];
    Knowns outputs;
    for (const Tensor& t : results) outputs.push_back({t, {}});
    if (bounds && outputs.size() == 1) outputs[0].extents = std::move(bounds);
    return outputs;
}

/// Imports a scalar that depends on the batch size and is cast to float, such as the divisor of a
/// mean.
std::optional<Tensor> OnnxImporter::number_of_rows(const OnnxNode& node, const Knowns& inputs) {
    if (node.op_type != "Cast" || !node.domain.empty() || inputs.size() != 1 ||
        !inputs[0].is_symbolic())
        return {};
    const AttrValue* to = node.attrs.find("to");
    const auto* number = to != nullptr ? std::get_if<int64_t>(to) : nullptr;
    const std::optional<DType> dtype = dtype_from_onnx(number != nullptr ? *number : 0);
    const Extents& extents = *inputs[0].extents;
    if (!dtype || !is_floating(*dtype) || extents.dims.size() != 1) return {};
    static const OpDef* const op = find_op("extent");
    const Tensor scalar =
        apply(*op, {}, {{"shape", Shape{extents.dims[0]}}, {"dtype", *dtype}}, &trace_)[0];
    return extents.is_scalar ? scalar : reshape(scalar, {1});
}

Status OnnxImporter::define(const OnnxNode& node, const Knowns& outputs, Scope& scope) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        const std::string& name = node.outputs[i];
        if (name.empty()) continue;
        if (i >= outputs.size())
            return unsupported("output " + std::to_string(i) + " (" + quoted(name) + ")");
        if (scope.values.contains(name) || scope.graph->initializers.contains(name))
            return invalid_argument("computes " + quoted(name) +
                                    ", which is an input or initializer");
        scope.values[name] = outputs[i];
    }
    return {};
}

/// Contents known at import: of constants, initial values of params, and values computed from
/// options.constant_inputs.
const HostTensor* OnnxImporter::contents(ValueId id) const {
    if (id == kInvalidId) return nullptr;
    if (const HostTensor* data = trace_.graph().values[id].data.get()) return data;
    const auto at = known_contents_.find(id);
    return at != known_contents_.end() ? at->second.get() : nullptr;
}

OnnxKnown OnnxImporter::known_extents(Extents extents) {
    if (extents.has_rows()) return {{}, std::move(extents)};
    return {trace_.constant(extents.as_tensor()), {}};
}

/// The node's output as extents, if it is shape arithmetic on the batch size.
std::optional<Extents> OnnxImporter::extents_of(const OnnxNode& node, const Knowns& inputs) const {
    if ((node.op_type == "Shape" || node.op_type == "Size") && inputs.size() == 1 &&
        inputs[0].tensor.ok())
        return shape_of(node, inputs[0].tensor.shape(), paddings_of(inputs[0].tensor.value()));
    if (std::none_of(inputs.begin(), inputs.end(),
                     [](const Known& k) { return k.extents.has_value(); }))
        return {};
    std::vector<std::optional<Extents>> operands;
    for (const Known& k : inputs) {
        const HostTensor* data = contents(k.tensor);
        operands.push_back(k.extents         ? k.extents
                           : data != nullptr ? Extents::from(*data)
                                             : std::nullopt);
    }
    return evaluate_extents(node, operands);
}

std::vector<Tensor> OnnxImporter::run_rule(const OnnxNode& node, const Knowns& known, int opset,
                                           RuleNotes& notes) {
    std::vector<OnnxInput> inputs;
    for (const Known& k : known)
        inputs.push_back({k.tensor, contents(k.tensor),
                          k.is_symbolic() || (k.has_bounds() && takes_bounds(node))
                              ? &k.extents->dims
                              : nullptr});
    OnnxCall call{trace_, node.op_type, opset, node.attrs, inputs, node.outputs.size()};
    const std::string label = label_of(node);
    call.label = label;
    call.bound = bound_of(node);
    call.bound_flag_name = options_.bound_flag_name;
    if (node.domain.empty() && node.op_type == "Constant") return constant(node, call);
    if (node.domain.empty() && node.op_type == "ConstantOfShape")
        return constant_of_shape(node, call);
    const std::optional<OnnxImportRule> rule = find_import_rule(node.rule_name(), opset);
    // Only in a branch: other missing operators were reported before.
    if (!rule && !is_import_builtin(node.rule_name()))
        return call.unsupported("not supported: " + missing_.text());
    if (!rule) return call.invalid("needs one tensor");
    if (!node.odd_attrs.empty() || !node.graphs.empty())
        return call.unsupported(
            "attribute " +
            quoted(node.odd_attrs.empty() ? node.graphs[0].name : node.odd_attrs[0]) +
            " of its kind");
    if (node.rule_name() == "BatchNormalization") freeze_statistics(known);
    if (rule->mapping->import != nullptr) {
        std::vector<Tensor> results = rule->mapping->import(call);
        if (call.unknown_input) notes.unknown = known[*call.unknown_input].tensor;
        notes.paddings = std::move(call.paddings);
        return results;
    }
    Result<Attrs> attrs = attrs_for(*rule->op, node.attrs);
    if (!attrs.ok()) {
        trace_.fail(attrs.status());
        return {};
    }
    const std::vector<Tensor> operands = call.all();
    if (operands.empty()) return call.invalid("has no inputs");
    return apply(*rule->op, operands, std::move(*attrs));
}

/// Turns the inputs of BatchNormalization that training must not change into constants.
void OnnxImporter::freeze_statistics(const Knowns& inputs) {
    constexpr size_t kScale = 1, kMean = 3;
    const bool is_trainable = options_.batch_norm == BatchNormImport::kTrainable;
    for (size_t i = is_trainable ? kMean : kScale; i < inputs.size(); ++i) {
        if (!inputs[i].tensor.ok()) continue;
        Value& value = mutable_graph(trace_).values[inputs[i].tensor.value()];
        if (value.kind != ValueKind::kParam) continue;
        value.kind = ValueKind::kConstant;
        value.name.clear();
    }
}

std::vector<Tensor> OnnxImporter::constant(const OnnxNode& node, OnnxCall& call) {
    for (const NamedTensor& t : node.tensors)
        if (t.name == "value") return {trace_.constant(t.tensor)};
    const auto made = [&](DType dtype, const auto& list, const Shape& shape) {
        HostTensor tensor(dtype, shape);
        for (size_t i = 0; i < list.size(); ++i) {
            if constexpr (std::is_same_v<decltype(list[i]), const int64_t&>)
                tensor.set_int(static_cast<int64_t>(i), list[i]);
            else
                tensor.set(static_cast<int64_t>(i), list[i]);
        }
        return std::vector<Tensor>{trace_.constant(std::move(tensor))};
    };
    const auto length = [](const auto& list) {
        return Shape{Dim(static_cast<int64_t>(list.size()))};
    };
    for (const Attr& a : node.attrs.all()) {
        if (const auto* n = std::get_if<int64_t>(&a.value); n && a.name == "value_int")
            return made(DType::kI64, std::span(n, 1), {});
        if (const auto* x = std::get_if<double>(&a.value); x && a.name == "value_float")
            return made(DType::kF32, std::span(x, 1), {});
        if (const auto* n = std::get_if<std::vector<int64_t>>(&a.value);
            n && a.name == "value_ints")
            return made(DType::kI64, std::span(*n), length(*n));
        if (const auto* x = std::get_if<std::vector<double>>(&a.value);
            x && a.name == "value_floats")
            return made(DType::kF32, std::span(*x), length(*x));
    }
    return call.unsupported("this kind of constant");
}

std::vector<Tensor> OnnxImporter::constant_of_shape(const OnnxNode& node, OnnxCall& call) {
    HostTensor value = HostTensor::scalar(0);
    for (const NamedTensor& t : node.tensors) {
        if (t.name != "value") continue;
        if (t.tensor.element_count() != 1)
            return call.invalid("its value has " + to_string(t.tensor.shape()) +
                                ", expected one element");
        value = t.tensor.reshaped({});
    }
    const std::vector<Dim> dims = call.extents_in(0);
    if (!trace_.status().ok()) return {};
    const std::optional<Shape> shape = call.shape(dims);
    if (!shape) return {};
    const Tensor scalar = trace_.constant(std::move(value));
    return {shape->rank() == 0 ? scalar : expand(scalar, *shape)};
}

/// Constant folding: replaces outputs of a node with constant inputs if they are typical of shape
/// arithmetic: integers, bools, and a few floats (a scale computed from an extent).  If the inputs'
/// contents come from options.constant_inputs, the node stays and its results are only recorded.
Status OnnxImporter::fold(NodeId id) {
    Graph& graph = mutable_graph(trace_);
    const Node& node = graph.nodes[id];
    // Random numbers are not folded, so that they stay visible in the graph; packed elements, so
    // that they stay packed.
    if (node.op->traits.is_random || node.op->traits.unpacks_elements || asks_for_rows(node.attrs))
        return {};
    int64_t read = 1;
    bool is_constant = true;
    std::vector<const HostTensor*> inputs;
    for (ValueId v : node.inputs) {
        if (graph.values[v].kind == ValueKind::kParam) return {};
        is_constant = is_constant && graph.values[v].kind == ValueKind::kConstant;
        inputs.push_back(contents(v));
        if (inputs.back() == nullptr) return {};
        read += inputs.back()->element_count();
    }
    if (read > kMostWork) return {};
    uint64_t work = 0, bytes = 0;
    for (ValueId v : node.outputs) {
        const Value& out = graph.values[v];
        if (out.shape.has_batch()) return {};
        const int64_t count = out.shape.element_count(1);
        if (count > (is_floating(out.dtype) ? kMostFloats : kMostIntegers)) return {};
        // An upper bound for any operator: each output element may read all inputs.
        const bool reads_one = node.op->op_class == OpClass::kElementwise || node.op->is_view;
        const int64_t cost = reads_one ? count + read : count * read;
        if (cost > kMostWork) return {};
        work += static_cast<uint64_t>(cost);
        bytes += static_cast<uint64_t>(count) * size_bytes(out.dtype);
    }
    if (!budget_.allows(Budget::Of::kElements, work) ||
        !budget_.allows(Budget::Of::kCopiedBytes, bytes))
        return {};
    HEARTH_TRY(budget_.spend(Budget::Of::kElements, work));
    HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes, bytes));
    HEARTH_ASSIGN(std::vector<HostTensor> results, evaluate_node(*node.op, node.attrs, inputs));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        auto data = std::make_shared<const HostTensor>(std::move(results[i]));
        if (!is_constant) {
            known_contents_[node.outputs[i]] = std::move(data);
            continue;
        }
        Value& out = graph.values[node.outputs[i]];
        out.kind = ValueKind::kConstant;
        out.node = kInvalidId;
        out.data = std::move(data);
    }
    return {};
}

Status OnnxImporter::name_outputs(Scope& scope) {
    std::unordered_set<ValueId> named;
    std::vector<std::pair<std::string, Tensor>> outputs;
    for (const OnnxPort& port : model_.graph.outputs) {
        Result<Known> known = find(scope, port.name);
        if (!known.ok())
            return invalid_argument("output " + quoted(port.name) + " is not computed by any node");
        if (known->is_symbolic())
            return unsupported("output " + quoted(port.name) +
                               " is the batch size, which is known only when the program runs; "
                               "import with fixed input shapes");
        if (known->is_absent())
            return invalid_argument("output " + quoted(port.name) + " has no value");
        if (known->sequence)
            return unsupported("output " + quoted(port.name) +
                               " is a sequence of tensors; expected a tensor");
        Tensor t = with_clean_padding(known->tensor);
        outputs.emplace_back(port.name, t);
        // Each output needs a value of its own: the application may bind each to a separate buffer.
        const bool is_computed = trace_.graph().producer(t.value()) != nullptr;
        if (!is_computed || !named.insert(t.value()).second) t = identity(t);
        trace_.output(port.name, t);
        HEARTH_TRY(trace_.status());
    }
    return add_counts(outputs);
}

ImportedModel::ImportedModel(std::shared_ptr<const Graph> graph, std::vector<std::string> strings,
                             std::span<const OutputCount> counts)
    : graph_(std::move(graph)), strings_(std::move(strings)) {
    const auto port = [&](std::string_view name, ValueId id) {
        const Value& v = graph_->values[id];
        return TensorSpec{std::string(name), v.dtype, v.shape, {}};
    };
    for (ValueId id : graph_->inputs) inputs_.push_back(port(graph_->values[id].name, id));
    for (const GraphOutput& o : graph_->outputs) outputs_.push_back(port(o.name, o.value));
    for (const OutputCount& c : counts)
        outputs_[c.output].counts.push_back({c.axis, graph_->outputs[c.count].name});
}

std::vector<Tensor> ImportedModel::call(Trace& trace, std::span<const Tensor> inputs) const {
    const std::vector<Tensor> failed(outputs_.size(), Tensor(&trace, kInvalidId));
    if (inputs.size() != inputs_.size()) {
        trace.fail(invalid_argument("model " + quoted(graph_->name) + " takes " +
                                    std::to_string(inputs_.size()) + " inputs, found " +
                                    std::to_string(inputs.size())));
        return failed;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].ok()) return failed;
        if (inputs[i].dtype() == inputs_[i].dtype && inputs[i].shape() == inputs_[i].shape)
            continue;
        trace.fail(invalid_argument(
            "model " + quoted(graph_->name) + ": input " + quoted(inputs_[i].name) + " is " +
            std::string(name_of(inputs_[i].dtype)) + to_string(inputs_[i].shape) + ", found " +
            std::string(name_of(inputs[i].dtype())) + to_string(inputs[i].shape())));
        return failed;
    }
    const std::vector<Tensor> values = replay(*graph_, trace, inputs);
    std::vector<Tensor> outputs;
    for (const GraphOutput& o : graph_->outputs) outputs.push_back(values[o.value]);
    return outputs;
}

Result<ImportedModel> import_onnx(std::span<const std::byte> bytes, const ImportOptions& options) {
    return or_out_of_memory([&]() -> Result<ImportedModel> {
        if (!(options.expansion_limit >= 0))
            return invalid_argument("the budget is " + std::to_string(options.expansion_limit));
        uint64_t size = bytes.size();
        // Input contents from the application count as part of the model's size.
        for (const NamedTensor& value : options.constant_inputs)
            size += value.tensor.bytes().size();
        Budget budget(size, options.expansion_limit);
        HEARTH_ASSIGN(OnnxModel model, read_onnx_model(bytes, options.external_data, budget));
        if (options.batch_norm == BatchNormImport::kFolded) fold_batch_norms(model);
        Result<ImportedModel> imported = OnnxImporter(model, options, budget).run();
        if (!imported.ok())
            return imported.status().with_context("ONNX model " + quoted(model.graph.name));
        return imported;
    });
}

}  // namespace hearth
