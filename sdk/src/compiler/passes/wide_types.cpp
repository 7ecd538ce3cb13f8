// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ranges go forward and demands backward through the graph; within a node both go through the scalar
// expression of its compute rule, in which each read of an input is a variable.

#include "compiler/passes/wide_types.hpp"

#include "compiler/passes/scalar_intervals.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hearth {

namespace {

bool is_wide(DType dtype) {
    return size_bytes(dtype) == 8;
}
bool is_wide_integer(DType dtype) {
    return is_wide(dtype) && is_integer(dtype);
}

template <class Predicate>
bool has_type(std::span<const Graph> graphs, Predicate is_one) {
    return std::ranges::any_of(graphs, [&](const Graph& graph) {
        return std::ranges::any_of(graph.values, [&](const Value& v) { return is_one(v.dtype); });
    });
}

/// The result of one node, in which reads of its inputs are variables.
class NodeExpression {
  public:
    /// How much of the graph an expression spans.
    enum class Span : uint8_t {
        kNode,
        kProducers,  ///< also elementwise producers of values of the result's shape, and scalars
    };

    NodeExpression(const Graph& graph, const Node& node, uint64_t max_batch_size,
                   Span span = Span::kNode)
        : graph_(graph),
          span_(span),
          shape_(graph.value(node.outputs[0]).shape),
          rows_(static_cast<double>(max_batch_size)) {
        ScalarPlace place;
        place.coords.emplace();
        for (const Dim d : shape_.dims()) {
            const Scalar coordinate = arena_.symbol(ScalarType::kI32);
            intervals.set(coordinate, {0, std::max(count_of(d) - 1, 0.0)});
            place.coords->axis.push_back(coordinate);
        }
        intervals.set(arena_.rows(), {1, rows_});
        root_ = result(node, place, 0);
    }

    Scalar root() const { return root_; }
    bool selects() const { return arena_.node(root_.id).op == ScalarOp::kSelect; }
    double count_of(Dim d) const {
        return static_cast<double>(d.count) * (d.is_batch ? rows_ : 1.0);
    }

  private:
    static constexpr int kMaxDepth = 4;  ///< of producers

    struct Reader final : ScalarReader {
        Reader(NodeExpression& whole_, const Node& node_, int depth_)
            : whole(whole_), node(node_), depth(depth_) {}
        Scalar read(int input, const ScalarPlace& place) override {
            return whole.value(node.inputs[static_cast<size_t>(input)], place, depth);
        }
        ScalarArena& arena() override { return whole.arena_; }

        NodeExpression& whole;
        const Node& node;
        int depth;
    };

    Scalar result(const Node& node, const ScalarPlace& place, int depth) {
        const Value& out = graph_.value(node.outputs[0]);
        std::vector<Shape> shapes;
        for (const ValueId in : node.inputs) shapes.push_back(graph_.value(in).shape);
        Reader reader(*this, node, depth);
        GpuAt context(node.attrs, shapes, out.shape, out.dtype, place, reader);
        return arena_.convert(node.op->compute.on_scalars(context), scalar_type(out.dtype));
    }

    Scalar value(ValueId id, const ScalarPlace& place, int depth) {
        const Value& value = graph_.value(id);
        const bool is_at_place = value.shape == shape_ || value.shape.element_count(1) == 1;
        if (span_ == Span::kNode || !is_at_place) return variable(id);
        if (const auto known = values_.find(id); known != values_.end()) return known->second;
        const Node* const producer =
            value.kind == ValueKind::kNode ? &graph_.nodes[value.node] : nullptr;
        const bool is_spanned = producer != nullptr && depth < kMaxDepth &&
                                producer->op->op_class == OpClass::kElementwise &&
                                producer->op->compute && value.shape == shape_;
        const Scalar found = is_spanned ? result(*producer, place, depth + 1) : variable(id);
        values_.emplace(id, found);
        if (is_spanned) spanned.emplace_back(id, found);
        return found;
    }

    Scalar variable(ValueId id) {
        reads.emplace_back(id, arena_.symbol(scalar_type(graph_.value(id).dtype)));
        return reads.back().second;
    }

    const Graph& graph_;
    Span span_;
    Shape shape_;
    double rows_;
    ScalarArena arena_;
    std::unordered_map<ValueId, Scalar> values_;
    Scalar root_;

