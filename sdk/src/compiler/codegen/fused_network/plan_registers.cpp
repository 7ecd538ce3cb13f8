// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where shared memory and registers go when subgroups keep their rows in registers
// (row_stage_fragments.cpp).

#include "compiler/codegen/fused_network/plan.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace hearth {

namespace {

int round_up(int value, int to) {
    return (value + to - 1) / to * to;
}

class RegisterPlanner {
  public:
    RegisterPlanner(const Graph& graph, const std::vector<bool>& inlined,
                    const LowerOptions& options, NetworkPlan& plan)
        : graph_(graph), inlined_(inlined), options_(options), plan_(plan) {}

    Status run() {
        plan_.in_registers = true;
        HEARTH_TRY(check_kinds());
        std::stable_partition(plan_.stages.begin(), plan_.stages.end(),
                              [&](const NetworkStage& s) { return !sums_columns(s); });
        plan_.computes = static_cast<size_t>(
            std::count_if(plan_.stages.begin(), plan_.stages.end(),
                          [&](const NetworkStage& s) { return !sums_columns(s); }));
        note_makers();
        HEARTH_TRY(make_steps());
        set_threads();
        HEARTH_TRY(check_registers());
        return place();
    }

  private:
    bool sums_columns(const NetworkStage& s) const {
        return s.kind == NetworkStageKind::kGradient ||
               (s.kind == NetworkStageKind::kRowSum && row_sum_columns(graph_, s) > 1);
    }

    Status check_kinds() const {
        for (const NetworkStage& s : plan_.stages)
            if (s.kind == NetworkStageKind::kReduction)
                return unsupported("a reduction within rows needs more than one subgroup's rows");
        for (const NetworkStage& s : plan_.stages)
            for (size_t i = 0; s.group != nullptr && i < s.group->stores.size(); ++i) {
                const Value& value = graph_.value(s.group->stores[i]);
                if (s.kind == NetworkStageKind::kGradient || s.kind == NetworkStageKind::kRowSum)
                    continue;
                if (value.shape.rank() != 2 ||
                    (value.dtype != DType::kF16 && value.dtype != DType::kF32 &&
                     value.dtype != DType::kBool))
                    return unsupported("it computes what is no matrix of numbers");
            }
        return {};
    }

    /// Notes which stage makes each value; inputs of products that no group makes are loaded.
    void note_makers() {
        for (size_t i = 0; i < plan_.computes; ++i) {
            const NetworkStage& s = plan_.stages[i];
            if (s.kind == NetworkStageKind::kFill)
                maker_[plan_.tiles[static_cast<size_t>(s.left)].value] = i;
            else
                for (ValueId v : s.group->stores) maker_[v] = i;
        }
    }

    ValueId factor(int tile) const { return plan_.tiles[static_cast<size_t>(tile)].value; }

    /// The stage by which both factors are made.
    size_t ready(const NetworkStage& gradient) const {
        size_t at = 0;
        for (int tile : {gradient.left, gradient.right})
            if (const auto found = maker_.find(factor(tile)); found != maker_.end())
                at = std::max(at, found->second);
        return at;
    }

    bool is_product(size_t stage) const {
        return plan_.stages[stage].kind == NetworkStageKind::kProduct;
    }

    Status make_steps() {
        std::vector<int> gradients, sums;
        for (size_t i = plan_.computes; i < plan_.stages.size(); ++i)
            (plan_.stages[i].kind == NetworkStageKind::kGradient ? gradients : sums)
                .push_back(static_cast<int>(i));
        const auto ready_at = [&](int g) { return ready(plan_.stages[static_cast<size_t>(g)]); };
        std::stable_sort(gradients.begin(), gradients.end(),
                         [&](int a, int b) { return ready_at(a) < ready_at(b); });
        plan_.back = plan_.computes;
        if (!gradients.empty()) {
            plan_.back = ready_at(gradients[0]) + 1;
            while (plan_.back < plan_.computes && !is_product(plan_.back)) ++plan_.back;
        }
        for (size_t at = plan_.back; at < plan_.computes || !gradients.empty();) {
            RowStep step{.first = at, .last = at};
            if (!gradients.empty() && ready_at(gradients[0]) < at) {
                step.gradient = gradients[0];
                gradients.erase(gradients.begin());
                step.sums = take_sums(plan_.stages[static_cast<size_t>(step.gradient)], sums);
            }
            if (at < plan_.computes) ++at;
            while (at < plan_.computes && !is_product(at)) ++at;
            if (at < plan_.computes) step.next_weight = plan_.stages[at].weight;
            step.last = at;
            plan_.steps.push_back(step);
        }
        return sums.empty() ? Status()
                            : unsupported("a sum over rows is not of a weight gradient's factor");
    }

