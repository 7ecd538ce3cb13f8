// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Interfaces between the stages of planning, in the order in which they run.

#pragma once

#include "compiler/plan/plan.hpp"
#include "core/placement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::planning {

/// Size of a tensor in device memory, in bytes.
Extent extent_of(const Value& value, NarrowStorage narrow);

/// `value` rounded up to a multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/// Resolves LoweredEntry::alias_of: for each value of the graph, the root value whose bytes it
/// shares.
/// Errors: kInvalidArgument for references out of range, cycles, and values of unequal size.
Result<std::vector<ValueId>> resolve_aliases(const Graph& graph, const LoweredEntry& entry,
                                             NarrowStorage narrow);

// ---------------------------------------------------------------------------------- tables.cpp

/// Tables shared by all entries of a Program.
struct Tables {
    std::vector<Variable> variables;
    std::vector<std::byte> data;
    std::vector<Binding> bindings;
    uint64_t weights_bytes = 0;

    struct EntryTables {
        std::vector<ValueId> root_of;           ///< per value
        std::vector<uint32_t> place_of;         ///< per value: variable or input binding, or kNone
        std::vector<uint32_t> output_bindings;  ///< per output of the graph
        NarrowStorage narrow;                   ///< storage mode of the program
    };
    std::vector<EntryTables> entries;
};

/// Gives every param, state and constant a variable and every input and output a binding.
Result<Tables> make_tables(std::span<const Graph> graphs, std::span<const LoweredEntry> entries,
                           const PlanOptions& options);

// ------------------------------------------------------------------------------ operations.cpp

/// The bytes that one value, or several values one after the other, occupy.
struct Storage {
    Region region = Region::kArena;
    uint32_t index = 0;   ///< kWeights: variable, kExternal: binding
    uint64_t offset = 0;  ///< kArena: set by place_storages, from the start of the entry's range
    Extent bytes;
};

inline constexpr uint32_t kRunStorage = 0xfffffffeu;

struct StorageUse {
    uint32_t storage = kInvalidId;  ///< index into EntryPlan::storages, or kRunStorage
    ValueId value = kInvalidId;     ///< the value held there; kNone for the run block
    Access access = Access::kRead;
    bool is_elementwise = false;
    uint32_t part = 0;  ///< see CallOperand

    bool reads() const { return access != Access::kWrite; }
    bool writes() const { return access != Access::kRead; }
};

/// A kernel call, or a copy (uses[0] to uses[1]).
struct Operation {
    uint32_t call = kInvalidId;  ///< index into LoweredEntry::calls; kNone: a copy
    std::vector<StorageUse> uses;
    std::string label;
    bool publishes = false;  ///< updates a param, state or input, after the last barrier
    uint32_t interval = 0;   ///< number of barriers before it

    bool is_copy() const { return call == kInvalidId; }
};

/// Planning state of one entry.
struct EntryPlan {
    const Graph* graph = nullptr;
    const LoweredEntry* lowered = nullptr;
    const Tables::EntryTables* tables = nullptr;
    std::vector<Storage> storages;
    std::vector<uint32_t> storage_of;  ///< per root value; kNone if it needs no storage
    /// In an order that is correct when executed sequentially.
    std::vector<Operation> operations;
    uint64_t arena_bytes = 0;

    /// Returns the storage of the value, creating it on first use.
    uint32_t storage_for(ValueId value, std::span<const Variable> variables);
};

/// Makes the operations of an entry: its calls with a storage for each operand, and a copy for each
/// output that no call writes into the bound buffer.  Errors: kInvalidArgument for calls that do
/// not match the graph, the kernels or each other.
Result<EntryPlan> make_operations(const Graph& graph, const LoweredEntry& lowered,
                                  std::span<const Kernel> kernels, const Tables& tables,
                                  size_t entry_index);

/// True if `op`, which reads `from`, may write its result `to` over the bytes of `from`.
bool may_take_over(const EntryPlan& plan, const Operation& op, uint32_t from, uint32_t to);

// --------------------------------------------------------------------------------- updates.cpp

/// Adds the copies that updates need and moves every operation that writes an update of the
/// weights, or of an input's buffer, to the end of the plan.
void add_updates(EntryPlan& plan, const Tables& tables, const PlanOptions& options);

// -------------------------------------------------------------------------------- schedule.cpp

/// For each operation, the operations that must finish, with a barrier in between, before it
/// starts.
std::vector<std::vector<uint32_t>> dependencies_of(const EntryPlan& plan);

/// Length of the longest chain of dependencies that ends at each operation.
std::vector<uint32_t> levels_of(std::span<const std::vector<uint32_t>> dependencies);

/// Sets the interval of each operation.
void schedule(EntryPlan& plan, const PlanOptions& options);

// -------------------------------------------------------------------------------- liveness.cpp

/// A range of arena bytes that several storages reuse in place, one after the other.
struct Block {
    uint64_t size_bytes = 0;
    Lifetime lifetime;
    std::vector<uint32_t> storages;
};

/// The blocks of an entry: one per arena storage, except storages written in place of another.
std::vector<Block> find_blocks(const EntryPlan& plan, const PlanOptions& options);

// ---------------------------------------------------------------------------------- memory.cpp

struct ArenaLayout {
    std::vector<uint64_t> offsets;  ///< one per block
    uint64_t size_bytes = 0;
};

/// Lower bound of any layout: the peak of live bytes.
uint64_t least_arena_bytes(std::span<const Block> blocks, uint64_t alignment);

/// Places blocks so that blocks alive together never overlap.
ArenaLayout place_in_arena(std::span<const Block> blocks, uint64_t alignment);

// -------------------------------------------------------------------------------- barriers.cpp

/// A byte range that a command touches, at rows_capacity.
struct ByteRange {
    Region region = Region::kArena;
    uint32_t binding = 0;
    uint64_t begin = 0, end = 0;
    bool is_written = false;
};

/// True if the two accesses overlap and at least one of them writes.
bool conflict(const ByteRange& a, const ByteRange& b);

/// For each group of operations that may run concurrently, given the ranges it touches: true if a
/// barrier must precede it.
std::vector<bool> barriers_before(std::span<const std::vector<ByteRange>> groups);

// ------------------------------------------------------------------------------------ emit.cpp

/// Appends the commands of a planned entry to `program`, which has its variables and bindings
/// already.
void emit_entry(const EntryPlan& plan, uint64_t arena_offset, Program& program);

}  // namespace hearth::planning
