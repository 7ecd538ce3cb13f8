// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the nodes above a product's left operand that its kernel can compute as a prologue.

#include "compiler/fusion/matmul_prologue.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

bool is_reshape_or_cast(const Node& node) {
    return node.op->is_reshape || node.op->is_cast;
}

class PrologueFinder {
  public:
    PrologueFinder(const Graph& graph, NodeId product)
        : graph_(graph),
          product_(product),
          operand_(graph.nodes[product].inputs[0]),
          readers_(readers_of(graph)),
          leaves_(leaves_graph(graph)) {}

    std::optional<MatmulPrologue> run() {
        const Node& node = graph_.nodes[product_];
        const Shape& shape = graph_.value(operand_).shape;
        if (node.attrs.flag("transpose_a") || node.attrs.has("parts") || shape.rank() < 2 ||
            shape[shape.rank() - 1].is_batch)
            return std::nullopt;
        columns_ = shape[shape.rank() - 1].count;
        count_ = shape.element_count();
        if (columns_ < 1 || count_.count < columns_) return std::nullopt;
        // Tries the values farthest from the product first.
        for (ValueId raw : values_above()) {
            MatmulPrologue prologue{raw, {}};
            if (is_raw(raw) && add_nodes(prologue) && is_closed(prologue)) return prologue;
        }
        return std::nullopt;
    }

  private:
    bool is_rows(ValueId v) const {
        const Shape& shape = graph_.value(v).shape;
        return shape.element_count() == count_ && shape.rank() > 0 &&
               shape[shape.rank() - 1] == Dim(columns_);
    }
    bool is_number_of_each_row(ValueId v) const {
        return graph_.value(v).shape.element_count() ==
               Dim(count_.count / columns_, count_.is_batch);
    }
    bool is_same_for_all_rows(ValueId v) const {
        const Dim count = graph_.value(v).shape.element_count();
        return !count.is_batch && count.count <= columns_;
    }

    bool folds_row(const Node& node) const {
        if (node.op->op_class != OpClass::kReduce || !is_rows(node.inputs[0])) return false;
        const auto last = static_cast<int64_t>(graph_.value(node.inputs[0]).shape.rank()) - 1;
        return node.attrs.integers("axes") == std::vector<int64_t>{last};
    }

    bool can_be_part(const Node& node) const {
        if (node.outputs.size() != 1) return false;
        if (folds_row(node)) return true;
        const ValueId out = node.outputs[0];
        const bool is_simple =
            node.op->op_class == OpClass::kElementwise || is_reshape_or_cast(node);
        return is_simple &&
               (is_rows(out) || is_number_of_each_row(out) || is_same_for_all_rows(out));
    }

    /// Calls f(node id) for all nodes between `stop` or the leaves and the operand, while it
    /// returns true.
    template <class F>
    bool for_each_above(ValueId stop, F f) const {
        std::vector<ValueId> stack{operand_};
        std::vector<bool> seen(graph_.nodes.size());
        while (!stack.empty()) {
            const ValueId v = stack.back();
            stack.pop_back();
            const Value& value = graph_.value(v);
            if (v == stop || value.kind != ValueKind::kNode || seen[value.node]) continue;
            seen[value.node] = true;
            if (!f(value.node)) return false;
            const Node& node = graph_.nodes[value.node];
            if (can_be_part(node))
                stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
        }
        return true;
    }

    /// Full-row tensors that the operand derives from, farthest first.
    std::vector<ValueId> values_above() const {
        std::vector<ValueId> values;
        (void)for_each_above(kInvalidId, [&](NodeId n) {
            if (can_be_part(graph_.nodes[n])) {
                const std::vector<ValueId>& in = graph_.nodes[n].inputs;
                values.insert(values.end(), in.begin(), in.end());
            }
            return true;
        });
        std::ranges::sort(values);
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }

    bool is_raw(ValueId v) const {
        const Node* producer = graph_.producer(v);
        const bool is_view = producer != nullptr && producer->op->op_class == OpClass::kInjective;
        const DType dtype = graph_.value(v).dtype;
        return graph_.value(v).shape.element_count() == count_ && !is_view &&
               (dtype == DType::kF16 || dtype == DType::kF32);
    }

    bool add_nodes(MatmulPrologue& prologue) const {
        constexpr size_t kMostNodes = 32;  // every column of workgroups recomputes all of them
        bool folds = false;
        const bool are_parts = for_each_above(prologue.raw, [&](NodeId n) {
            prologue.nodes.push_back(n);
            folds = folds || folds_row(graph_.nodes[n]);
            return can_be_part(graph_.nodes[n]) && prologue.nodes.size() <= kMostNodes;
        });
        std::ranges::sort(prologue.nodes);
        return are_parts && folds;
    }

    bool is_closed(const MatmulPrologue& prologue) const {
        const auto is_member = [&](NodeId n) {
            return std::ranges::binary_search(prologue.nodes, n);
        };
        for (NodeId n : prologue.nodes) {
            const ValueId out = graph_.nodes[n].outputs[0];
            if (leaves_[out] || out == graph_.nodes[product_].inputs[1]) return false;
            for (NodeId r : readers_[out])
                if (r != product_ && !is_member(r)) return false;
            for (ValueId v : graph_.nodes[n].inputs) {
                const Value& in = graph_.value(v);
                const bool is_inside = in.kind == ValueKind::kNode && is_member(in.node);
                if (v != prologue.raw && !is_inside && !is_same_for_all_rows(v)) return false;
            }
        }
        return true;
    }

    const Graph& graph_;
    NodeId product_;
    ValueId operand_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<bool> leaves_;
    int64_t columns_ = 0;
    Dim count_;
};

}  // namespace

std::optional<MatmulPrologue> find_matmul_prologue(const Graph& graph, NodeId product) {
    return PrologueFinder(graph, product).run();
}

}  // namespace hearth
