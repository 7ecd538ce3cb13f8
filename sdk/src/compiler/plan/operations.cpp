// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Turns kernel calls on values into operations on storages, and chooses the region of each value.
//
// A value that a call computes and that is an output of the entry lives in the bound buffer; no
// copy is needed.  A second output of the same value, and outputs that no call computes (an input,
// a param, a constant), are copies.

#include "compiler/plan/stages.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <utility>

namespace hearth::planning {

uint32_t EntryPlan::storage_for(ValueId id, std::span<const Variable> variables) {
    const ValueId root = tables->root_of[id];
    uint32_t& storage = storage_of[root];
    if (storage != kInvalidId) return storage;
    const Value& value = graph->value(root);
    Storage made;
    made.bytes = extent_of(value, tables->narrow);
    if (value.kind != ValueKind::kNode) {
        made.region = value.kind == ValueKind::kInput ? Region::kExternal : Region::kWeights;
        made.index = tables->place_of[root];
        HEARTH_ASSERT(made.index != kInvalidId);
        if (made.region == Region::kWeights) made.offset = variables[made.index].offset;
    }
    storage = static_cast<uint32_t>(storages.size());
    storages.push_back(made);
    return storage;
}

namespace {

class OperationMaker {
  public:
    OperationMaker(const Graph& graph, const LoweredEntry& lowered, const Tables& tables,
                   size_t entry_index)
        : graph_(graph), lowered_(lowered), variables_(tables.variables) {
        plan_.graph = &graph;
        plan_.lowered = &lowered;
        plan_.tables = &tables.entries[entry_index];
        plan_.storage_of.assign(graph.values.size(), kInvalidId);
        is_written_.assign(graph.values.size(), false);
    }

    Result<EntryPlan> make(std::span<const Kernel> kernels) {
        claim_outputs();
        for (uint32_t c = 0; c < lowered_.calls.size(); ++c)
            HEARTH_TRY(add_call(c, kernels).with_context(name_of_call(c)));
        HEARTH_TRY(copy_outputs());
        for (const Assignment& update : graph_.updates) HEARTH_TRY(check_update(update));
        return std::move(plan_);
    }

  private:
    std::string name_of_call(uint32_t c) const {
        return "entry '" + lowered_.name + "', call " + std::to_string(c) + " (" +
               lowered_.calls[c].label + ")";
    }

    ValueId root_of(ValueId id) const { return plan_.tables->root_of[id]; }

    // A computed value lives in the buffer bound for the first output that names it.
    void claim_outputs() {
        for (size_t i = 0; i < graph_.outputs.size(); ++i) {
            const ValueId root = root_of(graph_.outputs[i].value);
            const bool is_claimed = plan_.storage_of[root] != kInvalidId;
            if (graph_.value(root).kind != ValueKind::kNode || is_claimed) {
                copied_outputs_.push_back(i);
            } else {
                plan_.storage_of[root] = external_storage(i);
            }
        }
    }

    uint32_t external_storage(size_t output) {
        const Value& value = graph_.value(graph_.outputs[output].value);
        plan_.storages.push_back({.region = Region::kExternal,
                                  .index = plan_.tables->output_bindings[output],
                                  .bytes = extent_of(value, plan_.tables->narrow)});
        return static_cast<uint32_t>(plan_.storages.size() - 1);
    }

    Status add_call(uint32_t index, std::span<const Kernel> kernels) {
        const KernelCall& call = lowered_.calls[index];
        if (call.kernel >= kernels.size())
            return invalid_argument("there is no kernel " + std::to_string(call.kernel));
        const Kernel& kernel = kernels[call.kernel];
        if (call.operands.size() != kernel.operand_count || call.words.size() != kernel.word_count)
            return invalid_argument(
                "kernel '" + kernel.name + "' takes " + std::to_string(kernel.operand_count) +
                " operands and " + std::to_string(kernel.word_count) + " words, not " +
                std::to_string(call.operands.size()) + " and " + std::to_string(call.words.size()));
        Operation op;
        op.call = index;
        op.label = call.label;
        for (const CallOperand& operand : call.operands) {
            HEARTH_TRY(check_operand(operand, op));
            const uint32_t storage = operand.value == kNoValue
                                         ? kRunStorage
                                         : plan_.storage_for(operand.value, variables_);
            op.uses.push_back(
                {storage, operand.value, operand.access, operand.is_elementwise, operand.part});
        }
        for (const StorageUse& use : op.uses)
            if (use.writes()) is_written_[root_of(use.value)] = true;
        plan_.operations.push_back(std::move(op));
        return {};
    }

