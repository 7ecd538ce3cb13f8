// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Moves most of a gradient norm, or of the search for the largest element, into the kernel that
// adds up the partial sums of the gradients.
//
// Scaling all gradients by one scalar (clipping by the global norm, a loss scale) depends on a
// reduction over all of them: a sum per gradient, then a sum of those, so two dispatches between
// computing gradients and using them.  Here each gradient is reduced in blocks, as an epilogue of
// the kernel that computes it (compiler/codegen/reduction/replicated_scalars.cpp), and one reduction covers
// all blocks of all gradients.  It is short enough for every workgroup that needs the scalar to
// compute it itself.

#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/pass.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <map>

namespace hearth {

namespace {

// Number of scalars from which one shared reduction pays; fewer are reduced again by each reader.
constexpr size_t kManyTerms = 4;
constexpr int64_t kBlock = 32;  // results per workgroup that sums many partial sums

class NormFinder {
  public:
    NormFinder(const Graph& graph, bool in_blocks)
        : graph_(graph), readers_(readers_of(graph)), in_blocks_(in_blocks) {
        for (NodeId n = 0; n < graph.nodes.size(); ++n)
            if (const std::optional<ReduceOp> fold = fold_of_numbers(n);
                fold && is_root(n, *fold)) {
                std::vector<ValueId> terms;
                collect(n, *fold, terms);
                const bool is_any_norm = std::any_of(terms.begin(), terms.end(),
                                                     [&](ValueId v) { return is_norm(v, *fold); });
                if (is_any_norm || terms.size() >= kManyTerms)
                    roots_[n] = {*fold, std::move(terms)};
            }
    }

    struct Root {
        ReduceOp fold = ReduceOp::kSum;
        std::vector<ValueId> terms;  ///< scalars
    };
    const Root* root(NodeId n) const {
        const auto at = roots_.find(n);
        return at == roots_.end() ? nullptr : &at->second;
    }

    /// True if the scalar reduces all elements of a tensor that derives, element by element, from
    /// sums of partial results.
    bool is_norm(ValueId v, ReduceOp fold) const {
        if (!in_blocks_) return false;
        const Node* node = graph_.producer(v);
        while (node != nullptr && is_plain_view(*node)) node = graph_.producer(node->inputs[0]);
        return node != nullptr && is_full_fold(*node, fold) &&
               derives_from_parts(node->inputs[0], graph_.value(node->inputs[0]).shape);
    }

    /// The tensor that this scalar reduces.
    ValueId folded(ValueId v) const {
        const Node* node = graph_.producer(v);
        while (is_plain_view(*node)) node = graph_.producer(node->inputs[0]);
        return node->inputs[0];
    }

  private:
    bool is_number(ValueId v) const { return graph_.value(v).shape.element_count() == Dim(1); }
    bool is_plain_view(const Node& node) const { return node.op->is_reshape; }

    bool is_full_fold(const Node& node, ReduceOp fold) const {
        if (node.op->op_class != OpClass::kReduce || node.op->reduce != fold) return false;
        const Value& x = graph_.value(node.inputs[0]);
        return is_number(node.outputs[0]) && !x.shape.element_count().is_batch &&
               x.dtype == DType::kF32;
    }

    /// The reduction of a node that combines two scalars, or all elements of a tensor, into a
    /// scalar.
    std::optional<ReduceOp> fold_of_numbers(NodeId n) const {
        const Node& node = graph_.nodes[n];
        if (node.outputs.size() != 1 || !is_number(node.outputs[0]) ||
            graph_.value(node.outputs[0]).dtype != DType::kF32)
            return std::nullopt;
        for (const ReduceOp fold : {ReduceOp::kSum, ReduceOp::kMax})
            if (node.op->name == (fold == ReduceOp::kSum ? "add" : "maximum") ||
                is_full_fold(node, fold))
                return fold;
        return std::nullopt;
    }