  public:
    std::vector<std::pair<ValueId, Scalar>> reads, spanned;
    ScalarIntervals intervals{arena_};
};

/// Analysis of one graph.
class WideTypes {
  public:
    WideTypes(const Graph& graph, uint64_t max_batch_size, Interval (*stored)(ScalarType))
        : graph_(graph), rows_(max_batch_size), stored_(stored), demands_(graph.values.size()) {
        for (ValueId id = 0; id < graph.values.size(); ++id) ranges_.push_back(leaf(id));
    }

    /// An integer that has to be exact, and its range; the first node that makes one, in `at`, or null
    /// for an input that is an output.
    WideInteger find(const Node*& at) {
        for (const Node& node : graph_.nodes) {
            const auto outputs = static_cast<uint32_t>(node.outputs.size());
            for (uint32_t k = 0; k < outputs; ++k) {
                const ValueId out = node.outputs[k];
                ranges_[out] = wrapped(range_of_output(node, k), type(out));
            }
        }
        WideInteger found;
        for (const GraphOutput& output : graph_.outputs) demand(output.value, Demand::kAll, found);
        for (const Assignment& update : graph_.updates) demand(update.value, Demand::kAll, found);
        for (size_t n = graph_.nodes.size(); n-- > 0;) {
            WideInteger here;
            demand_inputs(graph_.nodes[n], here);
            if (!here) continue;
            at = &graph_.nodes[n];
            found = here;
        }
        return found;
    }

  private:
    ScalarType type(ValueId id) const { return scalar_type(graph_.value(id).dtype); }
    double count_of(const Shape& shape) const {
        return static_cast<double>(shape.element_count(static_cast<int64_t>(rows_)));
    }

    /// Range of a value that no node computes: bound and stored values are in the range of their buffer.
    Interval leaf(ValueId id) const {
        const Value& value = graph_.value(id);
        if (value.kind == ValueKind::kNode || is_floating(value.dtype)) return {};
        if (value.kind != ValueKind::kConstant || !value.data) {
            if (value.dtype == DType::kBool) return {0, 1};
            if (size_bytes(value.dtype) < 4) return range_of_narrow(value.dtype);
            return stored_(type(id));
        }
        const HostTensor& data = *value.data;
        if (data.element_count() == 0) return {0, 0};
        Interval range{data.get(0), data.get(0)};
        for (int64_t i = 1; i < data.element_count(); ++i)
            range = hull(range, {data.get(i), data.get(i)});
        return range;
    }

    static Interval range_of_narrow(DType dtype) {
        const double numbers = size_bytes(dtype) == 1 ? 256 : 65536;
        return is_unsigned(dtype) ? Interval{0, numbers - 1}
                                  : Interval{-numbers / 2, numbers / 2 - 1};
    }

    /// Ranges of integers and bools; those of their types where nothing is known of the operator.
    Interval range_of_output(const Node& node, uint32_t output) {
        const Value& value = graph_.value(node.outputs[output]);
        const Interval unknown = range_of(scalar_type(value.dtype));
        if (value.dtype == DType::kBool) return {0, 1};
        const Interval narrow = !is_floating(value.dtype) && size_bytes(value.dtype) < 4
                                    ? range_of_narrow(value.dtype)
                                    : unknown;
        if (node.inputs.empty() && !node.op->compute) return unknown;
        if (selects(node)) return {-1, count_of(graph_.value(node.inputs[0]).shape)};
        if (node.op->writes_in_place) return hull(range_at(node, 0), range_at(node, 2));
        if (is_scan(node) || node.op->op_class == OpClass::kReduce) return folded(node);
        if (node.op->op_class == OpClass::kMatmul && is_integer(value.dtype)) {
            NodeProduct p{range_at(node, 0), range_at(node, 1)};
            return times(p.factors(), terms(node));
        }
        if (!node.op->compute) return narrow;
        const auto bounded = [&](Interval found) {
            return found.is_within(narrow) ? found : narrow;
        };
        NodeExpression expression(graph_, node, rows_);
        if (!is_wide_integer(value.dtype) || !expression.selects())
            return bounded(interval_of(expression));
        NodeExpression spanning(graph_, node, rows_, NodeExpression::Span::kProducers);
        return bounded(interval_of(spanning));
    }
    Interval interval_of(NodeExpression& expression) const {
        set_reads(expression);
        return expression.intervals.of(expression.root().id);
    }

