// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the row region of a graph and estimates whether a fused network can run it.

#include "compiler/fusion/row_region.hpp"

#include "compiler/ops/kernels/gru_walk.hpp"

#include <hearth/op/at.hpp>

#include <algorithm>
#include <map>

namespace hearth {

namespace {

/// Dependence of a value on the rows.
enum class Dependence : uint8_t {
    kNone,   ///< the same for all rows: weights, and values derived from them
    kAlone,  ///< leading axis is the rows, and each row depends on that row alone
    kOther,  ///< anything else, such as the result of a sum over rows
};

bool is_sum(const Node& node) {
    return (node.op->op_class == OpClass::kReduce && node.op->reduce == ReduceOp::kSum) ||
           (node.op->op_class == OpClass::kInjective && node.op->traits.is_partial_sum);
}

/// Detects whether an `at` rule reads inputs with rows anywhere but in the row that it computes.
class RowWatch final : public ScalarReader {
  public:
    RowWatch(const Graph& graph, const Node& node, const std::vector<Dependence>& dependence)
        : graph_(graph), node_(node), dependence_(dependence) {}

    bool stays_in_row() {
        const Value& out = graph_.value(node_.outputs[0]);
        ScalarPlace place;
        place.coords.emplace();
        for (int i = 0; i < out.shape.rank(); ++i)
            place.coords->axis.push_back(arena_.symbol(ScalarType::kI32));
        row_ = (*place.coords)[0].id;
        std::vector<Shape> shapes;
        for (ValueId in : node_.inputs) shapes.push_back(graph_.value(in).shape);
        GpuAt context(node_.attrs, shapes, out.shape, out.dtype, place, *this);
        (void)node_.op->compute.on_scalars(context);
        return stays_;
    }

    Scalar read(int input, const ScalarPlace& place) override {
        const ValueId v = node_.inputs[static_cast<size_t>(input)];
        const bool is_same_row =
            place.coords && place.coords->rank() > 0 && (*place.coords)[0].id == row_;
        if (dependence_[v] == Dependence::kAlone && !is_same_row) stays_ = false;
        return arena_.symbol(scalar_type(graph_.value(v).dtype));
    }
    ScalarArena& arena() override { return arena_; }

  private:
    const Graph& graph_;
    const Node& node_;
    const std::vector<Dependence>& dependence_;
    ScalarArena arena_;
    uint32_t row_ = 0;
    bool stays_ = true;
};

class RegionFinder {
  public:
    RegionFinder(const Graph& graph, Dim rows, bool is_split)
        : graph_(graph),
          rows_(rows),
          is_split_(is_split),
          readers_(readers_of(graph)),
          dependence_(graph.values.size(), Dependence::kNone),
          follows_product_(graph.values.size(), false),
          contains_(graph.nodes.size(), false),
          has_walks_(std::ranges::any_of(graph.nodes, walks_windows)) {}

    RowRegion find() {
        for (ValueId v = 0; v < graph_.values.size(); ++v)
            if (graph_.value(v).kind == ValueKind::kInput && has_rows(v))
                dependence_[v] = Dependence::kAlone;
        for (NodeId n = 0; n < graph_.nodes.size(); ++n) classify(n);
        drop_what_comes_before();
        RowRegion region{rows_, window_, {}, contains_};
        for (NodeId n = 0; n < graph_.nodes.size(); ++n)
            if (contains_[n]) region.nodes.push_back(n);
        return region;
    }

  private:
    bool has_rows(ValueId v) const {
        const Shape& shape = graph_.value(v).shape;
        return shape.rank() > 0 && shape[0] == rows_;
    }

    bool is_alone(ValueId v) const { return dependence_[v] == Dependence::kAlone; }

