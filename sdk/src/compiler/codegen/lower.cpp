// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/lower.hpp"

#include "compiler/codegen/batched_kernel.hpp"
#include "compiler/codegen/fused_network/region_calls.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_family.hpp"
#include "compiler/codegen/kernel_table.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/codegen/planned_call.hpp"
#include "compiler/codegen/reduction/replicated_scalars.hpp"
#include "compiler/fusion/levels.hpp"
#include "compiler/ir/held_types.hpp"
#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <deque>

namespace hearth {

namespace {

/// The node that makes `v` by writing a part of a param or state in place, or null.
const Node* replaced_by(const Graph& graph, ValueId v) {
    const Node* maker = graph.producer(v);
    return maker != nullptr && maker->op->writes_in_place ? maker : nullptr;
}

std::vector<uint32_t> aliases_of(const Graph& graph) {
    std::vector<uint32_t> alias_of;
    for (ValueId v = 0; v < graph.values.size(); ++v) {
        const Node* maker = replaced_by(graph, v);
        alias_of.push_back(maker != nullptr ? maker->inputs[0] : v);
    }
    return alias_of;
}

CallOperand operand_of(const Graph& graph, const Group& group, const KernelDraft& kernel,
                       size_t index) {
    const uint32_t value = kernel.buffers.values[index];
    const bool is_stored = std::ranges::find(group.stores, value) != group.stores.end();
    if (replaced_by(graph, value) != nullptr) return {value, Access::kReadWrite, false, 0};
    return {value, is_stored ? Access::kWrite : Access::kRead, kernel.is_elementwise[index],
            index < kernel.part_of.size() ? kernel.part_of[index] : 0};
}

uint64_t bytes_moved(const Graph& graph, const BufferTable& buffers, const LowerOptions& options) {
    uint64_t bytes = 0;
    for (uint32_t v : buffers.values) {
        // In place only the rows move, which are another operand.
        const Node* maker = replaced_by(graph, v);
        const Value& value = graph.values[maker != nullptr ? maker->inputs.back() : v];
        bytes += static_cast<uint64_t>(
                     value.shape.element_count(static_cast<int64_t>(options.rows_capacity))) *
                 size_bytes(device_dtype(value.dtype, options.caps.narrow_storage()));
    }
    return bytes;
}

/// Lowers one graph: fuses it, orders and batches the calls, and writes their kernels.
class GraphLowering {
  public:
    GraphLowering(const Graph& graph, const LowerOptions& options, LoweredProgram& program,
                  KernelTable& kernels)
        : graph_(graph), options_(options), program_(program), kernels_(kernels) {}

    Status run() {
        // A fused network keeps all of a small net's values at hand: there is nothing to spare.
        const bool spares = options_.spare_memory || spares_memory(graph_);
        if (spares || !add_with_region()) {
            begin();
            HEARTH_TRY(add_groups(spares));
        }
        program_.entries.push_back(std::move(entry_));
        return {};
    }

  private:
    void begin() {
        entry_ = {};
        entry_.name = graph_.name;
        entry_.alias_of = aliases_of(graph_);
    }

    /// Lowers the graph with its rows' region as a fused network.  False, and nothing is added but a
    /// note with the reason, if it has none or that is no fused network.
    bool add_with_region() {
        if (!options_.fused_networks) return false;
        const Result<RowRegion> found =
            find_split_region(graph_, options_.rows_capacity, options_.caps);
        if (!found.ok()) return note_unfused(find_row_region(graph_), found.status());
        const RowRegion& region = *found;
        if (region.empty()) return false;
        FusionPlan plan = fuse(graph_, {.any_operands = true, .region = region});
        replicate_scalars(graph_, plan, options_);
        std::vector<const Group*> members;
        for (const Group& group : plan.groups)
            if (group.in_region) members.push_back(&group);
        if (members.size() < 2) return false;  // one kernel as it is
        begin();
        const size_t kernels = kernels_.size();
        const Status status = add_region(region, plan, members);
        if (status.ok()) return true;
        kernels_.truncate(kernels);
        return note_unfused(region, status);
    }

    /// Returns false.
    bool note_unfused(const RowRegion& region, const Status& reason) {
        program_.notes.push_back("entry '" + graph_.name + "': the rows' region of " +
                                 std::to_string(region.nodes.size()) +
                                 " nodes is no fused network: " + reason.message());
        return false;
    }

    Status add_region(const RowRegion& region, const FusionPlan& plan,
                      std::span<const Group* const> members) {
        HEARTH_TRY(check(plan));
        std::deque<Group> networks;
        HEARTH_ASSIGN(RegionCalls made,
                      region_calls(graph_, region, plan, members, networks, options_));
        std::vector<PlannedCall>& calls = made.calls;
        if (!made.division.empty()) note_division(region, networks.size(), made);
        for (const Group& group : plan.groups)
            if (!group.in_region) calls.push_back({{&group}, std::nullopt, 0, ""});
        return add_calls(plan, std::move(calls), true);
    }

    void note_division(const RowRegion& region, size_t networks, const RegionCalls& made) {
        const size_t others = made.calls.size() - networks;
        program_.notes.push_back(
            "entry '" + graph_.name + "': the rows' region of " +
            std::to_string(region.nodes.size()) + " nodes is " + std::to_string(networks) +
            " fused networks" +
            (others == 0 ? "" : " and " + std::to_string(others) + " other kernels") +
            ", not one: " + made.division);
    }