    struct NodeProduct {
        Interval a, b;
        Interval factors() const {
            const double most = std::max(std::fabs(a.low), std::fabs(a.high)) *
                                std::max(std::fabs(b.low), std::fabs(b.high));
            return {a.low >= 0 && b.low >= 0 ? 0 : -most, most};
        }
    };

    Interval range_at(const Node& node, size_t input) const { return ranges_[node.inputs[input]]; }

    /// Elements of input 0 that one of output 0 may add up.
    double terms(const Node& node) const {
        const Shape& x = graph_.value(node.inputs[0]).shape;
        if (node.op->op_class == OpClass::kMatmul) {
            double most = 1;
            for (int i = std::max(x.rank() - 2, 0); i < x.rank(); ++i)
                most = std::max(most, count_of(Shape{x[i]}));
            return most;
        }
        if (node.op->op_class == OpClass::kReduce)
            return count_of(x) / std::max(count_of(graph_.value(node.outputs[0]).shape), 1.0);
        return count_of(Shape{x[static_cast<int>(node.attrs.integer("axis"))]});
    }

    /// A cumulative sum or product.
    static bool is_scan(const Node& node) {
        return !node.op->compute && node.attrs.has("exclusive");
    }
    /// A sort's run or a suppression of boxes: results are places of input 0, or -1.
    static bool selects(const Node& node) {
        return !node.op->compute && (node.attrs.has("run") || node.attrs.has("overlap"));
    }

    Interval folded(const Node& node) const {
        // A scan's first result may be that of no term.
        const Interval x = is_scan(node) ? hull(range_at(node, 0), {0, 1}) : range_at(node, 0);
        switch (node.op->reduce) {
            case ReduceOp::kSum:
                return times(x, terms(node));
            case ReduceOp::kProduct:
                return power(x, terms(node));
            default:
                return x;
        }
    }

    void set_reads(NodeExpression& expression) const {
        for (const auto& [id, variable] : expression.reads)
            expression.intervals.set(variable, ranges_[id]);
        for (const auto& [id, result] : expression.spanned)
            if (!is_floating(graph_.value(id).dtype))
                expression.intervals.bound(result, ranges_[id]);
    }

    /// Notes in `found` what a buffer of 32 bits would not hold.
    void demand(ValueId id, Demand wanted, WideInteger& found) {
        demands_[id] = std::max(demands_[id], wanted);
        const Value& value = graph_.value(id);
        if (value.kind == ValueKind::kNode || !is_wide_integer(value.dtype)) return;
        const Demand least = value.kind == ValueKind::kConstant ? Demand::kIndex : Demand::kLowBits;
        if (wanted >= least && !ranges_[id].is_within(half_range_of(type(id)))) found = ranges_[id];
    }

    void demand_inputs(const Node& node, WideInteger& found) {
        Demand wanted = Demand::kNone;
        for (const ValueId out : node.outputs) {
            wanted = std::max(wanted, demands_[out]);
            if (is_wide_integer(graph_.value(out).dtype) && demands_[out] == Demand::kAll &&
                !ranges_[out].is_within(half_range_of(type(out))))
                found = ranges_[out];
        }
        if (wanted == Demand::kNone) return;
        const Demand low = std::min(wanted, Demand::kLowBits);
        const bool is_fold = node.op->op_class == OpClass::kReduce;
        const bool adds_up = (is_fold || is_scan(node)) && (node.op->reduce == ReduceOp::kSum ||
                                                            node.op->reduce == ReduceOp::kProduct);
        if (node.op->compute && !is_fold) return demand_reads(node, wanted, found);
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            const bool is_index = (node.op->writes_in_place || selects(node)) && k == 1;
            const bool keeps_low_bits =
                adds_up || node.op->writes_in_place || node.op->op_class == OpClass::kMatmul;
            const Demand needed = is_index ? Demand::kIndex : keeps_low_bits ? low : Demand::kAll;
            demand(node.inputs[k], needed, found);
        }
    }

    void demand_reads(const Node& node, Demand wanted, WideInteger& found) {
        NodeExpression expression(graph_, node, rows_);
        expression.intervals.bound(expression.root(), ranges_[node.outputs[0]]);
        set_reads(expression);
        if (const WideInteger inside = expression.intervals.demand(expression.root().id, wanted))
            found = inside;
        // A read that the result does not contain locates what it contains.
        for (const auto& [id, variable] : expression.reads)
            demand(id, std::max(Demand::kIndex, expression.intervals.demanded(variable)), found);
    }