    /// Takes those of `sums` that add up a factor of the gradient.
    std::vector<int> take_sums(const NetworkStage& gradient, std::vector<int>& sums) const {
        std::vector<int> taken;
        std::erase_if(sums, [&](int s) {
            const Node& node = *plan_.stages[static_cast<size_t>(s)].node;
            const bool is_factor =
                node.inputs[0] == factor(gradient.left) || node.inputs[0] == factor(gradient.right);
            const bool is_taken = is_factor && node.attrs.integers("axes").size() == 1 &&
                                  graph_.value(node.inputs[0]).dtype == DType::kF16;
            if (is_taken) taken.push_back(s);
            return is_taken;
        });
        return taken;
    }

    void set_threads() {
        const auto most = static_cast<int>(max_workgroup_size(options_.caps));
        const auto size = static_cast<int>(options_.caps.subgroup_size);
        plan_.subgroups = std::min(kRegisterSubgroups, most / size);
        plan_.threads = plan_.subgroups * size;
        plan_.blocks = plan_.parts != 0 ? 1 : 2;
        plan_.tile_rows = plan_.subgroups * plan_.blocks *
                          static_cast<int>(options_.caps.cooperative_matrix_shape.m);
    }

    // ------------------------------------------------------------------------------- registers

    /// Registers of a thread for a value's rows.
    int registers_of(ValueId v) const {
        const Shape& shape = graph_.value(v).shape;
        const int matrices = round_up(static_cast<int>(shape[1].count), plan_.edge) / plan_.edge;
        const int each = plan_.edge * plan_.edge / static_cast<int>(options_.caps.subgroup_size);
        return plan_.blocks * matrices * each / (graph_.value(v).dtype == DType::kF16 ? 2 : 1);
    }

    /// The last stage before or during which a value is read.
    std::map<ValueId, size_t> last_reads() const {
        std::map<ValueId, size_t> last;
        for (size_t i = 0; i < plan_.computes; ++i) {
            const NetworkStage& s = plan_.stages[i];
            if (s.left >= 0) last[factor(s.left)] = i;
            if (s.group != nullptr)
                for (ValueId v : loads_of(graph_, *s.group, inlined_)) last[v] = i;
        }
        for (const RowStep& step : plan_.steps)
            if (step.gradient >= 0) {
                const NetworkStage& g = plan_.stages[static_cast<size_t>(step.gradient)];
                for (int tile : {g.left, g.right})
                    if (!is_read_again(factor(tile)))
                        last[factor(tile)] = std::max(last[factor(tile)], step.first);
            }
        return last;
    }

    bool is_read_again(ValueId v) const { return graph_.value(v).kind == ValueKind::kInput; }

    Status check_registers() const {
        int sums = 0;
        const auto size = static_cast<int>(options_.caps.subgroup_size);
        for (const NetworkStage& s : plan_.stages)
            if (s.kind == NetworkStageKind::kGradient) {
                const int matrices =
                    plan_.tiles[static_cast<size_t>(s.left)].padded() / plan_.edge *
                    (plan_.tiles[static_cast<size_t>(s.right)].padded() / plan_.edge);
                sums += (matrices + plan_.subgroups - 1) / plan_.subgroups * plan_.edge *
                        plan_.edge / size;
            }
        const std::map<ValueId, size_t> last = last_reads();
        int peak = 0;
        for (size_t i = 0; i < plan_.computes; ++i) {
            int alive = 0;
            for (const auto& [v, maker] : maker_)
                if (const auto at = last.find(v); maker <= i && at != last.end() && at->second >= i)
                    alive += registers_of(v);
            if (is_product(i)) {
                const RowWeight& w = plan_.weights[static_cast<size_t>(plan_.stages[i].weight)];
                alive = std::max(alive, alive_during_sum(i, last) +
                                            plan_.blocks * w.padded_outer() * plan_.edge / size);
            }
            peak = std::max(peak, alive);
        }
        if (peak + sums + kOtherRowRegisters > kMostRowRegisters)
            return unsupported("rows in registers would take " +
                               std::to_string(peak + sums + kOtherRowRegisters) + " of them");
        return {};
    }

    int alive_during_sum(size_t i, const std::map<ValueId, size_t>& last) const {
        int alive = 0;
        for (const auto& [v, maker] : maker_)
            if (const auto at = last.find(v); maker < i && at != last.end() && at->second >= i)
                alive += registers_of(v);
        return alive;
    }

    // --------------------------------------------------------------------------- shared memory

    int size_of(const RowWeight& w) const { return w.stride * w.padded_lines(); }

