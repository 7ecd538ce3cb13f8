// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matches groups of nodes that ONNX has a single operator for.

#include "import/onnx/onnx_export_groups.hpp"

#include "compiler/ops/onnx/onnx_export.hpp"

#include <algorithm>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Names = OnnxNodes::Names;

bool is_single_or_half(DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kF16;
}

/// True if the (ascending) axes are all axes from `first` on.
bool are_trailing(const List& axes, int rank, int first) {
    if (static_cast<int>(axes.size()) != rank - first) return false;
    for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != first + static_cast<int>(i)) return false;
    return true;
}

Shape trailing_shape(const Shape& shape, int first) {
    Shape trailing;
    for (int i = first; i < shape.rank(); ++i) trailing.push_back(shape[i]);
    return trailing;
}

/// [channels, 1, ...], which broadcasts along axis 1 of x.
Shape per_channel_shape(const Shape& x) {
    Shape shape{x[1]};
    for (int i = 2; i < x.rank(); ++i) shape.push_back(Dim(1));
    return shape;
}

HostTensor filled(DType dtype, const Shape& shape, double value) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, value);
    return t;
}

/// Input k, or a constant tensor of this shape filled with `value` if it is absent.
std::string input_or(OnnxExportCall& c, size_t k, const Shape& shape, double value) {
    return c.in(k).empty() ? c.to.constant(filled(c.dtype(0), shape, value)) : c.in(k);
}

// x, scale, bias
bool write_layer_normalization(OnnxExportCall& c) {
    const int64_t axis = c.attrs().integers("axes")[0];
    const Shape shape = trailing_shape(c.shape(0), static_cast<int>(axis));
    Names inputs{c.in(0), input_or(c, 1, shape, 1)};
    if (!c.in(2).empty()) inputs.push_back(c.in(2));
    c.write("LayerNormalization", inputs, {{"axis", axis}, {"epsilon", c.attrs().real("epsilon")}});
    return true;
}

// x, scale, bias
bool write_instance_normalization(OnnxExportCall& c) {
    const Shape channels{c.shape(0)[1]};
    c.write("InstanceNormalization",
            {c.in(0), input_or(c, 1, channels, 1), input_or(c, 2, channels, 0)},
            {{"epsilon", c.attrs().real("epsilon")}});
    return true;
}

// x, scale, bias, mean, variance
bool write_batch_normalization(OnnxExportCall& c) {
    const Shape channels{c.shape(0)[1]};
    c.write("BatchNormalization",
            {c.in(0), input_or(c, 1, channels, 1), input_or(c, 2, channels, 0), c.in(3), c.in(4)},
            {{"epsilon", c.attrs().real("epsilon")}});
    return true;
}

class Finder {
  public:
    explicit Finder(const Graph& graph)
        : graph_(graph), readers_(readers_of(graph)), leaves_(leaves_graph(graph)) {}

    std::unordered_map<NodeId, OnnxGroup> run() {
        std::unordered_map<NodeId, OnnxGroup> groups;
        std::vector<bool> is_taken(graph_.nodes.size());
        // Backwards, so that the larger of two nested groups is found first.
        for (auto id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
            if (is_taken[id]) continue;
            absorbed_.clear();
            std::optional<OnnxGroup> group = group_at(graph_.nodes[id]);
            if (!group) continue;
            group->absorbed = absorbed_;
            for (NodeId each : absorbed_) is_taken[each] = true;
            groups.emplace(id, std::move(*group));
        }
        return groups;
    }

  private:
    std::optional<OnnxGroup> group_at(const Node& last) {
        const std::string_view name = last.op->name;
        std::optional<OnnxGroup> group;
        if (name == "add" && (group = biased(last))) return group;
        absorbed_.clear();
        if (name == "add" || name == "mul" || name == "normalize" || name == "standardize")
            return normalization(last);
        if (name == "div" && (group = mean(last))) return group;
        absorbed_.clear();
        if (name == "div") return average_pool(last);
        return {};
    }

    const Shape& shape(ValueId v) const { return graph_.values[v].shape; }
    DType dtype(ValueId v) const { return graph_.values[v].dtype; }

    /// Returns the node that computes v, and absorbs it, if it is this operator and has no other
    /// reader.
    const Node* only(ValueId v, std::string_view name) {
        const Node* node = graph_.producer(v);
        if (node == nullptr || node->op->name != name || leaves_[v] || readers_[v].size() != 1)
            return nullptr;
        absorbed_.push_back(graph_.values[v].node);
        return node;
    }

    NodeId id_of(const Node& node) const { return graph_.values[node.outputs[0]].node; }

