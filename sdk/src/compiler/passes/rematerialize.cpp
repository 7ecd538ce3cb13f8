// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rematerialization: trades arithmetic for memory at the peak.  A value that is computed before the
// peak and read after it is recomputed for its late readers.
//
// Greedy, after the idea of Jain et al., "Checkmate", 2020, without its solver.  While the
// estimated peak is above the budget, recomputes the value alive across the peak with the most
// bytes per operation of its recomputation.  The recomputation starts from values that are alive
// then anyway (inputs, weights, values that later kernels read), so no lifetime grows, and it waits
// for the last kernel before its first late reader.  The estimate runs every kernel as early as
// possible; the planner finds better orders.

#include "compiler/fusion/fuse.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/pass.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace hearth {

namespace {

constexpr size_t kMostRepeated = 24;  ///< nodes recomputed for one value
constexpr int kMostSteps = 256;

/// Level of each kernel and lifetime of each stored value.
class Timeline {
  public:
    Timeline(const Graph& graph, const PassOptions& options)
        : graph_(graph),
          rows_(static_cast<int64_t>(options.max_batch_size)),
          narrow_(options.caps.narrow_storage()),
          plan_(fuse(graph, {.spare_memory = true})),
          group_of_(graph.nodes.size(), kInvalidId),
          first_(graph.values.size(), kInvalidId),
          last_(graph.values.size(), 0) {
        find_levels();
        find_lifetimes();
        live_.assign(level_count_, 0);
        for (ValueId v = 0; v < graph.values.size(); ++v)
            for (uint32_t l = first_[v]; l != kInvalidId && l <= last_[v]; ++l)
                live_[l] += bytes(v);
    }

    uint64_t peak_bytes() const {
        return live_.empty() ? 0 : *std::max_element(live_.begin(), live_.end());
    }
    uint32_t peak_level() const {
        return static_cast<uint32_t>(std::max_element(live_.begin(), live_.end()) - live_.begin());
    }
    bool is_stored(ValueId v) const { return first_[v] != kInvalidId; }
    uint32_t first_level(ValueId v) const { return first_[v]; }
    uint32_t last_level(ValueId v) const { return last_[v]; }
    uint64_t bytes(ValueId v) const {
        const Value& value = graph_.value(v);
        return static_cast<uint64_t>(value.shape.element_count(rows_)) *
               size_bytes(device_dtype(value.dtype, narrow_));
    }
    int64_t elements(ValueId v) const { return graph_.value(v).shape.element_count(rows_); }
    /// Level of the node's kernel; if it is inlined, of its first reader.
    uint32_t level_of(NodeId n) const { return node_level_[n]; }
    bool is_inlined(NodeId n) const { return plan_.inlined[n] && group_of_[n] == kInvalidId; }

  private:
    void find_levels() {
        std::vector<uint32_t> maker(graph_.values.size(), kInvalidId);
        node_level_.assign(graph_.nodes.size(), kInvalidId);
        for (uint32_t g = 0; g < plan_.groups.size(); ++g) {
            const Group& group = plan_.groups[g];
            uint32_t level = 0;
            loads_.push_back(loads_of(graph_, group, plan_.inlined));
            for (ValueId v : loads_.back())
                if (maker[v] != kInvalidId) level = std::max(level, level_[maker[v]] + 1);
            level_.push_back(level);
            level_count_ = std::max(level_count_, level + 1);
            for (ValueId v : group.stores) maker[v] = g;
            for (NodeId n : group.nodes) {
                group_of_[n] = g;
                node_level_[n] = level;
            }
        }
        // Inlined nodes run with their readers; the first one counts here.
        const auto readers = readers_of(graph_);
        for (NodeId n = static_cast<NodeId>(graph_.nodes.size()); n-- > 0;)
            for (ValueId v : graph_.nodes[n].outputs)
                for (NodeId r : readers[v])
                    if (group_of_[n] == kInvalidId)
                        node_level_[n] = std::min(node_level_[n], node_level_[r]);
    }

    void find_lifetimes() {
        for (uint32_t g = 0; g < plan_.groups.size(); ++g) {
            for (ValueId v : plan_.groups[g].stores) first_[v] = last_[v] = level_[g];
            for (ValueId v : loads_[g])
                if (first_[v] != kInvalidId) last_[v] = std::max(last_[v], level_[g]);
        }
        for (const Assignment& u : graph_.updates)
            if (first_[u.value] != kInvalidId) last_[u.value] = level_count_ - 1;
        // Outputs are written to the application's buffers.
        for (const GraphOutput& o : graph_.outputs) first_[o.value] = kInvalidId;
    }