    Status add_groups(bool spares) {
        const DeviceModel model = device_model(options_.caps);
        FusionOptions fusion{.enabled = options_.fuse,
                             .max_operands = most_fused_operands(options_.caps),
                             .max_bound = most_bound_operands(options_.caps),
                             .any_operands = true,
                             .spare_memory = options_.spare_memory,
                             .store_windows = model.is_software,
                             .store_gathered = model.vectorizes_loops};
        for (const Node& node : graph_.nodes)
            fusion.folds_rows.push_back(node.op->op_class == OpClass::kMatmul &&
                                        folds_rows(graph_, node, options_));
        FusionPlan plan = fuse(graph_, fusion);
        if (options_.fused_networks && !spares) replicate_scalars(graph_, plan, options_);
        HEARTH_TRY(check(plan));
        std::vector<PlannedCall> calls;
        for (const Group& group : plan.groups) calls.push_back({{&group}, std::nullopt, 0, ""});
        return add_calls(plan, std::move(calls), !spares);
    }

    Status check(const FusionPlan& plan) const {
        for (const Group& group : plan.groups)
            HEARTH_TRY(check_lowerable({graph_, group, plan.inlined, options_}));
        return {};
    }

    /// Adds calls in an order that respects data flow, those that wait for equally much as parts of
    /// one where they can be.  in_parts: parts are alive at the same time, which takes memory.
    Status add_calls(const FusionPlan& plan, std::vector<PlannedCall> calls, bool in_parts) {
        std::vector<const Group*> groups;
        std::vector<bool> has_kernel;
        for (const PlannedCall& call : calls) {
            groups.push_back(call.groups[0]);
            has_kernel.push_back(call.kernel.has_value());
        }
        const GroupLevels levels = find_levels(graph_, groups, plan.inlined, has_kernel);
        for (size_t c = 0; c < calls.size(); ++c) calls[c].depth = levels.depth[c];
        if (std::string note = note_on_levels(graph_, plan.inlined, calls); !note.empty())
            program_.notes.push_back(std::move(note));
        if (in_parts && options_.fuse && !device_model(options_.caps).has_cheap_launches)
            calls = batch_calls(graph_, plan.inlined, levels, std::move(calls), options_);
        if (in_parts) std::ranges::stable_sort(calls, {}, &PlannedCall::depth);
        for (PlannedCall& call : calls) {
            if (!call.kernel) write_kernel(call, plan.inlined);
            HEARTH_TRY(add_call(std::move(call), plan.inlined));
        }
        return {};
    }

    void write_kernel(PlannedCall& call, const std::vector<bool>& inlined) const {
        const KernelTask task{graph_, *call.groups[0], inlined, options_};
        call.kernel = best_kernel(*kernel_family(task), task);
        call.label = label_of(graph_, *call.groups[0]);
    }

    Status add_call(PlannedCall planned, const std::vector<bool>& inlined) {
        const Group group = union_of(planned.groups);
        KernelDraft& kernel = *planned.kernel;
        HEARTH_TRY(kernel.status);
        // What folded away in the kernel is an operand still: the step's debug table speaks of it.
        for (ValueId v : loads_of(graph_, group, inlined)) (void)kernel.buffers.name_of(v);
        kernel.is_elementwise.resize(kernel.buffers.values.size(), false);
        note_variants(kernel);
        KernelCall call;
        call.label = std::move(planned.label);
        const OperandLayout layout = operand_layout(graph_, kernel, options_);
        if (!reaches_operands(layout, options_.caps))
            return unsupported("kernel '" + call.label + "' has " + std::to_string(layout.count()) +
                               " operands, expected at most " + std::to_string(kMaxBoundOperands));
        if (kernel.described != nullptr) {
            const Status status = verify_body(*kernel.described);
            if (!status.ok())
                return status.with_context("kernel " + kernel.name + " (" + call.label + ")");
            (kernel.is_text() ? call.functions : call.body) = kernel.described;
        }
        HEARTH_ASSIGN(call.kernel, kernels_.add(graph_, kernel, layout, call.label));
        for (size_t i : layout.order) call.operands.push_back(operand_of(graph_, group, kernel, i));
        if (layout.uses_rows) call.operands.push_back({});
        call.grid = kernel.grid;
        call.flops = kernel.flops;
        call.bytes_moved = bytes_moved(graph_, kernel.buffers, options_);
        call.computes = computed_values(graph_, group, inlined);
        entry_.calls.push_back(std::move(call));
        return {};
    }

    void note_variants(const KernelDraft& kernel) {
        const std::string& key = kernel.tunable;
        if (!key.empty() && std::ranges::find(program_.tunable, key) == program_.tunable.end())
            program_.tunable.push_back(key);
        if (!kernel.variants.empty()) program_.listed_variants[key] = kernel.variants;
    }

    const Graph& graph_;
    const LowerOptions& options_;
    LoweredProgram& program_;
    KernelTable& kernels_;
    LoweredEntry entry_;
};

}  // namespace

Result<LoweredProgram> lower(std::span<const Graph> graphs, const LowerOptions& options) {
    LoweredProgram program;
    program.binding_model = options.binding_model;
    program.profile = options.caps.name;
    KernelTable kernels(options, program);
    const NarrowStorage storage = options.caps.narrow_storage();
    for (const Graph& graph : graphs) {
        const Status status =
            are_types_held(graph, storage)
                ? GraphLowering(graph, options, program, kernels).run()
                : GraphLowering(with_held_types(graph, storage), options, program, kernels).run();
        if (!status.ok()) return status.with_context("entry '" + graph.name + "'");
    }
    if (std::ranges::any_of(graphs, [](const Graph& g) { return !g.updates.empty(); }))
        HEARTH_TRY(kernels.add_copy_kernel());
    return program;
}

}  // namespace hearth
