// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the stages of planning hand to each other, in the order in which they run.

#pragma once

#include "compiler/plan/plan.hpp"
#include "core/placement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::planning {

/// Bytes of a tensor in device memory.
Extent extent_of(const Value& value, NarrowStorage narrow);

/// `value` rounded up to a multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/// Which values share their bytes: for each value of the graph the one that alias_of leads to.
/// Errors: kInvalidArgument for references out of range, circles, and values of unequal size.
Result<std::vector<ValueId>> resolve_aliases(const Graph& graph, const LoweredEntry& entry,
                                             NarrowStorage narrow);

// ---------------------------------------------------------------------------------- tables.cpp

/// What the entries of a Program have in common.
struct Tables {
    std::vector<Slot> slots;
    std::vector<std::byte> data;
    std::vector<Binding> bindings;
    uint64_t weights_bytes = 0;

    struct EntryTables {
        std::vector<ValueId> root_of;           ///< per value
        std::vector<uint32_t> place_of;         ///< per value: slot or input binding, or kNone
        std::vector<uint32_t> output_bindings;  ///< per output of the graph
        NarrowStorage narrow;                   ///< of the program
    };
    std::vector<EntryTables> entries;
};

/// Gives every param, state and constant a slot and every input and output a binding.
Result<Tables> make_tables(std::span<const Graph> graphs, std::span<const LoweredEntry> entries,
                           const PlanOptions& options);

// ------------------------------------------------------------------------------ operations.cpp

/// Bytes that one value, or several values in turn, occupy.
struct Storage {
    Region region = Region::kArena;
    uint32_t index = 0;   ///< kWeights: slot, kExternal: binding
    uint64_t offset = 0;  ///< kArena: set by place_storages, from the start of the entry's range
    Extent bytes;
};

inline constexpr uint32_t kRunStorage = 0xfffffffeu;

struct StorageUse {
    uint32_t storage = kNone;  ///< index into EntryPlan::storages, or kRunStorage
    ValueId value = kNone;     ///< what it holds there; kNone for the run block
    Access access = Access::kRead;
    bool is_elementwise = false;
    uint32_t part = 0;  ///< see CallOperand

    bool reads() const { return access != Access::kWrite; }
    bool writes() const { return access != Access::kRead; }
};

/// A kernel call, or a copy (uses[0] to uses[1]).
struct Operation {
    uint32_t call = kNone;  ///< index into LoweredEntry::calls; kNone: a copy
    std::vector<StorageUse> uses;
    std::string label;
    bool publishes = false;  ///< writes what persists, after the last barrier
    uint32_t interval = 0;   ///< number of barriers that stand before it

    bool is_copy() const { return call == kNone; }
};

/// One entry while it is planned.
struct EntryPlan {
    const Graph* graph = nullptr;
    const LoweredEntry* lowered = nullptr;
    const Tables::EntryTables* tables = nullptr;
    std::vector<Storage> storages;
    std::vector<uint32_t> storage_of;  ///< per value that is its own root; kNone if not needed
    /// In an order in which running them one after the other would be right.
    std::vector<Operation> operations;
    uint64_t arena_bytes = 0;

    /// Where the value has its bytes; makes that storage if there is none yet.
    uint32_t storage_for(ValueId value, std::span<const Slot> slots);
};

/// The calls of an entry with a storage for each operand, and a copy for each output that no call
/// writes into the bound buffer.  Errors: kInvalidArgument for calls that do not fit graph, kernels
/// or each other.
Result<EntryPlan> make_operations(const Graph& graph, const LoweredEntry& lowered,
                                  std::span<const Kernel> kernels, const Tables& tables,
                                  size_t entry_index);

/// Whether `op` may write to the bytes of `from`, which it reads, as if they were `to`.
bool may_take_over(const EntryPlan& plan, const Operation& op, uint32_t from, uint32_t to);

// --------------------------------------------------------------------------------- updates.cpp

/// Makes the operations that bring the graph's updates into the weights, or into the buffers of
/// inputs, the last ones of the plan.
void add_updates(EntryPlan& plan, const Tables& tables, const PlanOptions& options);

// -------------------------------------------------------------------------------- schedule.cpp

/// For each operation those that must be finished, with a barrier in between, before it starts.
std::vector<std::vector<uint32_t>> dependencies_of(const EntryPlan& plan);

/// Length of the longest chain of dependencies that ends at each operation.
std::vector<uint32_t> levels_of(std::span<const std::vector<uint32_t>> dependencies);

/// Sets the interval of each operation.
void schedule(EntryPlan& plan, const PlanOptions& options);

// -------------------------------------------------------------------------------- liveness.cpp

/// Arena bytes that storages take over from each other.
struct Block {
    uint64_t size_bytes = 0;
    Lifetime lifetime;
    std::vector<uint32_t> storages;
};

/// The blocks of an entry: one per arena storage, less those that are written in place of another.
std::vector<Block> find_blocks(const EntryPlan& plan, const PlanOptions& options);

// ---------------------------------------------------------------------------------- memory.cpp

struct ArenaLayout {
    std::vector<uint64_t> offsets;  ///< one per block
    uint64_t size_bytes = 0;
};

/// What no layout can go below: the most bytes that are alive at once.
uint64_t least_arena_bytes(std::span<const Block> blocks, uint64_t alignment);

/// Places blocks so that those alive together never overlap.
ArenaLayout place_in_arena(std::span<const Block> blocks, uint64_t alignment);

// -------------------------------------------------------------------------------- barriers.cpp

/// A byte range that a step touches, at the capacity of rows.
struct ByteRange {
    Region region = Region::kArena;
    uint32_t binding = 0;
    uint64_t begin = 0, end = 0;
    bool is_written = false;
};

/// Whether the order of the two accesses matters.
bool conflict(const ByteRange& a, const ByteRange& b);

/// For each group of operations that may run at the same time, the ranges it touches: whether a
/// barrier must stand before it.
std::vector<bool> barriers_before(std::span<const std::vector<ByteRange>> groups);

// ------------------------------------------------------------------------------------ emit.cpp

/// Appends the steps of a planned entry to `program`, which has slots and bindings already.
void emit_entry(const EntryPlan& plan, uint64_t arena_offset, Program& program);

}  // namespace hearth::planning
