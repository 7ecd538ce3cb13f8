// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Turns an ONNX model into a Graph: walks the nodes that the outputs need, in the file's order, and
// asks the operator records (OpDef::onnx) for each.  What depends on constants alone is computed at
// once, so that shape arithmetic leaves no nodes behind.

#include "cpu/interpreter.hpp"
#include "io/onnx_compositions.hpp"
#include "io/onnx_extents.hpp"
#include "io/onnx_model.hpp"
#include "ir/graph.hpp"
#include "ir/onnx_call.hpp"
#include "ir/op_def.hpp"
#include "ir/rewrite.hpp"
#include "ops/op_table.hpp"

#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace hearth {

namespace {

constexpr int kOldestOpset = 7;
constexpr int kNewestOpset = 28;

struct ImportRule {
    const OpDef* op = nullptr;  ///< null for compositions, which have an import function
    const OnnxMapping* mapping = nullptr;
};

/// The record's mapping that was current in `opset`.
std::optional<ImportRule> find_rule(std::string_view op_type, int opset) {
    static const auto rules = [] {
        std::unordered_map<std::string_view, std::vector<ImportRule>> map;
        for (std::span<const OpDef> family : op_families())
            for (const OpDef& op : family)
                for (const OnnxMapping& m : op.onnx) map[m.op_type].push_back({&op, &m});
        for (const OnnxMapping& m : onnx_compositions()) map[m.op_type].push_back({nullptr, &m});
        return map;
    }();
    std::optional<ImportRule> best;
    if (const auto at = rules.find(op_type); at != rules.end())
        for (const ImportRule& rule : at->second)
            if (rule.mapping->since_opset <= opset &&
                (!best || best->mapping->since_opset < rule.mapping->since_opset))
                best = rule;
    return best;
}

/// Whether the importer itself gives the node's outputs: they are known without computing.
bool is_builtin(std::string_view op_type) {
    return op_type == "Constant" || op_type == "ConstantOfShape" || op_type == "Shape" ||
           op_type == "Size";
}

/// The node's attributes as those of the record: the same names, types as the record has them.
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

class Importer {
  public:
    Importer(const OnnxModel& model, const ImportOptions& options)
        : model_(model), options_(options), trace_(model.name.empty() ? "model" : model.name) {}

    Result<ImportedModel> run() {
        HEARTH_TRY(find_needed());
        HEARTH_TRY(check_supported());
        HEARTH_TRY(declare_inputs());
        for (const OnnxNode* node : needed_)
            if (Status s = import_node(*node); !s.ok()) return s.in(node->label());
        HEARTH_TRY(name_outputs());
        HEARTH_ASSIGN(Graph graph, trace_.finish());
        Status fits = fits_device(graph);
        return ImportedModel(std::make_shared<const Graph>(std::move(graph)), std::move(fits));
    }

  private:
    /// What an ONNX name stands for.
    struct Known {
        Tensor tensor;
        std::optional<Extents> extents;  ///< in place of the tensor, when they depend on rows
    };

    /// Collects the nodes that the outputs depend on, in the file's order.
    Status find_needed() {
        std::unordered_map<std::string_view, size_t> producer;
        for (size_t n = 0; n < model_.nodes.size(); ++n)
            for (const std::string& out : model_.nodes[n].outputs)
                if (!out.empty() && !producer.emplace(out, n).second)
                    return invalid_argument(model_.nodes[n].label() + " computes " + quoted(out) +
                                            ", which another node computes too");
        std::vector<bool> is_needed(model_.nodes.size());
        std::vector<size_t> open;
        const auto need = [&](std::string_view name) {
            const auto at = producer.find(name);
            if (at == producer.end() || is_needed[at->second]) return;
            is_needed[at->second] = true;
            open.push_back(at->second);
        };
        for (const OnnxPort& port : model_.outputs) need(port.name);
        while (!open.empty()) {
            const size_t n = open.back();
            open.pop_back();
            for (const std::string& in : model_.nodes[n].inputs) need(in);
        }
        for (size_t n = 0; n < model_.nodes.size(); ++n)
            if (is_needed[n]) needed_.push_back(&model_.nodes[n]);
        return {};
    }

