// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Extents that depend on data.  Shapes of a program are fixed, so such an extent is a bound, and the
// elements from the used count on are padding.  This file carries the counts from operands to
// results, masks padding where an operator would mix it into its result, and refuses the others.

#include "import/onnx/onnx_compositions.hpp"
#include "import/onnx/onnx_importer.hpp"

#include <hearth/ops.hpp>

#include <algorithm>
#include <limits>

namespace hearth {

namespace {

using Knowns = std::vector<OnnxKnown>;

// --- Masks ---

/// Value of padding that leaves an operator's result unchanged.
enum class Fill : uint8_t { kZero, kOne, kLowest, kHighest, kOutOfRange };

struct MaskRule {
    std::string_view op_type;
    size_t input;
    Fill fill;
};

constexpr MaskRule kMaskRules[] = {
    {"ArgMax", 0, Fill::kLowest},
    {"ArgMin", 0, Fill::kHighest},
    {"Compress", 1, Fill::kZero},
    {"CumSum", 0, Fill::kZero},
    {"Gemm", 0, Fill::kZero},
    {"Gemm", 1, Fill::kZero},
    {"LogSoftmax", 0, Fill::kLowest},
    {"MatMul", 0, Fill::kZero},
    {"MatMul", 1, Fill::kZero},
    {"NonMaxSuppression", 1, Fill::kLowest},
    {"NonZero", 0, Fill::kZero},
    {"ReduceL1", 0, Fill::kZero},
    {"ReduceL2", 0, Fill::kZero},
    {"ReduceLogSum", 0, Fill::kZero},
    {"ReduceLogSumExp", 0, Fill::kLowest},
    {"ReduceMax", 0, Fill::kLowest},
    {"ReduceMean", 0, Fill::kZero},
    {"ReduceMin", 0, Fill::kHighest},
    {"ReduceProd", 0, Fill::kOne},
    {"ReduceSum", 0, Fill::kZero},
    {"ReduceSumSquare", 0, Fill::kZero},
    {"ScatterElements", 1, Fill::kOutOfRange},
    {"ScatterND", 1, Fill::kOutOfRange},
    {"Softmax", 0, Fill::kLowest},
    {"TopK", 0, Fill::kLowest},
};

Tensor with_padding(const Tensor& x, const OnnxPaddings& paddings, Fill fill) {
    Trace& trace = *x.trace();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const bool is_extreme = fill == Fill::kLowest || fill == Fill::kHighest;
    Tensor result = x;
    for (const auto& [axis, count] : paddings) {
        const Tensor is_used = used_elements(x.shape(), axis, count);
        if (is_extreme && !is_floating(x.dtype())) {
            // The first element, which is in use, changes no extremum.
            result = where(is_used, result, slice(result, axis, 0, 1));
            continue;
        }
        const double value = fill == Fill::kZero      ? 0
                             : fill == Fill::kOne     ? 1
                             : fill == Fill::kLowest  ? -kInfinity
                             : fill == Fill::kHighest ? kInfinity
                                                      : INT32_MAX;
        result = where(is_used, result, trace.constant(value, x.dtype()));
    }
    return result;
}

// --- Axes of results ---

/// Paddings of an operand whose axes are the result's last ones.
void add_broadcast(const Shape& from, const OnnxPaddings& paddings, const Shape& to,
                   OnnxPaddings& result) {
    for (const auto& [axis, count] : paddings) {
        const int place = axis + to.rank() - from.rank();
        if (from[axis] == to[place]) result.emplace(place, count);
    }
}

/// The axis of `to` that has the elements of `axis` of `from`, or -1.
int axis_after_reshape(const Shape& from, int axis, const Shape& to) {
    const auto before = [](const Shape& shape, int end) {
        Dim product(1);
        for (int i = 0; i < end; ++i) {
            product.count *= shape[i].count;
            product.is_batch = product.is_batch || shape[i].is_batch;
        }
        return product;
    };
    for (int i = 0; i < to.rank(); ++i)
        if (to[i] == from[axis] && before(to, i) == before(from, axis)) return i;
    return -1;
}

bool contains(const std::vector<int64_t>& axes, int axis) {
    return std::ranges::find(axes, axis) != axes.end();
}

Status mixes(const Node& node, const Shape& shape, int axis) {
    return unsupported("the number of elements along axis " + std::to_string(axis) +
                       " of its operand " + to_string(shape) + " depends on data (at most " +
                       to_string(shape[axis]) + "), and " + std::string(node.op->name) +
                       " would mix in the padding; end the model at this operand and compute the "
                       "rest in the application");
}

/// Axes along which an operator mixes elements, with a result of the operand's shape.
std::optional<std::vector<int64_t>> mixed_axes(const Node& node) {
    static constexpr std::string_view kOfOneAxis[] = {"softmax", "log_softmax", "argsort", "cumsum",
                                                      "cumprod"};
    static constexpr std::string_view kOfAxes[] = {"normalize", "lp_normalize", "flip"};
    const std::string_view name = node.op->name;
    if (std::ranges::find(kOfOneAxis, name) != std::end(kOfOneAxis))
        return std::vector{node.attrs.integer("axis")};
    if (std::ranges::find(kOfAxes, name) != std::end(kOfAxes)) return node.attrs.integers("axes");
    return {};
}

}  // namespace

Tensor used_elements(const Shape& shape, int axis, const Tensor& count) {
    Shape along;
    for (int i = 0; i < shape.rank(); ++i) along.push_back(i == axis ? shape[i] : Dim(1));
    const Tensor number = arange(*count.trace(), Shape{shape[axis]}, DType::kI64);
    return reshape(less(number, count), along);
}

const OnnxPaddings& OnnxImporter::paddings_of(ValueId id) const {
    static const OnnxPaddings none;
    const auto at = paddings_.find(id);
    return at != paddings_.end() ? at->second : none;
}

Tensor OnnxImporter::used_extent(const Tensor& tensor, int axis) {
    const OnnxPaddings& paddings = paddings_of(tensor.value());
    if (const auto at = paddings.find(axis); at != paddings.end()) return at->second;
    return trace_.constant(static_cast<double>(tensor.dim(axis).count), DType::kI64);
}

/// [rank], or a scalar for the number of elements.
Tensor OnnxImporter::used_shape(const OnnxNode& node, const Tensor& tensor) {
    if (node.op_type == "Size") {
        Tensor product = trace_.constant(1, DType::kI64);
        for (int i = 0; i < tensor.rank(); ++i) product = product * used_extent(tensor, i);
        return product;
    }
    std::vector<Tensor> parts;
    for (int i = 0; i < tensor.rank(); ++i) parts.push_back(reshape(used_extent(tensor, i), {1}));
    const auto [begin, end] = shape_range(node, tensor.rank());
    return slice(concat(parts, 0), 0, begin, end);
}

/// Operands for a rule that does not know of padding: masked where its result needs it, and bounds
/// in place of extents that depend on data.
Result<OnnxImporter::Knowns> OnnxImporter::masked_operands(const OnnxNode& node,
                                                           const Knowns& inputs) {
    Knowns operands = inputs;
    if (!node.domain.empty()) return operands;
    const auto is_padded = [&](size_t k) {
        return k < inputs.size() && inputs[k].tensor.ok() &&
               !paddings_of(inputs[k].tensor.value()).empty();
    };
    for (const MaskRule& rule : kMaskRules) {
        if (rule.op_type != node.op_type || !is_padded(rule.input)) continue;
        const bool is_smallest = node.op_type == "TopK" && node.integer("largest", 1) == 0;
        const Tensor& x = inputs[rule.input].tensor;
        if (node.op_type == "TopK" && !is_floating(x.dtype()))
            return unsupported("of integers whose number depends on data; cast them to float");
        const OnnxPaddings paddings = paddings_of(x.value());
        const Tensor masked = with_padding(x, paddings, is_smallest ? Fill::kHighest : rule.fill);
        paddings_[masked.value()] = paddings;
        operands[rule.input] = Known{masked};
    }
    if (node.op_type == "Gather" && is_padded(0) && inputs.size() == 2 && inputs[1].tensor.ok()) {
        const Tensor &x = inputs[0].tensor, &indices = inputs[1].tensor;
        HEARTH_ASSIGN(const int axis, normalize_axis(node.integer("axis", 0), x.rank()));
        // Negative indices count from the last element in use.
        if (paddings_of(x.value()).contains(axis)) {
            const Tensor count = cast(used_extent(x, axis), indices.dtype());
            const Tensor from_front = where(less(indices, 0), indices + count, indices);
            const OnnxPaddings paddings = paddings_of(indices.value());
            if (!paddings.empty()) paddings_[from_front.value()] = paddings;
            operands[1] = Known{from_front};
        }
    }
    const size_t bounded = node.op_type == "Slice"                             ? 2
                           : node.op_type == "TopK" || node.op_type == "Range" ? 1
                                                                               : inputs.size();
    if (bounded < inputs.size() && inputs[bounded].has_bounds())
        operands[bounded] = Known{trace_.constant(inputs[bounded].extents->as_tensor())};
    HEARTH_TRY(trace_.status());
    return operands;
}

// --- Results of ONNX's operators ---

/// Paddings of the results of operators whose form in Hearth does not show them; false for others.
Result<bool> OnnxImporter::pad_results(const OnnxNode& node, const Knowns& inputs,
                                       std::vector<Tensor>& results) {
    using Rule =
        Result<bool> (OnnxImporter::*)(const OnnxNode&, const Knowns&, std::vector<Tensor>&);
    static constexpr std::pair<std::string_view, Rule> kRules[] = {
        {"Compress", &OnnxImporter::pad_selected},
        {"Concat", &OnnxImporter::join_used},
        {"ConstantOfShape", &OnnxImporter::pad_expanded},
        {"Expand", &OnnxImporter::pad_expanded},
        {"NonMaxSuppression", &OnnxImporter::pad_nothing},
        {"NonZero", &OnnxImporter::pad_nothing},
        {"Range", &OnnxImporter::pad_range},
        {"ScatterElements", &OnnxImporter::pad_scattered},
        {"ScatterND", &OnnxImporter::pad_scattered},
        {"Slice", &OnnxImporter::pad_slice},
        {"TopK", &OnnxImporter::pad_top},
    };
    if (!node.domain.empty()) return false;
    for (const auto& [op_type, rule] : kRules)
        if (op_type == node.op_type) return (this->*rule)(node, inputs, results);
    return false;
}

/// The rule of the operator has reported all.
Result<bool> OnnxImporter::pad_nothing(const OnnxNode&, const Knowns&, std::vector<Tensor>&) {
    return true;
}

Result<bool> OnnxImporter::pad_selected(const OnnxNode& node, const Knowns& inputs,
                                        std::vector<Tensor>& results) {
    const OnnxPaddings data = paddings_of(inputs[0].tensor.value());
    if (!data.empty() && inputs[0].tensor.rank() > 1 && !node.attrs.has("axis"))
        return unsupported("of a flattened tensor whose extent depends on data; give an axis");
    for (const auto& [axis, count] : data) paddings_[results[0].value()].emplace(axis, count);
    return true;
}

Result<bool> OnnxImporter::pad_scattered(const OnnxNode&, const Knowns& inputs,
                                         std::vector<Tensor>& results) {
    const OnnxPaddings data = paddings_of(inputs[0].tensor.value());
    if (!data.empty()) paddings_[results[0].value()] = data;
    return true;
}

Result<bool> OnnxImporter::pad_range(const OnnxNode&, const Knowns& inputs,
                                     std::vector<Tensor>& results) {
    if (!inputs[1].has_bounds()) return true;
    const HostTensor *start = contents(inputs[0].tensor), *delta = contents(inputs[2].tensor);
    if (start == nullptr || delta == nullptr || start->get(0) != 0 || delta->get(0) != 1)
        return unsupported("to a limit that depends on data, other than from 0 by 1");
    paddings_[results[0].value()][0] = reshape(cast(inputs[1].tensor, DType::kI64), {});
    return true;
}

Result<bool> OnnxImporter::pad_top(const OnnxNode& node, const Knowns& inputs,
                                   std::vector<Tensor>& results) {
    const Tensor& x = inputs[0].tensor;
    HEARTH_ASSIGN(const int axis, normalize_axis(node.integer("axis", -1), x.rank()));
    OnnxPaddings paddings = paddings_of(x.value());
    const bool is_bounded = inputs.size() > 1 && inputs[1].has_bounds();
    if (is_bounded || paddings.contains(axis)) {
        Tensor count = used_extent(x, axis);
        if (is_bounded) count = minimum(count, reshape(inputs[1].tensor, {}));
        paddings[axis] = minimum(count, static_cast<double>(results[0].dim(axis).count));
    }
    for (const Tensor& result : results) paddings_[result.value()] = paddings;
    return true;
}

/// Axes of the operand, and those to which a shape with bounds gives their extent.
Result<bool> OnnxImporter::pad_expanded(const OnnxNode&, const Knowns& inputs,
                                        std::vector<Tensor>& results) {
    if (!inputs.back().has_bounds()) return false;
    const Extents& shape = *inputs.back().extents;
    const auto size = static_cast<int>(shape.dims.size());
    OnnxPaddings paddings;
    if (inputs.size() > 1)
        add_broadcast(inputs[0].tensor.shape(), paddings_of(inputs[0].tensor.value()),
                      results[0].shape(), paddings);
    for (int i = 0; i < size; ++i)
        if (shape.is_bound(static_cast<size_t>(i)))
            paddings.emplace(results[0].rank() - size + i,
                             reshape(slice(inputs.back().tensor, 0, i, i + 1), {}));
    paddings_[results[0].value()] = std::move(paddings);
    return true;
}

/// A slice keeps the count of the axes that it does not cut.
Result<bool> OnnxImporter::pad_slice(const OnnxNode& node, const Knowns& inputs,
                                     std::vector<Tensor>& results) {
    const Tensor& x = inputs[0].tensor;
    OnnxPaddings paddings = paddings_of(x.value());
    const bool is_bounded = inputs.size() > 2 && inputs[2].has_bounds();
    if (inputs.size() > 1 && inputs[1].has_bounds())
        return unsupported("its starts depend on data; expected ends that do");
    if (paddings.empty() && !is_bounded) return true;
    const auto list = [&](std::string_view name, size_t k) {
        std::vector<int64_t> numbers;
        if (k < inputs.size() && !inputs[k].is_absent()) {
            const HostTensor* data = contents(inputs[k].tensor);
            for (int64_t i = 0; data != nullptr && i < data->element_count(); ++i)
                numbers.push_back(data->get_int(i));
        } else if (const AttrValue* attr = node.attrs.find(name)) {
            if (const auto* given = std::get_if<std::vector<int64_t>>(attr)) numbers = *given;
        }
        return numbers;
    };
    const std::vector<int64_t> starts = list("starts", 1), ends = list("ends", 2);
    std::vector<int64_t> axes = list("axes", 3);
    const std::vector<int64_t> steps = list("", 4);
    for (size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    for (size_t i = 0; i < starts.size(); ++i) {
        HEARTH_ASSIGN(const int axis, normalize_axis(axes[i], x.rank()));
        const bool end_is_bound = is_bounded && inputs[2].extents->is_bound(i);
        if (!paddings.contains(axis) && !end_is_bound) continue;
        if (starts[i] < 0 || (i < steps.size() && steps[i] != 1))
            return unsupported("from " + std::to_string(starts[i]) + " of axis " +
                               std::to_string(axis) +
                               ", whose extent depends on data; expected a " +
                               "start from the front and a step of 1");
        Tensor count = used_extent(x, axis);
        const auto at = static_cast<int64_t>(i);
        if (is_bounded)
            count = minimum(count, reshape(slice(inputs[2].tensor, 0, at, at + 1), {}));
        else if (ends[i] < 0)
            count = count + static_cast<double>(ends[i]);
        else if (ends[i] < x.dim(axis).count)
            count = minimum(count, static_cast<double>(ends[i]));
        paddings[axis] = maximum(count - static_cast<double>(starts[i]), 0);
    }
    paddings_[results[0].value()] = std::move(paddings);
    return true;
}

/// Moves the elements in use of parts that are joined along an axis with padding to the front.
Result<bool> OnnxImporter::join_used(const OnnxNode& node, const Knowns& inputs,
                                     std::vector<Tensor>& results) {
    Tensor& result = results[0];
    HEARTH_ASSIGN(const int axis, normalize_axis(node.integer("axis", 0), result.rank()));
    OnnxPaddings paddings;
    bool is_cut = false;
    for (const Known& part : inputs)
        for (const auto& [of, count] : paddings_of(part.tensor.value())) {
            is_cut = is_cut || of == axis;
            if (of != axis) paddings.emplace(of, count);
        }
    if (is_cut) {
        // Element i of the result is the one that follows i - (elements in use before its part).
        Tensor place = arange(trace_, Shape{result.dim(axis)}, DType::kI64);
        const Tensor number = place;
        Tensor end = trace_.constant(0, DType::kI64);
        int64_t extents = 0;
        for (const Known& part : inputs) {
            const Tensor begin = end;
            end = begin + used_extent(part.tensor, axis);
            const auto offset = static_cast<double>(extents);
            place = where(logical_and(greater_equal(number, begin), less(number, end)),
                          number - begin + offset, place);
            extents += part.tensor.dim(axis).count;
        }
        result = take(result, place, axis);
        paddings[axis] = end;
    }
    if (!paddings.empty()) paddings_[result.value()] = std::move(paddings);
    return true;
}

/// Paddings of the results of the nodes from `first_node` on.
Status OnnxImporter::follow_padding(NodeId first_node, bool is_masked, Tensor* scale) {
    if (paddings_.empty()) return {};
    const Graph& graph = trace_.graph();
    const size_t end = graph.nodes.size();
    for (size_t n = first_node; n < end; ++n) {
        const Node node = graph.nodes[n];
        const bool is_padded =
            std::ranges::any_of(node.inputs, [&](ValueId id) { return !paddings_of(id).empty(); });
        if (!is_padded || node.outputs.empty() || paddings_.contains(node.outputs[0])) continue;
        for (const ValueId out : node.outputs) {
            HEARTH_ASSIGN(OnnxPaddings paddings, paddings_after(node, out, is_masked, scale));
            if (!paddings.empty()) paddings_[out] = std::move(paddings);
        }
    }
    return trace_.status();
}

Result<OnnxPaddings> OnnxImporter::paddings_after(const Node& node, ValueId out, bool is_masked,
                                                  Tensor* scale) {
    const std::string_view name = node.op->name;
    const auto shape_of = [&](ValueId id) { return trace_.graph().values[id].shape; };
    const Shape to = shape_of(out);
    const std::optional<std::vector<int64_t>> mixed = mixed_axes(node);
    const bool is_arg = name == "argmax" || name == "argmin";
    const bool is_kept = node.op->op_class == OpClass::kElementwise || name == "expand";
    OnnxPaddings result;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
        const Shape from = shape_of(node.inputs[k]);
        const OnnxPaddings paddings = paddings_of(node.inputs[k]);
        if (is_kept) {
            add_broadcast(from, paddings, to, result);
            continue;
        }
        for (const auto& [axis, count] : paddings) {
            if (name == "reshape") {
                const int place = axis_after_reshape(from, axis, to);
                if (place < 0) return mixes(node, from, axis);
                result.emplace(place, count);
            } else if (name == "transpose") {
                const std::vector<int64_t>& perm = node.attrs.integers("perm");
                result.emplace(static_cast<int>(std::ranges::find(perm, axis) - perm.begin()),
                               count);
            } else if (node.op->op_class == OpClass::kReduce || is_arg) {
                const bool is_reduced = is_arg ? node.attrs.integer("axis") == axis
                                               : contains(node.attrs.integers("axes"), axis);
                if (is_reduced && !is_masked) return mixes(node, from, axis);
                if (!is_reduced) result.emplace(axis, count);
                if (is_reduced && scale != nullptr)
                    *scale =
                        *scale * static_cast<double>(from[axis].count) / cast(count, DType::kF32);
            } else if (mixed) {
                if (contains(*mixed, axis) && !is_masked) return mixes(node, from, axis);
                result.emplace(axis, count);
            } else if (name == "gather") {
                const int at = static_cast<int>(node.attrs.integer("axis"));
                const int added = shape_of(node.inputs[1]).rank();
                if (k == 1)
                    result.emplace(at + axis, count);
                else if (axis != at)
                    result.emplace(axis < at ? axis : axis + added - 1, count);
            } else if (name == "gather_elements") {
                if (k == 1 || axis != node.attrs.integer("axis")) result.emplace(axis, count);
            } else if (name == "gather_nd" && k == 1 && axis + 1 < from.rank()) {
                result.emplace(axis, count);
            } else if (name == "one_hot") {
                result.emplace(axis < node.attrs.integer("axis") ? axis : axis + 1, count);
            } else if (name == "matmul") {
                const bool is_transposed = node.attrs.flag(k == 0 ? "transpose_a" : "transpose_b");
                // Counted from the back: 1 is the columns', 2 the rows'.
                const int behind = from.rank() - axis, own = k == 0 ? 2 : 1;
                const int place = is_transposed && behind <= 2 ? 3 - behind : behind;
                if (place > 2 || place == own)
                    result.emplace(to.rank() - place, count);
                else if (!is_masked)
                    return mixes(node, from, axis);
            } else if ((name == "concat" || name == "split") &&
                       axis != node.attrs.integer("axis")) {
                result.emplace(axis, count);
            } else if (name == "slice" || name == "pad") {
                if (to[axis] != from[axis]) return mixes(node, from, axis);
                result.emplace(axis, count);
            } else {
                return mixes(node, from, axis);
            }
        }
    }
    return result;
}

/// Paddings of the results of an ONNX operator, whose form in Hearth begins at `first_node`.
Status OnnxImporter::follow_rule(const OnnxNode& node, const Knowns& inputs, NodeId first_node,
                                 std::span<const OnnxPadding> own, std::vector<Tensor>& results) {
    for (const OnnxPadding& p : own) {
        const Tensor& result = results[p.output];
        paddings_[result.value()][p.axis] =
            minimum(p.count, static_cast<double>(result.dim(p.axis).count));
        clean_.insert(result.value());
    }
    const bool has_operands = std::ranges::any_of(inputs, [&](const Known& k) {
        return k.has_bounds() || (k.tensor.ok() && !paddings_of(k.tensor.value()).empty());
    });
    if (!has_operands || results.empty()) return trace_.status();
    HEARTH_ASSIGN(const bool is_done, pad_results(node, inputs, results));
    if (is_done) return trace_.status();
    const bool is_masked =
        node.domain.empty() && std::ranges::any_of(kMaskRules, [&](const MaskRule& rule) {
            return rule.op_type == node.op_type;
        });
    const bool is_mean = is_masked && node.op_type == "ReduceMean";
    if (is_mean && !is_floating(results[0].dtype()))
        return unsupported("of integers whose number depends on data");
    Tensor scale = is_mean ? trace_.constant(1) : Tensor();
    HEARTH_TRY(follow_padding(first_node, is_masked, is_mean ? &scale : nullptr));
    if (is_mean) {
        const OnnxPaddings paddings = paddings_of(results[0].value());
        results[0] = results[0] * cast(scale, results[0].dtype());
        if (!paddings.empty()) paddings_[results[0].value()] = paddings;
    }
    return trace_.status();
}

// --- Selections and outputs ---

/// `yes` or `no`, which may differ in extents: the result has the larger ones.
Result<Tensor> OnnxImporter::select_padded(const Tensor& condition, Tensor yes, Tensor no) {
    OnnxPaddings paddings;
    const auto extended = [&](const Tensor& x, int axis, int64_t extent) {
        if (x.dim(axis).count == extent) return x;
        if (x.shape().element_count(1) == 0) {
            Shape shape = x.shape();
            shape[axis] = Dim(extent);
            return trace_.constant(HostTensor(x.dtype(), shape));
        }
        std::vector<int64_t> none(static_cast<size_t>(x.rank())), behind = none;
        behind[static_cast<size_t>(axis)] = extent - x.dim(axis).count;
        return pad(x, none, behind);
    };
    for (int axis = 0; axis < yes.rank(); ++axis) {
        const Tensor with = used_extent(yes, axis), without = used_extent(no, axis);
        const bool is_padded =
            paddings_of(yes.value()).contains(axis) || paddings_of(no.value()).contains(axis);
        if (!is_padded && yes.dim(axis) == no.dim(axis)) continue;
        paddings[axis] = with.value() == without.value() ? with : where(condition, with, without);
    }
    const OnnxPaddings yes_paddings = paddings_of(yes.value()),
                       no_paddings = paddings_of(no.value());
    for (const auto& [axis, count] : paddings) {
        const int64_t extent = std::max(yes.dim(axis).count, no.dim(axis).count);
        yes = extended(yes, axis, extent);
        no = extended(no, axis, extent);
    }
    const Tensor chosen = where(condition, yes, no);
    HEARTH_TRY(trace_.status());
    if (!paddings.empty()) paddings_[chosen.value()] = std::move(paddings);
    return chosen;
}

/// Appends the counts of outputs whose extents depend on data.
Status OnnxImporter::add_counts(const std::vector<std::pair<std::string, Tensor>>& outputs) {
    std::set<std::string> names;
    for (const auto& [name, tensor] : outputs) names.insert(name);
    size_t position = outputs.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
        const auto& [name, tensor] = outputs[i];
        const OnnxPaddings paddings = paddings_of(tensor.value());
        for (const auto& [axis, count] : paddings) {
            const std::string suffix = paddings.size() > 1 ? "_" + std::to_string(axis) : "";
            std::string unused = name + "_count" + suffix;
            while (!names.insert(unused).second) unused += "_";
            trace_.output(unused, identity(count));
            counts_.push_back({i, axis, position++});
        }
    }
    return trace_.status();
}

/// The value as the model's output: with zeros as padding, unless it is an operator's own.
Tensor OnnxImporter::with_clean_padding(const Tensor& t) {
    const OnnxPaddings paddings = paddings_of(t.value());
    if (paddings.empty() || clean_.contains(t.value())) return t;
    const Tensor cleaned = with_padding(t, paddings, Fill::kZero);
    paddings_[cleaned.value()] = paddings;
    return cleaned;
}

}  // namespace hearth