    const Graph& graph_;
    int64_t rows_;
    NarrowStorage narrow_;
    FusionPlan plan_;
    std::vector<uint32_t> group_of_, node_level_;
    std::vector<std::vector<ValueId>> loads_;  ///< per group
    std::vector<uint32_t> level_;              ///< per group
    uint32_t level_count_ = 0;
    std::vector<uint32_t> first_, last_;  ///< levels, per value; kNone: no scratch memory
    std::vector<uint64_t> live_;          ///< bytes, per level
};

/// Estimated operations of one run at full capacity.
double operations_of(const Graph& graph, const Timeline& time, const Node& node) {
    double in = 0, out = 0;
    for (ValueId v : node.inputs) in += static_cast<double>(time.elements(v));
    for (ValueId v : node.outputs) out += static_cast<double>(time.elements(v));
    switch (node.op->op_class) {
        case OpClass::kElementwise:
            return out;
        case OpClass::kReduce:
            return in;
        case OpClass::kMatmul: {
            const Shape& a = graph.value(node.inputs[0]).shape;
            const int inner = a.rank() - (node.attrs.flag("transpose_a") ? 2 : 1);
            const int64_t rows = time.elements(node.inputs[0]);
            const auto inner_count =
                a[inner].is_batch ? rows : std::max<int64_t>(1, a[inner].count);
            return 2 * out * static_cast<double>(inner_count);
        }
        default:
            return node.op->is_view ? 0 : 16 * (in + out);  // windows, gathers: several reads each
    }
}

/// A value to recompute.
struct Choice {
    ValueId value = kInvalidId;
    ValueId after = kInvalidId;
    uint32_t peak = 0;
    std::set<NodeId> again;
    double score = 0;
};

class Chooser {
  public:
    Chooser(const Graph& graph, const Timeline& time) : graph_(graph), time_(time) {}

    std::optional<Choice> best() const {
        std::optional<Choice> best;
        const uint32_t peak = time_.peak_level();
        for (ValueId v = 0; v < graph_.values.size(); ++v) {
            const bool spans =
                time_.is_stored(v) && time_.first_level(v) < peak && time_.last_level(v) > peak + 1;
            if (!spans || is_updated(v)) continue;
            std::optional<Choice> choice = consider(v, peak);
            if (choice && (!best || choice->score > best->score)) best = std::move(choice);
        }
        return best;
    }

  private:
    bool is_updated(ValueId v) const {
        return std::any_of(graph_.updates.begin(), graph_.updates.end(),
                           [v](const Assignment& u) { return u.value == v; });
    }

    std::optional<Choice> consider(ValueId v, uint32_t peak) const {
        Choice choice{v, kInvalidId, peak, {}, 0};
        const NodeId reader = first_late_reader(v, peak);
        if (reader == kInvalidId) return std::nullopt;
        const uint32_t late = time_.level_of(reader);
        if (!repeat(v, v, late, choice.again)) return std::nullopt;
        choice.after = last_value_before(reader, peak, late);
        if (choice.after == kInvalidId) return std::nullopt;
        double operations = 1;
        for (NodeId n : choice.again) operations += operations_of(graph_, time_, graph_.nodes[n]);
        choice.score = static_cast<double>(time_.bytes(v)) / operations;
        return choice;
    }

    /// First in the graph's order.
    NodeId first_late_reader(ValueId v, uint32_t peak) const {
        std::vector<bool> leads_to(graph_.values.size());
        leads_to[v] = true;
        for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId in) { return leads_to[in]; });
            if (!reads) continue;
            if (time_.level_of(n) != kInvalidId && time_.level_of(n) > peak) return n;
            if (time_.is_inlined(n))
                for (ValueId out : node.outputs) leads_to[out] = true;
        }
        return kInvalidId;
    }

    /// Collects the nodes to recompute for `u`, stopping at values that are alive at level `late`
    /// anyway.
    bool repeat(ValueId u, ValueId root, uint32_t late, std::set<NodeId>& again) const {
        const Value& value = graph_.value(u);
        if (value.kind != ValueKind::kNode) return true;
        if (u != root && time_.is_stored(u) && time_.last_level(u) >= late) return true;
        if (!again.insert(value.node).second) return true;
        if (again.size() > kMostRepeated) return false;
        const Node& node = graph_.nodes[value.node];
        return std::all_of(node.inputs.begin(), node.inputs.end(),
                           [&](ValueId in) { return repeat(in, root, late, again); });
    }

    ValueId last_value_before(NodeId reader, uint32_t peak, uint32_t late) const {
        ValueId best = kInvalidId;
        for (NodeId n = 0; n < reader; ++n)
            for (ValueId v : graph_.nodes[n].outputs) {
                if (!time_.is_stored(v)) continue;
                const uint32_t level = time_.first_level(v);
                if (level < peak || level >= late) continue;
                if (best == kInvalidId || level > time_.first_level(best)) best = v;
            }
        return best;
    }

    const Graph& graph_;
    const Timeline& time_;
};