    /// One message with all that is missing.
    Status check_supported() const {
        std::map<std::string, std::vector<std::string>> missing;  // operator -> nodes
        for (const OnnxNode* node : needed_)
            if (!node->domain.empty())
                missing[node->domain + "." + node->op_type].push_back(node->name);
            else if (!is_builtin(node->op_type) && !find_rule(node->op_type, model_.opset))
                missing[node->op_type].push_back(node->name);
        if (model_.opset > kNewestOpset || model_.opset < kOldestOpset)
            return unsupported("operator set " + std::to_string(model_.opset) + "; known are " +
                               std::to_string(kOldestOpset) + " to " +
                               std::to_string(kNewestOpset));
        std::string text;
        for (const auto& [op, nodes] : missing) {
            text += (text.empty() ? "operator " : ", operator ") + op + " (";
            text += std::to_string(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes");
            constexpr size_t kMostNames = 4;
            std::string names;
            for (size_t i = 0; i < std::min(nodes.size(), kMostNames); ++i)
                if (!nodes[i].empty()) names += (names.empty() ? ": " : ", ") + quoted(nodes[i]);
            text += names + (nodes.size() > kMostNames && !names.empty() ? ", ...)" : ")");
        }
        for (const std::string& what : model_.unsupported)
            text += (text.empty() ? "" : ", ") + what;
        return text.empty() ? Status() : unsupported("not supported: " + text);
    }

    Status declare_inputs() {
        const OnnxDim* leading = nullptr;  // the unknown extent that stands for rows
        for (const NamedShape& given : options_.input_shapes)
            if (!given.name.empty() &&
                std::none_of(model_.inputs.begin(), model_.inputs.end(),
                             [&](const OnnxPort& p) { return p.name == given.name; }))
                return not_found("input_shapes names " + quoted(given.name) +
                                 ", which is no input of the model");
        for (const OnnxPort& port : model_.inputs) {
            const NamedShape* given = given_for(port, options_.input_shapes);
            Shape shape;
            if (given != nullptr) {
                shape = given->shape;
                HEARTH_TRY(check_given(port, shape));
            } else {
                HEARTH_ASSIGN(shape, declared_shape(port, leading));
            }
            if (Status s = check_extents(shape); !s.ok()) return s.in("input " + quoted(port.name));
            const Tensor input = trace_.input(port.name, shape, port.dtype);
            HEARTH_TRY(trace_.status());
            values_[port.name] = {input, {}};
            const NamedTensor* value = given_for(port, options_.input_values);
            if (value != nullptr && value->tensor.dtype() == port.dtype &&
                value->tensor.shape() == shape)
                known_contents_[input.value()] = std::make_shared<const HostTensor>(value->tensor);
        }
        return {};
    }

    /// The entry of `given` for this input, by name or by position.
    template <class T>
    const T* given_for(const OnnxPort& port, const std::vector<T>& given) const {
        const auto position = static_cast<size_t>(&port - model_.inputs.data());
        for (size_t i = 0; i < given.size(); ++i)
            if (given[i].name.empty() ? i == position : given[i].name == port.name)
                return &given[i];
        return nullptr;
    }

    static Status check_given(const OnnxPort& port, const Shape& given) {
        if (!port.has_shape) return {};
        bool fits = given.rank() == static_cast<int>(port.dims.size());
        std::string declared;
        for (size_t i = 0; i < port.dims.size(); ++i) {
            const OnnxDim& d = port.dims[i];
            if (fits && d.count >= 0 && given[static_cast<int>(i)] != Dim(d.count)) fits = false;
            declared += (i > 0 ? ", " : "") + (d.count >= 0     ? std::to_string(d.count)
                                               : d.name.empty() ? "?"
                                                                : d.name);
        }
        if (fits) return {};
        return invalid_argument("input " + quoted(port.name) + " is [" + declared +
                                "] in the model, input_shapes has " + to_string(given));
    }

    static Result<Shape> declared_shape(const OnnxPort& port, const OnnxDim*& leading) {
        const std::string what = "input " + quoted(port.name);
        if (!port.has_shape)
            return invalid_argument(what + " has no shape in the model; give input_shapes");
        Shape shape;
        for (const OnnxDim& d : port.dims) {
            if (d.count >= 0) {
                shape.push_back(Dim(d.count));
                continue;
            }
            const std::string name = d.name.empty() ? "unknown" : quoted(d.name);
            if (shape.rank() > 0)
                return invalid_argument(what + " has the extent " + name + " at axis " +
                                        std::to_string(shape.rank()) +
                                        "; only the first may be left open: give input_shapes");
            if (leading != nullptr && leading->name != d.name && !d.name.empty() &&
                !leading->name.empty())
                return invalid_argument(what + " has the leading extent " + name +
                                        ", another input has " + quoted(leading->name) +
                                        "; only one number of rows can be open: give input_shapes");
            if (leading == nullptr || leading->name.empty()) leading = &d;
            shape.push_back(kRows);
        }
        return shape;
    }

    /// The value with this name; initializers enter the trace when they are first read.
    Result<Known> find(const std::string& name) {
        if (const auto at = values_.find(name); at != values_.end()) return at->second;
        const auto at = model_.initializers.find(name);
        if (at == model_.initializers.end())
            return invalid_argument("reads " + quoted(name) + ", which nothing before it computes");
        const HostTensor& data = at->second;
        const bool is_param =
            options_.trainable && is_floating(data.dtype()) && data.shape().rank() > 0;
        const Tensor tensor = is_param ? trace_.param(options_.prefix + name, data.shape(),
                                                      Init::from(data), data.dtype())
                                       : trace_.constant(data);
        HEARTH_TRY(trace_.status());
        return values_[name] = {tensor, {}};
    }

    /// Contents that are known at import: of constants, the first ones of params, and what follows
    /// from options.input_values.
    const HostTensor* contents(ValueId id) const {
        if (id == kNone) return nullptr;
        if (const HostTensor* data = trace_.graph().values[id].data.get()) return data;
        const auto at = known_contents_.find(id);
        return at != known_contents_.end() ? at->second.get() : nullptr;
    }
    const HostTensor* contents(const Tensor& tensor) const { return contents(tensor.value()); }

    Status import_node(const OnnxNode& node) {
        std::vector<Known> inputs;
        for (const std::string& name : node.inputs) {
            if (name.empty()) {
                inputs.emplace_back();
                continue;
            }
            HEARTH_ASSIGN(Known known, find(name));
            inputs.push_back(std::move(known));
        }
        if (std::optional<Extents> extents = extents_of(node, inputs))
            return define(node, std::vector{known_extents(std::move(*extents))});

        const Graph& graph = trace_.graph();
        const size_t first_value = graph.values.size();
        const size_t first_node = graph.nodes.size();
        const std::vector<Tensor> results = run_rule(node, inputs);
        HEARTH_TRY(trace_.status());
        for (size_t v = first_value; v < graph.values.size(); ++v)
            HEARTH_TRY(check_extents(graph.values[v].shape));
        for (size_t n = first_node; n < graph.nodes.size(); ++n)
            HEARTH_TRY(fold(static_cast<NodeId>(n)));
        std::vector<Known> outputs;
        for (const Tensor& t : results) outputs.push_back({t, {}});
        return define(node, outputs);
    }

    Status define(const OnnxNode& node, std::span<const Known> outputs) {
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i].empty()) continue;
            if (i >= outputs.size())
                return unsupported("output " + std::to_string(i) + " (" + quoted(node.outputs[i]) +
                                   ")");
            if (values_.contains(node.outputs[i]) || model_.initializers.contains(node.outputs[i]))
                return invalid_argument("computes " + quoted(node.outputs[i]) +
                                        ", which is an input or initializer");
            values_[node.outputs[i]] = outputs[i];
        }
        return {};
    }

    Known known_extents(Extents extents) {
        if (extents.has_rows()) return {{}, std::move(extents)};
        return {trace_.constant(extents.as_tensor()), {}};
    }

    /// The node's output, if it is shape arithmetic on rows.
    std::optional<Extents> extents_of(const OnnxNode& node, std::span<const Known> inputs) const {
        if ((node.op_type == "Shape" || node.op_type == "Size") && inputs.size() == 1 &&
            inputs[0].tensor.ok())
            return node.op_type == "Shape" ? shape_of(node, inputs[0].tensor.shape())
                                           : size_of(inputs[0].tensor.shape());
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

    static Extents shape_of(const OnnxNode& node, const Shape& shape) {
        const auto bound = [&](std::string_view name, int64_t fallback) {
            const AttrValue* attr = node.attrs.find(name);
            const int64_t* n = attr != nullptr ? std::get_if<int64_t>(attr) : nullptr;
            const int64_t at = n == nullptr ? fallback : *n < 0 ? *n + shape.rank() : *n;
            return std::clamp<int64_t>(at, 0, shape.rank());
        };
        Extents out;
        for (int64_t i = bound("start", 0); i < bound("end", shape.rank()); ++i)
            out.dims.push_back(shape[static_cast<int>(i)]);
        return out;
    }

    static Extents size_of(const Shape& shape) { return {{shape.element_count()}, true}; }

    std::vector<Tensor> run_rule(const OnnxNode& node, std::span<const Known> known) {
        std::vector<OnnxInput> inputs;
        for (const Known& k : known)
            inputs.push_back(
                {k.tensor, contents(k.tensor), k.extents ? &k.extents->dims : nullptr});
        OnnxCall call{trace_, node.op_type, model_.opset, node.attrs, inputs, node.outputs.size()};
        if (node.op_type == "Constant") return constant(node, call);
        if (node.op_type == "ConstantOfShape") return constant_of_shape(node, call);
        if (is_builtin(node.op_type)) return call.invalid("needs one tensor");
        if (!node.odd_attrs.empty())
            return call.unsupported("attribute " + quoted(node.odd_attrs[0]) + " of its kind");
        const std::optional<ImportRule> rule = find_rule(node.op_type, model_.opset);
        if (rule->mapping->import != nullptr) return rule->mapping->import(call);
        Result<Attrs> attrs = attrs_for(*rule->op, node.attrs);
        if (!attrs.ok()) {
            trace_.fail(attrs.status());
            return {};
        }
        const std::vector<Tensor> operands = call.all();
        if (operands.empty()) return call.invalid("has no inputs");
        return apply(*rule->op, operands, std::move(*attrs));
    }

    std::vector<Tensor> constant(const OnnxNode& node, OnnxCall& call) {
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
        return call.unsupported("a constant of this kind");
    }

    std::vector<Tensor> constant_of_shape(const OnnxNode& node, OnnxCall& call) {
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

    // A model must not make import slow or large: beyond these, constants are computed when it
    // runs.
    static constexpr int64_t kMostIntegers = 1 << 20;
    static constexpr int64_t kMostFloats = 64;
    static constexpr int64_t kMostWork = 1 << 24;

    /// Replaces the outputs of a node on constants by constants, where they are what shapes are
    /// made of: integers, bools, and a few floats (a scale computed from an extent).  Where they
    /// follow from given contents of inputs, the node stays and its results are only noted.
    Status fold(NodeId id) {
        Graph& graph = trace_.graph();
        const Node& node = graph.nodes[id];
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
        for (ValueId v : node.outputs) {
            const Value& out = graph.values[v];
            if (out.shape.has_rows()) return {};
            const int64_t count = out.shape.element_count(1);
            if (count > (is_floating(out.dtype) ? kMostFloats : kMostIntegers)) return {};
            // An upper bound for any operator: each output element may read all inputs.
            const bool reads_one = node.op->op_class == OpClass::kElementwise || node.op->is_view;
            if (!reads_one && count * read > kMostWork) return {};
        }
        HEARTH_ASSIGN(std::vector<HostTensor> results, evaluate_node(*node.op, node.attrs, inputs));
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            auto data = std::make_shared<const HostTensor>(std::move(results[i]));
            if (!is_constant) {
                known_contents_[node.outputs[i]] = std::move(data);
                continue;
            }
            Value& out = graph.values[node.outputs[i]];
            out.kind = ValueKind::kConstant;
            out.node = kNone;
            out.data = std::move(data);
        }
        return {};
    }

    Status name_outputs() {
        std::unordered_set<ValueId> named;
        for (const OnnxPort& port : model_.outputs) {
            Result<Known> known = find(port.name);
            if (!known.ok())
                return invalid_argument("output " + quoted(port.name) + " is computed by no node");
            if (known->extents)
                return unsupported("output " + quoted(port.name) +
                                   " is the number of rows, which is known only when the program "
                                   "runs; import with fixed input shapes");
            Tensor t = known->tensor;
            // Each output is a value of its own: the host may bind each to other memory.
            const bool is_computed = trace_.graph().producer(t.value()) != nullptr;
            if (!is_computed || !named.insert(t.value()).second) t = identity(t);
            trace_.output(port.name, t);
            HEARTH_TRY(trace_.status());
        }
        return {};
    }

    /// On a device, 64-bit integers are held in 32 bits.
    static Status fits_device(const Graph& graph) {
        for (const Value& v : graph.values) {
            if (!v.data || (v.dtype != DType::kI64 && v.dtype != DType::kU64)) continue;
            for (int64_t i = 0; i < v.data->element_count(); ++i) {
                const int64_t n = v.data->get_int(i);
                if (v.dtype == DType::kI64 ? n != static_cast<int32_t>(n)
                                           : n != static_cast<int64_t>(static_cast<uint32_t>(n)))
                    return unsupported("a constant holds " + std::to_string(n) +
                                       ", beyond the 32 bits that integers have on a device");
            }
        }
        return {};
    }

    const OnnxModel& model_;
    const ImportOptions& options_;
    Trace trace_;
    std::vector<const OnnxNode*> needed_;
    std::unordered_map<std::string, Known> values_;
    std::unordered_map<ValueId, std::shared_ptr<const HostTensor>> known_contents_;
};

}  // namespace

ImportedModel::ImportedModel(std::shared_ptr<const Graph> graph, Status fits_device)
    : graph_(std::move(graph)), fits_device_(std::move(fits_device)) {
    const auto port = [&](std::string_view name, ValueId id) {
        const Value& v = graph_->values[id];
        return ModelPort{std::string(name), v.dtype, v.shape};
    };
    for (ValueId id : graph_->inputs) inputs_.push_back(port(graph_->values[id].name, id));
    for (const GraphOutput& o : graph_->outputs) outputs_.push_back(port(o.name, o.value));
}

std::vector<Tensor> ImportedModel::apply(Trace& trace, std::span<const Tensor> inputs) const {
    const std::vector<Tensor> failed(outputs_.size(), Tensor(&trace, kNone));
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
    HEARTH_ASSIGN(const OnnxModel model, read_onnx_model(bytes));
    Result<ImportedModel> imported = Importer(model, options).run();
    if (!imported.ok()) return imported.status().in("ONNX model " + quoted(model.name));
    return imported;
}

}  // namespace hearth