    const Graph& graph_;
    uint64_t rows_;
    Interval (*stored_)(ScalarType);
    std::vector<Interval> ranges_;  ///< per value
    std::vector<Demand> demands_;   ///< per value
};

/// "mul -> i64 [3], of 'cells', an output": what a reader of the model recognizes.
std::string described(const Graph& graph, const Node& node) {
    const Value& out = graph.value(node.outputs[0]);
    std::string text = std::string(node.op->name) + " -> " + std::string(name_of(out.dtype)) + " " +
                       to_string(out.shape);
    std::vector<ValueId> open{node.inputs.rbegin(), node.inputs.rend()};
    std::vector<std::string> names;
    for (size_t steps = 0; !open.empty() && steps < 64 && names.size() < 3; ++steps) {
        const Value& value = graph.value(open.back());
        open.pop_back();
        if (value.kind == ValueKind::kNode)
            open.insert(open.end(), graph.nodes[value.node].inputs.rbegin(),
                        graph.nodes[value.node].inputs.rend());
        else if (!value.name.empty() && std::ranges::find(names, value.name) == names.end())
            names.push_back(value.name);
    }
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? ", of '" : ", '") + names[i] + "'";
    for (const GraphOutput& output : graph.outputs)
        if (output.value == node.outputs[0]) text += ", output '" + output.name + "'";
    return text;
}

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", value);
    return text;
}

Status check_doubles(std::span<const Graph> graphs, const CompileOptions& options) {
    if (options.caps.shader_float64 || options.assume_float32) return {};
    for (const Graph& graph : graphs)
        for (const Node& node : graph.nodes)
            for (const ValueId out : node.outputs)
                if (graph.value(out).dtype == DType::kF64)
                    return unsupported(
                        "entry '" + graph.name + "': " + described(graph, node) +
                        ": kernels of GPUs have no doubles; expected f32: export the model in f32, "
                        "run it on the CPU (--device cpu), or pass --assume-float32 "
                        "(CompileOptions::assume_float32) to compute in f32");
    return {};
}

/// With CompileOptions::assume_int32.
Status check_constants(std::span<const Graph> graphs) {
    for (const Graph& graph : graphs)
        for (const Value& value : graph.values) {
            if (value.kind != ValueKind::kConstant || !is_wide_integer(value.dtype)) continue;
            const Interval held = half_range_of(scalar_type(value.dtype));
            for (int64_t i = 0; i < value.data->element_count(); ++i) {
                const double number = value.data->get(i);
                if (!Interval{number, number}.is_within(held))
                    return unsupported(
                        "entry '" + graph.name + "': assume_int32 is set, but a constant " +
                        to_string(value.shape) + " holds " + number_text(number) +
                        ", which 32 bits do not; compile for a device with 64-bit integers, or "
                        "run it on the CPU (--device cpu)");
            }
        }
    return {};
}

}  // namespace

Result<DeviceCaps> with_wide_types(std::span<const Graph> graphs, const CompileOptions& options) {
    DeviceCaps caps = options.caps;
    HEARTH_TRY(check_doubles(graphs, options));
    if (caps.cpu_isa != CpuIsa::kNone && caps.shader_int64) return caps;
    const bool has_int64 = std::exchange(caps.shader_int64, false);
    if (!has_type(graphs, is_wide_integer)) return caps;
    if (options.assume_int32) {
        HEARTH_TRY(check_constants(graphs));
        return caps;
    }
    for (const Graph& graph : graphs) {
        const Node* node = nullptr;
        const WideInteger found =
            WideTypes(graph, options.max_batch_size, has_int64 ? range_of : half_range_of)
                .find(node);
        if (!found) continue;
        if (has_int64) {
            caps.shader_int64 = true;
            return caps;
        }
        return unsupported(
            "entry '" + graph.name + "': " + (node == nullptr ? "" : described(graph, *node)) +
            ": integers from " + number_text(found->low) + " to " + number_text(found->high) +
            ", which 32 bits do not hold, and " + caps.name +
            " has no integers of 64 bits (shaderInt64); pass --assume-int32 "
            "(CompileOptions::assume_int32) if they stay within 32, or run it on the CPU "
            "(--device cpu)");
    }
    return caps;
}

}  // namespace hearth