/// Rewrites the graph to recompute the chosen value.
class Repeater {
  public:
    Repeater(const Graph& graph, const Timeline& time, const Choice& choice)
        : graph_(graph),
          time_(time),
          choice_(choice),
          now_(graph.values.size()),
          again_(graph.values.size()),
          leads_to_(graph.values.size()) {
        leads_to_[choice.value] = true;
    }

    Result<Graph> run() {
        return rewrite(graph_,
                       [this](Trace& trace, const Node& node, std::span<const Tensor> inputs) {
                           return std::optional(visit(trace, node, inputs));
                       });
    }

  private:
    std::vector<Tensor> visit(Trace& trace, const Node& node, std::span<const Tensor> inputs) {
        const auto index = static_cast<NodeId>(&node - graph_.nodes.data());
        const uint32_t level = time_.level_of(index);
        const bool is_late = level != kInvalidId && level > choice_.peak;
        std::vector<Tensor> operands(inputs.begin(), inputs.end());
        bool reads = false;
        for (size_t i = 0; i < operands.size(); ++i) {
            const ValueId v = node.inputs[i];
            now_[v] = operands[i];
            reads = reads || leads_to_[v];
            if (is_late && leads_to_[v]) operands[i] = again(trace, v);
        }
        // Views are computed in each reader: late readers use their own copies of the views.
        if (reads && !is_late && time_.is_inlined(index))
            for (ValueId out : node.outputs) leads_to_[out] = true;
        std::vector<Tensor> outputs = apply(*node.op, operands, node.attrs, &trace);
        for (size_t i = 0; i < node.outputs.size(); ++i) now_[node.outputs[i]] = outputs[i];
        return outputs;
    }

    Tensor again(Trace& trace, ValueId v) {
        if (again_[v].trace() != nullptr) return again_[v];
        const Value& value = graph_.value(v);
        const bool repeats =
            value.kind == ValueKind::kNode && (choice_.again.count(value.node) > 0 || leads_to_[v]);
        if (!repeats) {
            const bool waits = value.kind == ValueKind::kNode || value.kind == ValueKind::kInput;
            again_[v] =
                waits ? apply_one(op("compute_after"), {now_[v], now_[choice_.after]}) : now_[v];
            return again_[v];
        }
        const Node& node = graph_.nodes[value.node];
        std::vector<Tensor> inputs;
        for (ValueId in : node.inputs) inputs.push_back(again(trace, in));
        const std::vector<Tensor> outputs = apply(*node.op, inputs, node.attrs, &trace);
        for (size_t i = 0; i < node.outputs.size(); ++i) again_[node.outputs[i]] = outputs[i];
        return again_[v];
    }

    const Graph& graph_;
    const Timeline& time_;
    const Choice& choice_;
    std::vector<Tensor> now_, again_;  ///< per value of the old graph
    std::vector<bool> leads_to_;       ///< the chosen value, and views of it that are read early
};

}  // namespace

uint64_t estimated_scratch_bytes(const Graph& graph, const PassOptions& options) {
    return Timeline(graph, options).peak_bytes();
}

Result<Graph> rematerialize(const Graph& graph, uint64_t budget_bytes, const PassOptions& options) {
    Graph best = graph, now = graph;
    uint64_t least = estimated_scratch_bytes(graph, options);
    for (int step = 0; step < kMostSteps && least > budget_bytes; ++step) {
        const Timeline time(now, options);
        const std::optional<Choice> choice = Chooser(now, time).best();
        if (!choice) break;
        HEARTH_ASSIGN(now, Repeater(now, time, *choice).run());
        if (const uint64_t bytes = estimated_scratch_bytes(now, options); bytes <= least) {
            least = bytes;
            best = now;
        }
    }
    return best;
}

}  // namespace hearth
