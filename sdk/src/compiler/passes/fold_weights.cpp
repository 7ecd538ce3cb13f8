// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/passes/fold_weights.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/rewrite.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

namespace hearth {

namespace {

/// Element-wise evaluation takes about 0.1 us an element: at most some seconds.
constexpr int64_t kMostElements = 1 << 24;

class WeightFolder {
  public:
    explicit WeightFolder(const Graph& graph)
        : graph_(graph),
          readers_(readers_of(graph)),
          leaves_graph_(leaves_graph(graph)),
          is_weight_(graph.values.size()),
          is_stored_(graph.values.size()) {}

    Result<Graph> run() {
        find_weights();
        find_results();
        drop_growing();
        if (results_.empty()) return graph_;
        for (const auto& [v, leaves] : results_) {
            HEARTH_TRY(evaluate(v));
            name_result(v, leaves);
        }
        return rewrite(graph_, [this](Trace& trace, const Node& node, std::span<const Tensor>) {
            return replaced(trace, node);
        });
    }

  private:
    static bool is_view(const Node& node) {
        return node.op->is_view || node.op->is_reshape || node.op->is_cast;
    }
    uint64_t bytes_of(ValueId v) const {
        const Value& value = graph_.values[v];
        return static_cast<uint64_t>(value.shape.element_count(1)) * size_bytes(value.dtype);
    }

    /// Marks the values that depend on weights alone, and those of them that a run would store.
    void find_weights() {
        for (ValueId v = 0; v < graph_.values.size(); ++v) {
            const Value& value = graph_.values[v];
            is_weight_[v] = value.kind == ValueKind::kConstant ||
                            (value.kind == ValueKind::kParam && value.data != nullptr);
        }
        for (const Node& node : graph_.nodes) {
            const auto is_weight = [&](ValueId v) { return is_weight_[v]; };
            if (node.inputs.empty() || node.outputs.size() != 1 || asks_for_rows(node.attrs) ||
                node.op->name.starts_with("random_") ||
                !std::ranges::all_of(node.inputs, is_weight))
                continue;
            const ValueId out = node.outputs[0];
            if (graph_.values[out].shape.has_batch()) continue;
            is_weight_[out] = true;
            is_stored_[out] = !is_view(node) || std::ranges::any_of(node.inputs, [&](ValueId v) {
                return is_stored_[v];
            });
        }
    }

    /// Collects the stored values that anything but weights reads, with the leaves behind them.
    void find_results() {
        int64_t elements = 0;
        for (const Node& node : graph_.nodes) {
            const ValueId v = node.outputs[0];
            if (!is_stored_[v]) continue;
            const bool is_read =
                leaves_graph_[v] || std::ranges::any_of(readers_[v], [&](NodeId r) {
                    return !is_weight_[graph_.nodes[r].outputs[0]];
                });
            if (!is_read) continue;
            std::set<ValueId> leaves;
            elements += collect_leaves(v, leaves);
            if (elements > kMostElements) return;
            results_[v] = std::move(leaves);
        }
    }

    /// Returns the number of elements of all values that have to be evaluated.
    int64_t collect_leaves(ValueId v, std::set<ValueId>& leaves) const {
        int64_t elements = 0;
        std::set<ValueId> seen{v};
        std::vector<ValueId> stack{v};
        while (!stack.empty()) {
            const ValueId at = stack.back();
            stack.pop_back();
            const Node* node = graph_.producer(at);
            if (node == nullptr) {
                leaves.insert(at);
                continue;
            }
            elements += graph_.values[at].shape.element_count(1);
            for (ValueId in : node->inputs)
                if (seen.insert(in).second) stack.push_back(in);
        }
        return elements;
    }

    /// Drops the results that share weights and are larger than the weights that nothing else reads.
    void drop_growing() {
        constexpr uint64_t kSmall = 1 << 12;
        std::vector<ValueId> group(graph_.values.size());
        std::iota(group.begin(), group.end(), 0u);
        const auto root = [&](ValueId v) {
            while (group[v] != v) v = group[v] = group[group[v]];
            return v;
        };
        for (const auto& [v, leaves] : results_)
            for (ValueId leaf : leaves) group[root(leaf)] = root(v);
        std::map<ValueId, uint64_t> before, after;
        std::set<ValueId> counted;
        for (const auto& [v, leaves] : results_) {
            after[root(v)] += bytes_of(v);
            for (ValueId leaf : leaves)
                if (counted.insert(leaf).second && is_replaced(leaf))
                    before[root(v)] += bytes_of(leaf);
        }
        std::erase_if(results_, [&](const auto& result) {
            const ValueId r = root(result.first);
            return after[r] > before[r] + kSmall;
        });
    }

    /// True if only weights read the leaf, none of them in place of a result.
    bool is_replaced(ValueId leaf) const {
        std::vector<ValueId> stack{leaf};
        std::set<ValueId> seen{leaf};
        while (!stack.empty()) {
            const ValueId v = stack.back();
            stack.pop_back();
            if (results_.contains(v)) continue;
            if (leaves_graph_[v]) return false;
            for (NodeId r : readers_[v]) {
                const ValueId out = graph_.nodes[r].outputs[0];
                if (!is_weight_[out]) return false;
                if (seen.insert(out).second) stack.push_back(out);
            }
        }
        return true;
    }

    Status evaluate(ValueId v) {
        std::vector<ValueId> stack{v};
        while (!stack.empty()) {
            const ValueId at = stack.back();
            const Node& node = *graph_.producer(at);
            const size_t height = stack.size();
            std::vector<const HostTensor*> inputs;
            for (ValueId in : node.inputs) {
                inputs.push_back(contents(in));
                if (inputs.back() == nullptr) stack.push_back(in);
            }
            if (stack.size() > height) continue;
            stack.pop_back();
            if (known_.contains(at)) continue;
            HEARTH_ASSIGN(std::vector<HostTensor> found,
                          evaluate_node(*node.op, node.attrs, inputs));
            known_.emplace(at, std::move(found[0]));
        }
        return {};
    }

    const HostTensor* contents(ValueId v) const {
        if (const HostTensor* data = graph_.values[v].data.get()) return data;
        const auto at = known_.find(v);
        return at != known_.end() ? &at->second : nullptr;
    }

    /// Names a result by the first param that it depends on.
    void name_result(ValueId v, const std::set<ValueId>& leaves) {
        for (ValueId leaf : leaves) {
            if (graph_.values[leaf].kind != ValueKind::kParam) continue;
            const std::string base = graph_.values[leaf].name + ".folded";
            const int count = ++name_counts_[base];
            names_[v] = count == 1 ? base : base + std::to_string(count);
            return;
        }
    }

    std::optional<std::vector<Tensor>> replaced(Trace& trace, const Node& node) const {
        const ValueId v = node.outputs[0];
        if (!results_.contains(v)) return std::nullopt;
        const HostTensor& data = known_.at(v);
        const auto name = names_.find(v);
        if (name == names_.end()) return {{trace.constant(data)}};
        return {{trace.param(name->second, data.shape(), Init::from(data), data.dtype())}};
    }

    const Graph& graph_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<bool> leaves_graph_, is_weight_, is_stored_;
    std::map<ValueId, std::set<ValueId>> results_;  ///< with their leaves
    std::map<ValueId, HostTensor> known_;
    std::map<ValueId, std::string> names_;
    std::map<std::string, int> name_counts_;
};

}  // namespace

Result<Graph> fold_weights(const Graph& graph) {
    if (!graph.updates.empty()) return graph;
    return WeightFolder(graph).run();
}

}  // namespace hearth