    void classify(NodeId n) {
        const Node& node = graph_.nodes[n];
        bool any_alone = false, any_other = false, follows = false;
        for (ValueId v : node.inputs) {
            any_alone = any_alone || is_alone(v);
            any_other = any_other || dependence_[v] == Dependence::kOther;
            follows = follows || follows_product_[v];
        }
        Dependence result = any_other ? Dependence::kOther : Dependence::kNone;
        // Values that are the same for all rows may still be broadcast to all of them, or along
        // their indices in order.
        if (!any_alone && !any_other) any_alone = stretches_to_rows(node);
        if (any_alone && !any_other) {
            if (is_product_apart(node)) {
                result = Dependence::kOther;
            } else if (sums_rows(graph_, node, rows_) && all_alone(node)) {
                // A sum with no product before it runs ahead of the region, which may then read it:
                // the mean of a batch of advantages, for example.
                result = follows ? Dependence::kOther : Dependence::kNone;
                contains_[n] = follows;
                if (!follows) before_.push_back(n);
            } else if (walks_windows(node)) {
                result = joins_windows(node) ? Dependence::kAlone : Dependence::kOther;
                contains_[n] = result == Dependence::kAlone;
            } else if (keeps_rows_apart(node)) {
                result = Dependence::kAlone;
                contains_[n] = true;
            } else {
                result = Dependence::kOther;
            }
        }
        follows = follows || node.op->op_class == OpClass::kMatmul;
        for (ValueId v : node.outputs) {
            const bool is_row = result != Dependence::kAlone || has_rows(v);
            dependence_[v] = is_row ? result : Dependence::kOther;
            follows_product_[v] = follows;
        }
    }

    /// True for a product over rows that split_rows() left whole, in parts or not since then.
    bool is_product_apart(const Node& node) const {
        return is_split_ && node.op->op_class == OpClass::kMatmul &&
               !(node.attrs.has("by_rows") && node.attrs.flag("by_rows")) &&
               sums_rows(graph_, node, rows_);
    }

    bool stretches_to_rows(const Node& node) const {
        if (node.outputs.size() != 1 || node.inputs.empty() || !has_rows(node.outputs[0]))
            return false;
        return std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
            return !is_generated(v) && !is_gathered_in_order(node, v) &&
                   graph_.value(v).shape.rank() == graph_.value(node.outputs[0]).shape.rank() &&
                   has_rows(v);
        });
    }

    /// True if the value's node has no inputs, as iota (indices in order).
    bool is_generated(ValueId v) const {
        const Node* maker = graph_.producer(v);
        return maker != nullptr && maker->inputs.empty();
    }

    /// True if the node gathers rows of the tensor by such indices: state kept per row.
    bool is_gathered_in_order(const Node& node, ValueId v) const {
        return node.op->traits.is_gather && v == node.inputs[0] && is_generated(node.inputs[1]) &&
               node.attrs.integer("axis") == 0;
    }