    /// Returns the [channels] vector that v broadcasts over x: v itself if x has rank 2 or v is
    /// constant, otherwise the vector that v is a reshape of; or kNone.
    ValueId channels_of(ValueId v, const Shape& x) {
        if (x.rank() < 2 || x[1].is_batch) return kInvalidId;
        const Shape channels{x[1]};
        if (x.rank() == 2) return shape(v) == channels ? v : kInvalidId;
        if (shape(v) != per_channel_shape(x)) return kInvalidId;
        if (graph_.values[v].kind == ValueKind::kConstant) return v;
        const Node* view = graph_.producer(v);
        if (view == nullptr || !view->op->is_reshape || shape(view->inputs[0]) != channels)
            return kInvalidId;
        only(v, "reshape");
        return view->inputs[0];
    }

    // --- Matrix product or convolution with bias

    std::optional<OnnxGroup> biased(const Node& add) {
        for (size_t k : {0, 1}) {
            const ValueId y = add.inputs[k], bias = add.inputs[1 - k];
            for (const char* name : {"matmul", "conv", "conv_transpose"}) {
                const size_t before = absorbed_.size();
                const Node* core = only(y, name);
                if (core == nullptr) continue;
                const ValueId b = bias_of(*core, bias);
                if (b != kInvalidId)
                    return OnnxGroup{id_of(*core),
                                     {core->inputs[0], core->inputs[1], b},
                                     2,
                                     {},
                                     export_rule(*core->op)};
                absorbed_.resize(before);
            }
        }
        return {};
    }

    /// The operand that Gemm or Conv can take as bias, or kNone.
    ValueId bias_of(const Node& core, ValueId bias) {
        const Shape& y = shape(core.outputs[0]);
        if (!is_floating(dtype(core.outputs[0]))) return kInvalidId;
        if (core.op->op_class != OpClass::kMatmul) return channels_of(bias, y);
        const bool is_gemm = y.rank() == 2 && shape(core.inputs[0]).rank() == 2 &&
                             shape(core.inputs[1]).rank() == 2 && !core.attrs.flag("wide") &&
                             !y[1].is_batch;
        return is_gemm && shape(bias) == Shape{y[1]} ? bias : kInvalidId;
    }

    // --- Normalizations

    /// y * scale + bias; scale and bias are optional.
    struct Scaled {
        const Node* core = nullptr;
        ValueId scale = kInvalidId, bias = kInvalidId;
    };

    std::optional<OnnxGroup> normalization(const Node& last) {
        for (const char* name : {"normalize", "standardize"}) {
            absorbed_.clear();
            const Scaled s = scaled(last, name);
            if (s.core == nullptr) continue;
            const std::vector<NodeId> seen = absorbed_;
            std::optional<OnnxGroup> group;
            if (std::string_view(name) == "standardize") return batch(s);
            if ((group = layer(s))) return group;
            absorbed_ = seen;
            return instance(s);
        }
        return {};
    }

    Scaled scaled(const Node& last, std::string_view name) {
        if (last.op->name == name) return {&last, kInvalidId, kInvalidId};
        Scaled found;
        const bool has_bias = last.op->name == "add";
        for (size_t k : {0, 1}) {
            const ValueId part = last.inputs[k], other = last.inputs[1 - k];
            if ((found.core = only(part, name)) != nullptr) {
                (has_bias ? found.bias : found.scale) = other;
                return found;
            }
            const Node* mul = has_bias ? only(part, "mul") : nullptr;
            if (mul == nullptr) continue;
            for (size_t m : {0, 1})
                if ((found.core = only(mul->inputs[m], name)) != nullptr) {
                    found.scale = mul->inputs[1 - m];
                    found.bias = other;
                    return found;
                }
            absorbed_.pop_back();
        }
        return {};
    }

    std::optional<OnnxGroup> layer(const Scaled& s) {
        const ValueId x = s.core->inputs[0];
        if (!is_layer_normalization(s.core->attrs, dtype(x), shape(x))) return {};
        const Shape wanted =
            trailing_shape(shape(x), static_cast<int>(s.core->attrs.integers("axes")[0]));
        for (ValueId v : {s.scale, s.bias})
            if (v != kInvalidId && (shape(v) != wanted || dtype(v) != dtype(x))) return {};
        return OnnxGroup{
            id_of(*s.core), {x, s.scale, s.bias}, SIZE_MAX, {}, write_layer_normalization};
    }

    std::optional<OnnxGroup> instance(const Scaled& s) {
        const ValueId x = s.core->inputs[0];
        const Shape& in = shape(x);
        if (in.rank() < 3 || !s.core->attrs.flag("centred") || !is_single_or_half(dtype(x)) ||
            !are_trailing(s.core->attrs.integers("axes"), in.rank(), 2))
            return {};
        return per_channel(s, {}, write_instance_normalization);
    }