    Status check_operand(const CallOperand& operand, const Operation& so_far) const {
        const bool writes = operand.access != Access::kRead;
        if (operand.value == kNoValue)
            return writes ? invalid_argument("a call may not write the run block") : Status();
        if (operand.value >= graph_.values.size())
            return invalid_argument("there is no value %" + std::to_string(operand.value));
        const ValueId root = root_of(operand.value);
        const std::string what = "value %" + std::to_string(operand.value);
        if (graph_.value(root).kind != ValueKind::kNode) {
            if (graph_.value(root).kind == ValueKind::kInput &&
                plan_.tables->place_of[root] == kInvalidId)
                return invalid_argument(what + " is not among the inputs of the graph");
            if (writes && !updates_in_place(operand))
                return invalid_argument(what + " ('" + graph_.value(root).name +
                                        "') may not be written by a call; updates do that");
            return check_is_alone(operand, so_far);
        }
        if (operand.access != Access::kWrite && !is_written_[root])
            return invalid_argument(what + " is read before any call wrote it");
        return check_is_alone(operand, so_far);
    }

    Status check_is_alone(const CallOperand& operand, const Operation& so_far) const {
        const bool writes = operand.access != Access::kRead;
        for (const StorageUse& use : so_far.uses)
            if (use.storage != kRunStorage && root_of(use.value) == root_of(operand.value) &&
                (writes || use.writes()))
                return invalid_argument("value %" + std::to_string(operand.value) +
                                        " is written by one operand and used by another");
        return {};
    }

    /// True if the operand overwrites a param, state or input in place, as an update of the graph
    /// states.
    bool updates_in_place(const CallOperand& operand) const {
        return operand.access == Access::kReadWrite &&
               std::any_of(graph_.updates.begin(), graph_.updates.end(), [&](const auto& u) {
                   return u.value == operand.value && u.value != u.target &&
                          u.target == root_of(operand.value);
               });
    }

    Status check_is_there(ValueId id, const std::string& what) const {
        const ValueId root = root_of(id);
        const Value& value = graph_.value(root);
        const bool is_there = value.kind == ValueKind::kNode ? is_written_[root]
                              : value.kind == ValueKind::kInput
                                  ? plan_.tables->place_of[root] != kInvalidId
                                  : true;
        if (is_there) return {};
        return invalid_argument("entry '" + lowered_.name + "': " + what + " is value %" +
                                std::to_string(id) + ", which no call writes");
    }

    Status copy_outputs() {
        for (const GraphOutput& output : graph_.outputs)
            HEARTH_TRY(check_is_there(output.value, "output '" + output.name + "'"));
        for (size_t i : copied_outputs_) {
            const ValueId id = graph_.outputs[i].value;
            Operation op;
            op.label = "copy to output " + graph_.outputs[i].name;
            op.uses = {{plan_.storage_for(id, variables_), id, Access::kRead, true},
                       {external_storage(i), id, Access::kWrite, true}};
            plan_.operations.push_back(std::move(op));
        }
        return {};
    }

    Status check_update(const Assignment& update) {
        const std::string where = "entry '" + lowered_.name + "': ";
        if (update.target >= graph_.values.size() || update.value >= graph_.values.size())
            return invalid_argument(where + "an update without target or value");
        const Value &target = graph_.value(update.target), &value = graph_.value(update.value);
        const std::string what = "the update of '" + target.name + "'";
        if (!may_be_updated(target.kind))
            return invalid_argument(where + what +
                                    " has a target that is not a param, state or input");
        if (target.kind == ValueKind::kInput)
            HEARTH_TRY(check_is_there(update.target, "the target of an update"));
        if (target.dtype != value.dtype || target.shape != value.shape)
            return invalid_argument(where + what + " " + to_string(target.shape) +
                                    " is a value of " + to_string(value.shape) +
                                    " or of another type");
        for (const Assignment& other : graph_.updates)
            if (&other != &update && other.target == update.target)
                return invalid_argument(where + what + " is stated twice");
        return check_is_there(update.value, what);
    }

    const Graph& graph_;
    const LoweredEntry& lowered_;
    std::span<const Variable> variables_;
    EntryPlan plan_;
    std::vector<bool> is_written_;        ///< per root value
    std::vector<size_t> copied_outputs_;  ///< outputs that no call writes into the bound buffer
};

}  // namespace

Result<EntryPlan> make_operations(const Graph& graph, const LoweredEntry& lowered,
                                  std::span<const Kernel> kernels, const Tables& tables,
                                  size_t entry_index) {
    return OperationMaker(graph, lowered, tables, entry_index).make(kernels);
}

bool may_take_over(const EntryPlan& plan, const Operation& op, uint32_t from, uint32_t to) {
    if (op.is_copy() || plan.storages[from].bytes != plan.storages[to].bytes) return false;
    // If the call marks some written operands as element-wise, only those may be written in place.
    bool marks_written = false, to_is_marked = false;
    uint32_t part = 0;
    for (const StorageUse& use : op.uses)
        if (use.storage == to && use.writes()) part = use.part;
    for (const StorageUse& use : op.uses) {
        if (use.storage == from && use.access == Access::kRead && !use.is_elementwise) return false;
        if (use.storage == from && use.access == Access::kReadWrite) return false;
        if (use.storage == from && use.part != part) return false;
        if (use.storage == to && use.access == Access::kReadWrite) return false;
        if (!use.writes() || !use.is_elementwise) continue;
        marks_written = true;
        to_is_marked = to_is_marked || use.storage == to;
    }
    return to_is_marked || !marks_written;
}

}  // namespace hearth::planning