    bool all_alone(const Node& node) const {
        return std::all_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId v) { return is_alone(v); });
    }

    /// True if the region's rows are the steps of the node's windows; sets the region's window
    /// length. The initial states are read from memory.
    bool joins_windows(const Node& node) {
        const int64_t length = node.attrs.integer("length");
        const bool is_alike = length > 1 && (window_ == 1 || window_ == length);
        const bool fits =
            is_alike && rows_.count % length == 0 &&
            std::ranges::all_of(
                node.inputs,
                [&](ValueId v) { return dependence_[v] == Dependence::kNone || has_rows(v); }) &&
            has_rows(node.outputs[0]);
        if (fits) window_ = length;
        return fits;
    }

    bool keeps_rows_apart(const Node& node) const {
        if (node.outputs.size() != 1 || !has_rows(node.outputs[0])) return false;
        const Shape& out = graph_.value(node.outputs[0]).shape;
        switch (node.op->op_class) {
            case OpClass::kElementwise:
                return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
                    return !is_alone(v) || graph_.value(v).shape.rank() == out.rank();
                });
            case OpClass::kMatmul:
                return !node.op->traits.is_partial_sum && is_alone(node.inputs[0]) &&
                       !is_alone(node.inputs[1]) && out.rank() == 2 &&
                       graph_.value(node.inputs[1]).shape.rank() == 2 &&
                       graph_.value(node.outputs[0]).dtype == DType::kF32 &&
                       !node.attrs.flag("transpose_a");
            case OpClass::kReduce: {
                const std::vector<int64_t>& axes = node.attrs.integers("axes");
                return std::find(axes.begin(), axes.end(), 0) == axes.end();
            }
            case OpClass::kInjective:
                // A reshape keeps only the offset in memory; the leading extent too if both sides
                // have it.
                if (node.op->is_reshape)
                    return has_rows(node.inputs[0]) || (has_walks_ && !is_alone(node.inputs[0]));
                return node.op->compute && RowWatch(graph_, node, dependence_).stays_in_row();
            default:
                return false;
        }
    }

    /// True if the region depends on node `n`.
    bool feeds_region(NodeId n) const {
        std::vector<NodeId> stack{n};
        std::vector<bool> seen(graph_.nodes.size());
        while (!stack.empty()) {
            const NodeId at = stack.back();
            stack.pop_back();
            for (ValueId v : graph_.nodes[at].outputs)
                for (NodeId r : readers_[v]) {
                    if (contains_[r]) return true;
                    if (!seen[r]) stack.push_back(r);
                    seen[r] = true;
                }
        }
        return false;
    }

    /// Removes the inputs of sums that run ahead of the region: they run ahead too. Sums that the
    /// region does not depend on end it, like those after a layer.
    void drop_what_comes_before() {
        std::vector<NodeId> stack;
        for (NodeId n : before_)
            if (feeds_region(n))
                stack.push_back(n);
            else
                contains_[n] = true;
        while (!stack.empty()) {
            const NodeId n = stack.back();
            stack.pop_back();
            contains_[n] = false;
            for (ValueId v : graph_.nodes[n].inputs) {
                const Value& value = graph_.value(v);
                if (value.kind == ValueKind::kNode && contains_[value.node])
                    stack.push_back(value.node);
            }
        }
    }

    const Graph& graph_;
    Dim rows_;
    bool is_split_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<Dependence> dependence_;
    std::vector<bool> follows_product_;  ///< per value: a product is among its ancestors
    std::vector<bool> contains_;
    std::vector<NodeId> before_;  ///< sums over rows that the region may depend on
    int64_t window_ = 1;
    bool has_walks_;  ///< so rows may be windows that were reshaped
};

}  // namespace

bool walks_windows(const Node& node) {
    return node.op->traits.walk != WindowWalk::kNone;
}

bool sums_rows(const Graph& graph, const Node& node, Dim rows) {
    const auto has_rows = [&](ValueId v) {
        const Shape& shape = graph.value(v).shape;
        return shape.rank() > 0 && shape[0] == rows;
    };
    if (node.op->op_class == OpClass::kMatmul)
        return graph.value(node.inputs[0]).shape.rank() == 2 &&
               graph.value(node.inputs[1]).shape.rank() == 2 &&
               (graph.value(node.inputs[0]).dtype == DType::kF32 ||
                (node.attrs.flag("wide") && is_floating(graph.value(node.inputs[0]).dtype))) &&
               has_rows(node.inputs[0]) && has_rows(node.inputs[1]) &&
               node.attrs.flag("transpose_a") && !node.attrs.flag("transpose_b");
    // Partial sums of f16 accumulate in f32.
    const DType dtype = graph.value(node.inputs[0]).dtype;
    const bool is_exact =
        dtype == DType::kF32 || (dtype == DType::kF16 && node.op->traits.is_partial_sum);
    if (!is_sum(node) || !is_exact) return false;
    const std::vector<int64_t>& axes = node.attrs.integers("axes");
    return has_rows(node.inputs[0]) && std::find(axes.begin(), axes.end(), 0) != axes.end();
}

bool fits_matrix_cores(const Graph& graph, const RowRegion& region, const DeviceCaps& caps) {
    constexpr int64_t kWidestEdge = 32;
    if (region.window != 1 || caps.cooperative_matrix == CooperativeMatrixExt::kNone ||
        !caps.storage_buffer_16bit_access || matrix_edge(caps) > kWidestEdge ||
        caps.cooperative_matrix_shape.n % 8 != 0 || caps.cooperative_matrix_shape.m % 8 != 0 ||
        caps.cooperative_matrix_shape.k % 8 != 0 || caps.subgroup_size < 8)
        return false;
    return std::all_of(region.nodes.begin(), region.nodes.end(), [&](NodeId n) {
        const Node& node = graph.nodes[n];
        return node.op->op_class != OpClass::kMatmul ||
               (node.attrs.flag("wide") && graph.value(node.inputs[0]).dtype == DType::kF16 &&
                graph.value(node.inputs[1]).dtype == DType::kF16);
    });
}

