// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Liveness of arena storages, and reuse of a dying storage in place.
//
// Time is counted in barrier intervals, not in steps: two storages share bytes only if a barrier
// already stands between the last use of one and the first use of the other.  The exception is an
// operation that reads a dying value element by element: it may write its result over that value.

#include "compiler/plan/stages.hpp"

#include <algorithm>

namespace hearth::planning {

namespace {

class BlockFinder {
  public:
    BlockFinder(const EntryPlan& plan, const PlanOptions& options)
        : plan_(plan),
          options_(options),
          lifetimes_(plan.storages.size()),
          block_of_(plan.storages.size(), kInvalidId) {}

    std::vector<Block> find() {
        for (const Operation& op : plan_.operations)
            for (const StorageUse& use : op.uses)
                if (in_arena(use)) lifetimes_[use.storage].include(op.interval);
        // In operation order, so that a chain of in-place writes grows from its start.
        for (const Operation& op : plan_.operations)
            for (const StorageUse& use : op.uses)
                if (in_arena(use) && use.writes() && block_of_[use.storage] == kInvalidId)
                    assign(op, use.storage);
        return std::move(blocks_);
    }

  private:
    bool in_arena(const StorageUse& use) const {
        return use.storage != kRunStorage && plan_.storages[use.storage].region == Region::kArena;
    }

    void assign(const Operation& op, uint32_t storage) {
        for (const StorageUse& use : op.uses)
            if (in_arena(use) && use.storage != storage && dies_in(op, use.storage) &&
                may_take_over(plan_, op, use.storage, storage)) {
                const uint32_t block = block_of_[use.storage];
                if (blocks_[block].storages.back() != use.storage) continue;  // taken already
                blocks_[block].lifetime.include(lifetimes_[storage].last);
                blocks_[block].storages.push_back(storage);
                block_of_[storage] = block;
                return;
            }
        block_of_[storage] = static_cast<uint32_t>(blocks_.size());
        blocks_.push_back({plan_.storages[storage].bytes.at(options_.max_batch_size),
                           lifetimes_[storage],
                           {storage}});
    }

    // True if `op` is the only user of the storage in its last interval and only reads it.
    bool dies_in(const Operation& op, uint32_t storage) const {
        if (lifetimes_[storage].last != op.interval) return false;
        const auto same_interval = std::equal_range(
            plan_.operations.begin(), plan_.operations.end(), op,
            [](const Operation& a, const Operation& b) { return a.interval < b.interval; });
        for (auto other = same_interval.first; other != same_interval.second; ++other)
            for (const StorageUse& use : other->uses)
                if (use.storage == storage && (&*other != &op || use.writes())) return false;
        return true;
    }

    const EntryPlan& plan_;
    const PlanOptions& options_;
    std::vector<Lifetime> lifetimes_;  ///< per storage
    std::vector<uint32_t> block_of_;   ///< per storage
    std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> find_blocks(const EntryPlan& plan, const PlanOptions& options) {
    return BlockFinder(plan, options).find();
}

}  // namespace hearth::planning