    /// True if no reader continues a reduction of the same kind.
    bool is_root(NodeId n, ReduceOp fold) const {
        const ValueId v = graph_.nodes[n].outputs[0];
        const std::vector<NodeId>& readers = readers_[v];
        if (readers.size() != 1) return true;
        const Node& reader = graph_.nodes[readers[0]];
        if (is_plain_view(reader)) return is_number(v) && is_root(readers[0], fold);
        return fold_of_numbers(readers[0]) != fold;
    }

    void collect(NodeId n, ReduceOp fold, std::vector<ValueId>& terms) const {
        const Node& node = graph_.nodes[n];
        if (node.op->op_class == OpClass::kReduce && !is_number(node.inputs[0])) {
            terms.push_back(node.outputs[0]);
            return;
        }
        for (ValueId v : node.inputs) {
            const Node* maker = graph_.producer(v);
            const bool goes_on =
                maker != nullptr && readers_[v].size() == 1 &&
                (is_plain_view(*maker) ? is_number(maker->inputs[0])
                                       : fold_of_numbers(graph_.value(v).node) == fold);
            if (goes_on)
                collect(graph_.value(v).node, fold, terms);
            else
                terms.push_back(v);
        }
    }

    bool derives_from_parts(ValueId v, const Shape& shape, int depth = 0) const {
        constexpr int kMaxDepth = 16;
        const Node* node = graph_.producer(v);
        if (node == nullptr || depth == kMaxDepth) return false;
        if (node->op->op_class == OpClass::kReduce) {
            const Node* maker = graph_.producer(node->inputs[0]);
            return maker != nullptr && maker->op->traits.is_partial_sum;
        }
        if (node->op->op_class != OpClass::kElementwise && !is_plain_view(*node)) return false;
        return std::any_of(node->inputs.begin(), node->inputs.end(), [&](ValueId in) {
            return graph_.value(in).shape.element_count() == shape.element_count() &&
                   derives_from_parts(in, shape, depth + 1);
        });
    }

    const Graph& graph_;
    std::vector<std::vector<NodeId>> readers_;
    bool in_blocks_;
    std::map<NodeId, Root> roots_;
};

Tensor in_blocks(const Tensor& x, ReduceOp fold) {
    const int64_t count = x.shape().element_count().count;
    return apply_one(op(fold == ReduceOp::kSum ? "block_sum" : "block_max"),
                     {apply_one(op("reshape"), {x}, {{"shape", Shape{Dim(count)}}})},
                     {{"block", kBlock}});
}

}  // namespace

Result<Graph> split_norms(const Graph& graph, const PassOptions& options) {
    if (!options.any_operands || device_model(options.caps).has_few_cores) return graph;
    const NormFinder norms(graph, options.fused_networks);
    std::map<ValueId, Tensor> now;
    return rewrite(
        graph,
        [&](Trace&, const Node& node,
            std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
            for (size_t i = 0; i < inputs.size(); ++i)
                now.insert_or_assign(node.inputs[i], inputs[i]);
            const auto* root = norms.root(static_cast<NodeId>(&node - graph.nodes.data()));
            if (root == nullptr) return std::nullopt;
            std::vector<Tensor> parts;
            for (ValueId v : root->terms) {
                const bool is_norm = norms.is_norm(v, root->fold);
                parts.push_back(
                    is_norm ? in_blocks(now.at(norms.folded(v)), root->fold)
                            : apply_one(op("reshape"), {now.at(v)}, {{"shape", Shape{Dim(1)}}}));
            }
            const Tensor all = parts.size() == 1
                                   ? parts[0]
                                   : apply(op("concat"), parts, {{"axis", int64_t{0}}})[0];
            const Tensor number =
                apply_one(op(root->fold == ReduceOp::kSum ? "reduce_sum" : "reduce_max"), {all},
                          {{"axes", std::vector<int64_t>{0}}});
            return std::vector<Tensor>{apply_one(op("reshape"), {number},
                                                 {{"shape", graph.value(node.outputs[0]).shape}})};
        });
}

}  // namespace hearth