    Status place() {
        const auto limit = static_cast<int>(options_.caps.max_compute_shared_memory_size / 4);
        int base = round_up(plan_.edge, 4);
        plan_.positions_offset = 0;
        for (RowVector& v : plan_.vectors) {
            v.offset = base;
            base += round_up(v.count, plan_.edge);
        }
        if (options_.caps.cooperative_matrix == CooperativeMatrixExt::kKhr &&
            !options_.caps.cooperative_matrix_nv) {
            for (const NetworkStage& s : plan_.stages)
                if (s.kind == NetworkStageKind::kProduct)
                    plan_.own_stride =
                        std::max(plan_.own_stride, plan_.tiles[static_cast<size_t>(s.left)].stride);
            plan_.own_offset = base;
            base += plan_.subgroups * plan_.edge * plan_.own_stride;
        }
        for (RowWeights mode : {RowWeights::kOnce, RowWeights::kAhead}) {
            plan_.mode = mode;
            plan_.shared_floats = mode == RowWeights::kOnce ? place_once(base) : place_ahead(base);
            // Sums at the end take the place of all else.
            plan_.shared_floats = std::max({plan_.shared_floats, 2 * plan_.threads,
                                            plan_.subgroups * plan_.edge * (plan_.edge + 4)});
            if (plan_.shared_floats <= limit) return {};
        }
        return unsupported("weights and what subgroups share take " +
                           std::to_string(4 * plan_.shared_floats) + " of " +
                           std::to_string(4 * limit) + " bytes of shared memory");
    }

    /// Places for the factors of gradients; returns what is behind them.
    int place_exchange(int base) {
        int sizes[2] = {0, 0};
        for (const RowStep& step : plan_.steps) {
            if (step.gradient < 0) continue;
            const NetworkStage& g = plan_.stages[static_cast<size_t>(step.gradient)];
            sizes[0] = std::max(sizes[0], plan_.tiles[static_cast<size_t>(g.left)].stride);
            sizes[1] = std::max(sizes[1], plan_.tiles[static_cast<size_t>(g.right)].stride);
        }
        plan_.exchange[0] = base;
        plan_.exchange[1] = base + sizes[0] * plan_.tile_rows;
        return plan_.exchange[1] + sizes[1] * plan_.tile_rows;
    }

    /// All weights stay.
    int place_once(int base) {
        for (RowWeight& w : plan_.weights) {
            if (w.same_as >= 0) {
                w.offset = plan_.weights[static_cast<size_t>(w.same_as)].offset;
                continue;
            }
            w.offset = base;
            base += size_of(w);
        }
        plan_.matrix_stride = plan_.edge + 4;
        return place_exchange(base);
    }

    /// On the way back weights come one by one; the first of them lie there already.
    int place_ahead(int base) {
        int place_size = 0, first_back = -1;
        for (size_t i = plan_.back; i < plan_.computes; ++i)
            if (is_product(i)) {
                const int index = plan_.stages[i].weight;
                if (first_back < 0) first_back = index;
                place_size =
                    std::max(place_size, size_of(plan_.weights[static_cast<size_t>(index)]));
            }
        if (first_back < 0) return place_once(base);
        const int same = plan_.weights[static_cast<size_t>(first_back)].same_as;
        const int exchange_end = place_exchange(base);
        int forward_end = base;
        for (size_t i = 0; i < plan_.back; ++i) {
            if (!is_product(i)) continue;
            const int index = plan_.stages[i].weight;
            RowWeight& w = plan_.weights[static_cast<size_t>(index)];
            if (w.same_as >= 0 || index == same) continue;
            w.offset = forward_end;
            forward_end += size_of(w);
        }
        const int place = std::max(exchange_end, forward_end);
        for (size_t i = plan_.back; i < plan_.computes; ++i)
            if (is_product(i))
                plan_.weights[static_cast<size_t>(plan_.stages[i].weight)].offset = place;
        if (same >= 0) plan_.weights[static_cast<size_t>(same)].offset = place;
        for (size_t i = 0; i < plan_.back; ++i)
            if (is_product(i)) {
                RowWeight& w = plan_.weights[static_cast<size_t>(plan_.stages[i].weight)];
                if (w.same_as >= 0) w.offset = plan_.weights[static_cast<size_t>(w.same_as)].offset;
            }
        plan_.matrix_stride = plan_.edge + 4;
        return place + place_size;
    }

    const Graph& graph_;
    const std::vector<bool>& inlined_;
    const LowerOptions& options_;
    NetworkPlan& plan_;
    std::map<ValueId, size_t> maker_;
};

}  // namespace

int row_sum_columns(const Graph& graph, const NetworkStage& stage) {
    const Shape& in = graph.value(stage.node->inputs[0]).shape;
    const std::vector<int64_t>& axes = stage.node->attrs.integers("axes");
    int64_t columns = 1;
    for (int i = 1; i < in.rank(); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) columns *= in[i].count;
    return static_cast<int>(columns);
}

Status place_in_registers(const Graph& graph, const std::vector<bool>& inlined,
                          const LowerOptions& options, NetworkPlan& plan) {
    return RegisterPlanner(graph, inlined, options, plan).run();
}

}  // namespace hearth
