// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/reduction/replicated_scalars.hpp"

#include "compiler/codegen/reduction/reduction_kernel.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

namespace {

// What working a number out again may cost: elements that a workgroup reads, and all of them.  A
// level of dependent kernels takes a large GPU 3 us or more; in that time it reads about this much
// from its cache.
constexpr int64_t kMostElements = 4096;
constexpr int64_t kMostReads = int64_t{1} << 22;

class NumberFolder {
  public:
    NumberFolder(const Graph& graph, FusionPlan& plan, const LowerOptions& options)
        : graph_(graph),
          plan_(plan),
          options_(options),
          leaves_(leaves_graph(graph)),
          in_region_(graph.values.size(), false) {
        for (const Group& group : plan.groups)
            for (ValueId v : group.stores) in_region_[v] = group.in_region;
    }

    void run() {
        attach_blocks();
        join_updates();
        give_numbers();
        join_updates();  // of those too whose readers work them out now
        drop_unread();
    }

  private:
    bool is_number(ValueId v) const { return graph_.value(v).shape.element_count() == Dim(1); }

    /// The group that stores each value, or kNone.
    std::vector<uint32_t> makers() const {
        std::vector<uint32_t> maker(graph_.values.size(), kInvalidId);
        for (uint32_t g = 0; g < plan_.groups.size(); ++g)
            for (ValueId v : plan_.groups[g].stores) maker[v] = g;
        return maker;
    }

    // ------------------------------------------------------------------------ folds of blocks

    void attach_blocks() {
        for (size_t b = 0; b < plan_.groups.size();) {
            const Group& blocks = plan_.groups[b];
            const Node& node = graph_.nodes[blocks.nodes[0]];
            uint32_t host = kInvalidId;
            if (blocks.nodes.size() == 1 && is_block_fold(node) &&
                reads_elements(node.inputs[0], makers(), host) && host != kInvalidId &&
                can_fold_blocks(host, node)) {
                Group& group = plan_.groups[host];
                const NodeId n = blocks.nodes[0];
                group.nodes.insert(std::upper_bound(group.nodes.begin(), group.nodes.end(), n), n);
                group.stores.push_back(node.outputs[0]);
                plan_.groups.erase(plan_.groups.begin() + static_cast<std::ptrdiff_t>(b));
            } else {
                ++b;
            }
        }
    }