namespace {

/// Peak bytes per row that a training region keeps from forward to backward.
int64_t kept_bytes(const Graph& graph, const RowRegion& region) {
    std::vector<ValueId> factors;
    int64_t sum = 0, widest = 0;
    for (NodeId n : region.nodes) {
        const Node& node = graph.nodes[n];
        if (node.op->op_class != OpClass::kMatmul || !sums_rows(graph, node, region.rows)) continue;
        const ValueId kept = node.inputs[node.attrs.flag("transpose_b") ? 0 : 1];
        for (ValueId v : {node.inputs[0], node.inputs[1]})
            widest = std::max(widest, graph.value(v).shape[1].count);
        if (std::find(factors.begin(), factors.end(), kept) != factors.end()) continue;
        factors.push_back(kept);
        sum += graph.value(kept).shape[1].count;
    }
    // The widest counts twice: the cotangents of a layer's output and input. All as f32, on matrix
    // cores too, which are slower for many rows so far (docs/design/0008-fused-network-generator.md).
    return 4 * (sum + 2 * widest);
}

/// Estimated registers per thread of a kernel that keeps rows from forward to backward.
int64_t row_registers(const Graph& graph, const RowRegion& region, const DeviceCaps& caps) {
    const int64_t size = caps.subgroup_size, edge = caps.cooperative_matrix_shape.m;
    std::vector<ValueId> kept;
    int64_t halfs = 0, widest = 0, sums = 0;
    for (NodeId n : region.nodes) {
        const Node& node = graph.nodes[n];
        if (node.op->op_class != OpClass::kMatmul) continue;
        const ValueId x = node.inputs[0];
        if (!sums_rows(graph, node, region.rows)) {
            widest = std::max(widest, graph.value(node.outputs[0]).shape[1].count);
            continue;
        }
        sums += graph.value(x).shape[1].count * graph.value(node.inputs[1]).shape[1].count;
        const ValueId activation = node.inputs[node.attrs.flag("transpose_b") ? 0 : 1];
        if (graph.value(activation).kind != ValueKind::kNode ||
            std::find(kept.begin(), kept.end(), activation) != kept.end())
            continue;
        kept.push_back(activation);
        halfs += graph.value(activation).shape[1].count;
    }
    return kOtherRowRegisters + sums / (kRegisterSubgroups * size) +
           (halfs + 3 * widest) * edge / (2 * size);
}

}  // namespace

Status check_shared_rows(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                         const DeviceCaps& caps) {
    // With many rows a GPU is fully occupied however they are split. What counts then is the reuse
    // of weights in shared memory, which is too low with few rows at a time (0008-fused-network-generator.md).
    constexpr int64_t kManyRows = 16384, kLeastRows = 32;
    const int64_t rows = region.rows.resolve(static_cast<int64_t>(rows_capacity));
    const int64_t bytes = kept_bytes(graph, region);
    if (rows > kManyRows && bytes * kLeastRows > int64_t{caps.max_compute_shared_memory_size})
        return unsupported("of " + std::to_string(rows) + " rows with " + std::to_string(bytes) +
                           " bytes each " + std::to_string(kLeastRows) +
                           " do not fit the shared memory of " +
                           std::to_string(caps.max_compute_shared_memory_size) + " bytes");
    return {};
}

bool may_keep_in_registers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                           const DeviceCaps& caps) {
    constexpr int64_t kManyRows = 8192, kManyInferred = 16384;
    const bool is_training = std::any_of(region.nodes.begin(), region.nodes.end(), [&](NodeId n) {
        return sums_rows(graph, graph.nodes[n], region.rows);
    });
    const MatrixShape& shape = caps.cooperative_matrix_shape;
    return fits_matrix_cores(graph, region, caps) && shape.m == shape.n && shape.m == shape.k &&
           region.rows.resolve(static_cast<int64_t>(rows_capacity)) >=
               (is_training ? kManyRows : kManyInferred) &&
           row_registers(graph, region, caps) <= kMostRowRegisters;
}