    std::optional<OnnxGroup> batch(const Scaled& s) {
        const ValueId x = s.core->inputs[0];
        if (!is_single_or_half(dtype(x)) || shape(s.core->outputs[0]) != shape(x)) return {};
        std::vector<ValueId> moments;
        for (size_t k : {1, 2}) {
            moments.push_back(channels_of(s.core->inputs[k], shape(x)));
            if (moments.back() == kInvalidId) return {};
        }
        return per_channel(s, moments, write_batch_normalization);
    }

    std::optional<OnnxGroup> per_channel(const Scaled& s, const std::vector<ValueId>& more,
                                         bool (*write)(OnnxExportCall&)) {
        const ValueId x = s.core->inputs[0];
        OnnxGroup group{id_of(*s.core), {x}, 1, {}, write};
        for (ValueId v : {s.scale, s.bias}) {
            const ValueId channels = v == kInvalidId ? kInvalidId : channels_of(v, shape(x));
            if (v != kInvalidId && (channels == kInvalidId || dtype(v) != dtype(x))) return {};
            group.inputs.push_back(channels);
        }
        group.inputs.insert(group.inputs.end(), more.begin(), more.end());
        return group;
    }

    // --- Means

    /// True if v is this number of elements, which may be a multiple of the batch size.
    bool is_count(ValueId v, Dim count) const {
        const Value& value = graph_.values[v];
        if (!count.is_batch)
            return value.kind == ValueKind::kConstant && value.data && value.shape.rank() == 0 &&
                   value.data->get(0) == static_cast<double>(count.count);
        const Node* node = graph_.producer(v);
        if (node == nullptr || node->op->name != "extent") return false;
        const Shape& counted = node->attrs.shape("shape");
        return counted.rank() == 1 && counted[0] == count;
    }

    // Matches sum / count, with or without the reduced axes.
    std::optional<OnnxGroup> mean(const Node& div) {
        const ValueId total = div.inputs[0];
        const Node* view = only(total, "reshape");
        const Node* sum = only(view != nullptr ? view->inputs[0] : total, "reduce_sum");
        if (sum == nullptr || !is_floating(dtype(sum->inputs[0]))) return {};
        const Shape& x = shape(sum->inputs[0]);
        const List axes = sum->attrs.integers("axes");
        Dim count(1);
        Shape rest;
        for (int i = 0; i < x.rank(); ++i) {
            if (std::ranges::find(axes, i) == axes.end())
                rest.push_back(x[i]);
            else
                count = Dim(count.count * x[i].count, count.is_batch || x[i].is_batch);
        }
        if (axes.empty() || !is_count(div.inputs[1], count) ||
            (view != nullptr && shape(total) != rest))
            return {};
        if (count.is_batch) only(div.inputs[1], "extent");
        const bool keeps = view == nullptr;
        return OnnxGroup{
            id_of(*sum), {sum->inputs[0]}, SIZE_MAX, {}, [axes, keeps](OnnxExportCall& c) {
                c.write("ReduceMean", {c.in(0), c.to.list(axes)}, {{"keepdims", int64_t{keeps}}});
                return true;
            }};
    }

    std::optional<OnnxGroup> average_pool(const Node& div) {
        const Node* sum = only(div.inputs[0], "window_sum");
        if (sum == nullptr || !is_floating(dtype(sum->inputs[0]))) return {};
        int64_t elements = 1;
        for (int64_t k : sum->attrs.integers("kernel")) elements *= k;
        if (!is_count(div.inputs[1], Dim(elements))) return {};
        if (!onnx_export::is_average_pool(sum->attrs, shape(sum->inputs[0]),
                                          shape(sum->outputs[0])))
            return {};
        return OnnxGroup{
            id_of(*sum), {sum->inputs[0]}, SIZE_MAX, {}, onnx_export::write_average_pool};
    }

    const Graph& graph_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<bool> leaves_;
    std::vector<NodeId> absorbed_;  ///< by the group that is being matched
};

}  // namespace

bool is_layer_normalization(const Attrs& attrs, DType dtype, const Shape& x) {
    const List& axes = attrs.integers("axes");
    if (axes.empty() || !attrs.flag("centred") || !is_single_or_half(dtype)) return false;
    return are_trailing(axes, x.rank(), static_cast<int>(axes[0])) &&
           !trailing_shape(x, static_cast<int>(axes[0])).has_batch();
}

OnnxExportRule export_rule(const OpDef& op) {
    if (op.onnx_export != nullptr) return op.onnx_export;
    return op.onnx.size() > 0 && op.onnx[0].import == nullptr ? onnx_export::same : nullptr;
}

std::unordered_map<NodeId, OnnxGroup> find_onnx_groups(const Graph& graph) {
    return Finder(graph).run();
}

}  // namespace hearth
