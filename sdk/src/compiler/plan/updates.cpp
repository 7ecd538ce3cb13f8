// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes updates of params and states in the last interval of the entry, so that an entry stopped
// at any barrier leaves consistent weights.  An input whose buffer is written in place is treated
// like a variable that the application lends ("variable" below means both).
//
// - If only the update needs a new value, the call that computes it writes straight into the
//   variable ("direct").  Otherwise the value has its own storage and is copied at the end.
// - Operations of the last interval that read the old contents of an updated variable would race
//   with its update.  They read a copy instead, made before the last barrier ("kept" contents).
//   Only a direct writer that reads the variable element by element may do so in place.
// - A call that changes a variable in place (rows of a ring buffer) is the update itself.  Every
//   other reader of the old contents runs before it, with a barrier in between; only other updates,
//   which run in the last interval too, read a copy.
//
// So updates never wait for each other, two variables may even be swapped, and updates add at most
// one interval to the computation of the values.

#include "compiler/plan/stages.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace hearth::planning {

namespace {

// Keeping old contents for an operation that could run one interval earlier saves a barrier and
// costs a copy.  A barrier takes about 2 us on a large GPU; this many bytes are copied in that
// time.
constexpr uint64_t kKeepInsteadOfBarrierBytes = uint64_t{1} << 20;

class UpdateMaker {
  public:
    UpdateMaker(EntryPlan& plan, const Tables& tables, uint64_t max_batch_size)
        : plan_(plan), tables_(tables), max_batch_size_(max_batch_size) {}

    void make() {
        const bool any_in_place = publish_in_place();
        for (const Assignment& update : plan_.graph->updates)
            if (plan_.tables->root_of[update.value] != update.target)
                updates_.push_back(pending(update));
        if (updates_.empty() && !any_in_place) return;
        reject_early_writers();
        add_copies();
        const std::vector<uint32_t> levels = levels_of(dependencies_of(plan_));
        for (size_t i = 0; i < levels.size(); ++i) plan_.operations[i].interval = levels[i];
        write_variables();
        keep_old_contents();
    }

  private:
    struct Pending {
        Assignment update;
        uint32_t value_storage = kInvalidId;
        uint32_t variable_storage = kInvalidId;
        uint32_t writer = kInvalidId;  ///< operation that writes the variable; kNone: a copy does
    };

    /// Moves calls that change variables in place to the end, so that they depend on all readers of
    /// the old contents and no operation depends on them.  Returns true if there are any.
    bool publish_in_place() {
        bool any = false;
        for (const Assignment& update : plan_.graph->updates) {
            if (plan_.tables->root_of[update.value] != update.target) continue;
            for (Operation& op : plan_.operations)
                for (const StorageUse& use : op.uses)
                    if (use.value == update.value && use.access == Access::kReadWrite) {
                        op.publishes = any = true;
                        mark_updated(use.storage);
                    }
        }
        if (any)
            std::stable_partition(plan_.operations.begin(), plan_.operations.end(),
                                  [](const Operation& op) { return !op.publishes; });
        return any;
    }

    void mark_updated(uint32_t variable_storage) {
        is_updated_.resize(plan_.storages.size(), false);
        is_updated_[variable_storage] = true;
    }

    Pending pending(const Assignment& update) {
        Pending p{.update = update};
        p.value_storage = plan_.storage_for(update.value, tables_.variables);
        p.variable_storage = plan_.storage_for(update.target, tables_.variables);
        mark_updated(p.variable_storage);
        if (plan_.storages[p.value_storage].region != Region::kArena) return p;
        for (const Pending& other : updates_)
            if (other.value_storage == p.value_storage) return p;
        p.writer = only_user(p.value_storage);
        return p;
    }

    // The only operation that uses the storage, or kNone if there are several.
    uint32_t only_user(uint32_t storage) const {
        uint32_t user = kInvalidId;
        for (uint32_t i = 0; i < plan_.operations.size(); ++i)
            for (const StorageUse& use : plan_.operations[i].uses) {
                if (use.storage != storage) continue;
                if (user != kInvalidId && user != i) return kInvalidId;
                user = i;
            }
        return user;
    }

    // A direct writer runs in the last interval, so no operation may have to follow it: none that
    // depends on it, and no copy of another value that it writes.
    void reject_early_writers() {
        std::vector<bool> is_followed(plan_.operations.size(), false);
        for (const std::vector<uint32_t>& before : dependencies_of(plan_))
            for (uint32_t op : before) is_followed[op] = true;
        std::vector<bool> is_copied(plan_.storages.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (const Pending& p : updates_)
                if (p.writer == kInvalidId) is_copied[p.value_storage] = true;
            for (Pending& p : updates_) {
                if (p.writer == kInvalidId) continue;
                bool rejected = is_followed[p.writer];
                for (const StorageUse& use : plan_.operations[p.writer].uses)
                    rejected = rejected || (use.writes() && is_copied[use.storage]);
                if (!rejected) continue;
                p.writer = kInvalidId;
                changed = true;
            }
        }
    }