    /// Whether an element of `v` is made of the same elements of what one group stores, `host`, of
    /// leaves, and of numbers that are leaves.
    bool reads_elements(ValueId v, const std::vector<uint32_t>& maker, uint32_t& host) const {
        const Value& value = graph_.value(v);
        if (value.kind != ValueKind::kNode) return true;
        const Node& node = graph_.nodes[value.node];
        if (!plan_.inlined[value.node]) {
            if (maker[v] == kInvalidId || (host != kInvalidId && host != maker[v])) return false;
            host = maker[v];
            return true;
        }
        const bool is_reshape = node.op->is_reshape;
        if (node.op->op_class != OpClass::kElementwise && !is_reshape) return false;
        return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) {
            const bool is_leaf = graph_.value(in).kind != ValueKind::kNode;
            const bool is_aligned = is_reshape || graph_.value(in).shape == value.shape;
            return (is_aligned || (is_leaf && is_number(in))) && reads_elements(in, maker, host);
        });
    }

    bool can_fold_blocks(uint32_t host, const Node& fold) const {
        const Group& group = plan_.groups[host];
        if (group.kind != GroupKind::kReduction || group.in_region) return false;
        const ReductionLayout layout = reduction_layout(group, options_);
        const Dim outer = layout.outer.element_count();
        const auto block = static_cast<uint32_t>(fold.attrs.integer("block"));
        return graph_.value(fold.inputs[0]).shape.rank() == 1 &&
               outer == graph_.value(fold.inputs[0]).shape.element_count() && !layout.is_looped &&
               !outer.is_batch && (outer.count == 1 || layout.columns % block == 0);
    }

    // ------------------------------------------------------------------ updates of single numbers

    void join_updates() {
        note_reads();
        const auto is_update = [&](const Group& group) {
            return group.kind == GroupKind::kElementwise && !group.in_region &&
                   group.space.element_count() == Dim(1) && is_last(group);
        };
        Group all;
        bool is_any = false;
        for (const Group& group : plan_.groups) {
            if (!is_update(group)) continue;
            if (!is_any) all.space = group.space;
            is_any = true;
            all.nodes.insert(all.nodes.end(), group.nodes.begin(), group.nodes.end());
            all.stores.insert(all.stores.end(), group.stores.begin(), group.stores.end());
            for (const std::shared_ptr<const Group>& number : group.replicated_scalars)
                if (std::find(all.replicated_scalars.begin(), all.replicated_scalars.end(),
                              number) == all.replicated_scalars.end())
                    all.replicated_scalars.push_back(number);
        }
        if (!is_any) return;
        std::sort(all.nodes.begin(), all.nodes.end());
        std::sort(all.stores.begin(), all.stores.end());
        std::erase_if(plan_.groups, is_update);
        plan_.groups.push_back(std::move(all));
    }

    // ------------------------------------------------------------------------------- numbers

    void note_reads() {
        is_read_.assign(graph_.values.size(), false);
        for (const Group& group : plan_.groups)
            for (ValueId v : loads_of(graph_, group, plan_.inlined)) is_read_[v] = true;
    }

    /// Whether no group reads what this one stores: most likely, it updates params.
    bool is_last(const Group& group) const {
        return std::none_of(group.stores.begin(), group.stores.end(),
                            [&](ValueId v) { return is_read_[v]; });
    }

    int64_t count_of(const Shape& shape) const {
        return shape.element_count(static_cast<int64_t>(options_.rows_capacity));
    }

    /// Whether the group's results are numbers that others may work out again: a fold of a few
    /// elements, or arithmetic on such numbers.
    bool is_short_fold(const Group& group) const {
        const bool is_fold = group.kind == GroupKind::kReduction;
        const bool is_arithmetic = group.kind == GroupKind::kElementwise &&
                                   !group.replicated_scalars.empty() &&
                                   group.space.element_count() == Dim(1);
        return (is_fold || is_arithmetic) && !group.in_region &&
               count_of(group.space) <= kMostElements &&
               std::all_of(group.stores.begin(), group.stores.end(),
                           [&](ValueId v) { return is_number(v); }) &&
               std::none_of(group.nodes.begin(), group.nodes.end(),
                            [&](NodeId n) { return is_block_fold(graph_.nodes[n]); });
    }

    void give_numbers() {
        // What the region reads may come after some of its groups; it runs as one.
        uint32_t region = 0;
        for (uint32_t next = 0; (next = find_levels(region, false)) > region;) region = next;
        (void)find_levels(region, true);
    }

    /// Finds the level of each group if the region's is `region`, and returns what that would have
    /// to be.  give: lets groups work out the numbers that they would have to wait for.
    uint32_t find_levels(uint32_t region, bool give) {
        std::vector<std::shared_ptr<const Group>> maker(graph_.values.size());
        std::vector<uint32_t> ready(graph_.values.size(), 0);  // first level that can load it
        uint32_t least_region = 0;
        for (Group& group : plan_.groups) {
            const std::vector<ValueId> loads = loads_of(graph_, group, plan_.inlined);
            uint32_t level = 0;
            for (ValueId v : loads) {
                const Value& value = graph_.value(v);
                if (group.in_region && value.kind == ValueKind::kNode && in_region_[v]) continue;
                level = std::max(level, can_take(group, v, maker) ? ready[v] - 1 : ready[v]);
            }
            if (group.in_region) {
                least_region = std::max(least_region, level);
                level = region;
            }
            for (ValueId v : loads)
                // What is there by then anyway need not be worked out again.
                if (give && can_take(group, v, maker) && ready[v] > level &&
                    group.number(v) == nullptr)
                    group.replicated_scalars.push_back(maker[v]);
            for (ValueId v : group.stores) ready[v] = level + 1;
            if (!is_short_fold(group)) continue;
            const auto shared = std::make_shared<const Group>(group);
            for (ValueId v : group.stores) maker[v] = shared;
        }
        return least_region;
    }

    /// Whether `v` is a number that workgroups of the group may work out themselves.
    bool can_take(const Group& group, ValueId v,
                  const std::vector<std::shared_ptr<const Group>>& maker) const {
        const bool can_fold = group.in_region || group.kind == GroupKind::kElementwise ||
                              group.kind == GroupKind::kReduction;
        const int64_t groups = count_of(group.space) / usual_workgroup_size(options_.caps) + 1;
        return can_fold && maker[v] != nullptr &&
               (group.in_region || groups * count_of(maker[v]->space) <= kMostReads);
    }

    /// Takes out groups whose results every reader works out itself.
    void drop_unread() {
        for (bool changed = true; changed;) {
            note_reads();
            const size_t before = plan_.groups.size();
            std::erase_if(plan_.groups, [&](const Group& group) {
                return std::none_of(group.stores.begin(), group.stores.end(),
                                    [&](ValueId v) { return is_read_[v] || leaves_[v]; });
            });
            changed = plan_.groups.size() != before;
        }
    }

    const Graph& graph_;
    FusionPlan& plan_;
    const LowerOptions& options_;
    std::vector<bool> leaves_;
    std::vector<bool> in_region_;  ///< per value: a group of the region stores it
    std::vector<bool> is_read_;    ///< per value: by a group
};

}  // namespace

void replicate_scalars(const Graph& graph, FusionPlan& plan, const LowerOptions& options) {
    NumberFolder(graph, plan, options).run();
}

}  // namespace hearth