Status check_row_layers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                        const DeviceCaps& caps) {
    if (!may_keep_in_registers(graph, region, rows_capacity, caps))
        HEARTH_TRY(check_shared_rows(graph, region, rows_capacity, caps));

    // Wider layers have enough arithmetic to fill a GPU one by one, and their weights would pass
    // through shared memory too often.
    constexpr int64_t kMaxOuter = 256, kMaxInner = 512;
    for (NodeId n : region.nodes) {
        const Node& node = graph.nodes[n];
        if (node.op->op_class != OpClass::kMatmul || sums_rows(graph, node, region.rows)) continue;
        const Shape& shape = graph.value(node.inputs[1]).shape;
        const bool is_dot = node.attrs.flag("transpose_b");
        const Dim inner = shape[is_dot ? 1 : 0], outer = shape[is_dot ? 0 : 1];
        if (inner.is_batch || outer.is_batch || inner.count > kMaxInner ||
            outer.count > kMaxOuter || inner.count < 1 || outer.count < 1)
            return unsupported("a layer from " + std::to_string(inner.count) + " to " +
                               std::to_string(outer.count) + " is wider than " +
                               std::to_string(kMaxInner) + " to " + std::to_string(kMaxOuter));
    }
    return {};
}

namespace {

RowRegion find_region(const Graph& graph, bool is_split) {
    // Candidate extents of the rows: those that lead both an input and a product's result.
    std::map<std::pair<bool, int64_t>, int> products;
    for (ValueId v : graph.inputs) {
        const Shape& shape = graph.value(v).shape;
        if (shape.rank() > 0 && !shape[0].is_one() && shape[0].count > 0)
            products[{shape[0].is_batch, shape[0].count}] = 0;
    }
    // Rows may come as windows: the steps of inputs whose leading axis is the windows.
    for (const Node& node : graph.nodes) {
        if (!walks_windows(node)) continue;
        const Dim rows = graph.value(node.outputs[0]).shape[0];
        if (!products.empty() && rows.count > 0) products[{rows.is_batch, rows.count}] = 0;
    }
    // An entry without inputs learns from rows that it gathers from states. The candidates are then
    // the leading extents of products with weights (params, or states).
    const auto persists = [&](ValueId v) {
        const ValueKind kind = graph.value(v).kind;
        return kind == ValueKind::kParam || kind == ValueKind::kState;
    };
    if (products.empty())
        for (const Node& node : graph.nodes) {
            if (node.op->op_class != OpClass::kMatmul || !persists(node.inputs[1])) continue;
            const Shape& shape = graph.value(node.outputs[0]).shape;
            if (shape.rank() > 0 && !shape[0].is_one() && shape[0].count > 0)
                products[{shape[0].is_batch, shape[0].count}] = 0;
        }
    for (const Node& node : graph.nodes) {
        if (node.op->op_class != OpClass::kMatmul) continue;
        const Dim lead = graph.value(node.outputs[0]).shape[0];
        if (auto at = products.find({lead.is_batch, lead.count}); at != products.end())
            ++at->second;
    }
    RowRegion best;
    for (const auto& [extent, count] : products) {
        if (count == 0) continue;
        RowRegion region = RegionFinder(graph, Dim(extent.second, extent.first), is_split).find();
        const bool has_product =
            std::any_of(region.nodes.begin(), region.nodes.end(),
                        [&](NodeId n) { return graph.nodes[n].op->op_class == OpClass::kMatmul; });
        if (has_product && region.nodes.size() > best.nodes.size()) best = std::move(region);
    }
    return best;
}

}  // namespace

RowRegion find_row_region(const Graph& graph) {
    return find_region(graph, false);
}

Result<RowRegion> find_split_region(const Graph& graph, uint64_t rows_capacity,
                                    const DeviceCaps& caps) {
    const RowRegion all = find_row_region(graph);
    if (all.empty()) return RowRegion();
    HEARTH_TRY(check_row_layers(graph, all, rows_capacity, caps));
    return find_region(graph, true);
}

}  // namespace hearth