    // Copies do not write their variables yet: levels must ignore the hazards on the variables.
    void add_copies() {
        for (Pending& p : updates_) {
            if (p.writer != kInvalidId) {
                plan_.operations[p.writer].publishes = true;
                continue;
            }
            Operation copy;
            copy.label = "update " + plan_.graph->value(p.update.target).name;
            copy.publishes = true;
            copy.uses = {{p.value_storage, p.update.value, Access::kRead, true}};
            plan_.operations.push_back(std::move(copy));
            p.writer = static_cast<uint32_t>(plan_.operations.size() - 1);
        }
    }

    void write_variables() {
        for (const Pending& p : updates_) {
            Operation& op = plan_.operations[p.writer];
            if (op.is_copy()) {
                op.uses.push_back({p.variable_storage, p.update.value, Access::kWrite, true});
                continue;
            }
            for (StorageUse& use : op.uses)
                if (use.storage == p.value_storage) use.storage = p.variable_storage;
            plan_.storage_of[plan_.tables->root_of[p.update.value]] = p.variable_storage;
        }
        // Publishing operations have no successors, so the order still respects data flow.
        std::stable_partition(plan_.operations.begin(), plan_.operations.end(),
                              [](const Operation& op) { return !op.publishes; });
    }

    /// Updated storages whose old contents `op` would read in the interval that overwrites them.
    std::vector<uint32_t> racing_reads(const Operation& op) const {
        std::vector<uint32_t> racing;
        for (const StorageUse& use : op.uses) {
            if (use.access != Access::kRead || use.storage >= is_updated_.size() ||
                !is_updated_[use.storage])
                continue;
            bool is_in_place = false;
            for (const StorageUse& other : op.uses)
                if (other.storage == use.storage && other.writes())
                    is_in_place = may_take_over(plan_, op, use.storage, use.storage);
            if (!is_in_place &&
                std::find(racing.begin(), racing.end(), use.storage) == racing.end())
                racing.push_back(use.storage);
        }
        return racing;
    }

    void keep_old_contents() {
        uint32_t last = 0;
        bool races = false;
        for (const Operation& op : plan_.operations) {
            last = std::max(last, op.interval);
            races = races || !racing_reads(op).empty();
        }
        if (last == 0 && races) last = 1;
        if (last > 0 && late_reads_bytes(last) > kKeepInsteadOfBarrierBytes) ++last;

        std::map<uint32_t, uint32_t> kept;  // original storage -> storage with its kept contents
        std::vector<Operation> keepers;
        for (Operation& op : plan_.operations) {
            if (!op.publishes && op.interval < last) continue;
            for (uint32_t storage : racing_reads(op)) {
                const auto [found, is_new] = kept.try_emplace(storage, plan_.storages.size());
                if (is_new) keepers.push_back(keep(storage));
                for (StorageUse& use : op.uses)
                    if (use.storage == storage && use.access == Access::kRead)
                        use.storage = found->second;
            }
        }
        plan_.operations.insert(plan_.operations.begin(), std::make_move_iterator(keepers.begin()),
                                std::make_move_iterator(keepers.end()));
    }

    /// Bytes that must be kept for non-publishing operations of interval `last`.
    uint64_t late_reads_bytes(uint32_t last) const {
        std::vector<uint32_t> storages;
        for (const Operation& op : plan_.operations)
            if (!op.publishes && op.interval == last)
                for (uint32_t storage : racing_reads(op)) storages.push_back(storage);
        std::sort(storages.begin(), storages.end());
        storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
        uint64_t bytes = 0;
        for (uint32_t storage : storages)
            bytes += plan_.storages[storage].bytes.at(max_batch_size_);
        return bytes;
    }

    Operation keep(uint32_t storage) {
        const auto update = std::find_if(
            plan_.graph->updates.begin(), plan_.graph->updates.end(),
            [&](const Assignment& u) { return plan_.storage_of[u.target] == storage; });
        const ValueId target = update->target;
        Operation copy;
        copy.label = "keep old " + plan_.graph->value(target).name;
        copy.uses = {{storage, target, Access::kRead, true},
                     {static_cast<uint32_t>(plan_.storages.size()), target, Access::kWrite, true}};
        plan_.storages.push_back({.bytes = plan_.storages[storage].bytes});
        return copy;
    }

    EntryPlan& plan_;
    const Tables& tables_;
    uint64_t max_batch_size_;
    std::vector<Pending> updates_;
    std::vector<bool> is_updated_;  ///< per storage that existed before any kept copy
};

}  // namespace

void add_updates(EntryPlan& plan, const Tables& tables, const PlanOptions& options) {
    UpdateMaker(plan, tables, options.max_batch_size).make();
}

}  // namespace hearth::planning
