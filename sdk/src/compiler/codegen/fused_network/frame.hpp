// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What all stages of a fused network (fused_network.hpp) find when they are written: the plan, the body
// that they are parts of, the names in scope, and shared memory.

#pragma once

#include "compiler/codegen/fused_network/plan.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace hearth {

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

Shape without_rows(const Shape& shape);

/// What a value's local is called: "total12".
inline std::string numbered(const char* name, uint64_t number) {
    return name + std::to_string(number);
}

/// The rows of a tile that a subgroup keeps in registers as fragments, from one stage to the next.
struct RowBlocks {
    Expr base;  ///< the first of the subgroup's rows of the tile
    // Where tiles overlap:
    Expr is_few;      ///< there are fewer rows than a fragment has
    Expr apart;       ///< how far apart rows of a fragment are: 1, or 0 if they are one row
    Expr start;       ///< the fragment's first row
    Expr skip, stop;  ///< of its lines, the first one that sums take, and the one behind the last
    std::map<ValueId, Expr> fragments;  ///< of each value, an array: columns of each block of rows
    std::set<ValueId> vanishing;        ///< values that are zero in rows that sums leave out
};

struct NetworkFrame {
    NetworkFrame(const Graph& graph, const RowRegion& region, NetworkPlan plan,
                 const std::vector<bool>& inlined, const LowerOptions& options);
    NetworkFrame(const NetworkFrame&) = delete;
    NetworkFrame& operator=(const NetworkFrame&) = delete;

    // ------------------------------------------------------------------------- the graph

    /// Whether the value is elements of that type in a buffer, not an expression.
    bool is_in_buffer(ValueId v, DType dtype) const;
    bool is_plain(ValueId v) const { return is_in_buffer(v, DType::kF32); }
    bool is_plain_half(ValueId v) const { return is_in_buffer(v, DType::kF16); }
    bool is_read_outside(ValueId v) const;
    /// Elements of one row.
    int row_width(ValueId v) const;
    bool holds_weights() const { return plan.mode == RowWeights::kHeld; }
    bool has_matrices() const { return plan.edge != 0; }
    /// Whether tiles overlap, so that sums over rows leave out those that another block of rows has:
    /// RowKernel::let_block().
    bool slides() const { return plan.in_registers && plan.parts != 0; }

    // ------------------------------------------------------------------------- statements

    /// A writer of statements without scalar expressions.
    KernelWriter writer();
    Expr index(int64_t value) const { return body->index(value); }
    Expr zero() const { return body->constant(0, ScalarType::kF32); }
    Expr four_zeros() const { return body->fill(Chunk::kFour, zero()); }
    uint32_t buffer(ValueId v) const { return operand(v); }
    /// Four elements of a buffer, of which the first is number 4 * `four`.
    Expr load_four(ValueId v, Expr four) const {
        return body->load_chunk_at(Chunk::kFour, buffer(v), four);
    }
    /// Notes that the program stores the value.
    void note_store(ValueId v);

    /// A workgroup without rows leaves zeros in its part of what is summed up over rows.
    void store_zeros_without_rows(uint32_t sums, int elements);

    /// Work of one stage begins with the thread after the last one that the stage before used, so
    /// that small stages of one level run side by side.  Returns that thread.
    int take_threads(int tasks);
    /// The first stage of a level begins with the first thread.
    void take_all_threads() { next_thread_ = 0; }
    /// Declares "lane": the thread's number if that one were the first.
    Expr let_lane(KernelWriter& to, int first_thread) const;
    /// Goes through tasks "e", from `lane` on.  Where no thread has two of them this is a loop that
    /// compilers see to be none, so that they begin loads of one stage before those of another have
    /// come.  close() ends it.
    struct Tasks {
        Expr task;
        int scopes = 0;
    };
    Tasks each_task(KernelWriter& to, Expr lane, int tasks) const;
    static void close(KernelWriter& to, const Tasks& tasks);

    /// As take_threads() and let_lane(), of subgroups: "own".
    int take_subgroups(int tasks);
    Expr let_own(KernelWriter& to, int first_subgroup) const;

    /// What is summed up from tile to tile for a value.  A stage that is written twice, for whole tiles
    /// and for others, declares it and says once how it ends.
    struct Kept {
        Expr sums;
        bool is_new = false;
    };
    Kept keep(ValueId v, const std::function<Expr()>& declare);

    // ------------------------------------------------------------------------- shared memory

    /// The place of 16 bytes of shared memory: fours of floats, or on matrix cores of words.
    Expr shared_quad(Expr quad) const { return body->element(pool, quad); }
    /// Four floats of shared memory, the first of them number 4 * `quad`.
    Expr shared_four(Expr quad) const {
        return has_matrices() ? body->operation(ScalarOp::kBitsToF32, shared_quad(quad))
                              : shared_quad(quad);
    }
    /// Eight f16.
    Expr shared_halves(Expr quad) const { return body->reinterpret(shared_quad(quad)); }
    /// Number `element` of those.
    Expr shared_half(Expr element) const;
    /// The same of what products read beyond the last column, and throw away.
    Expr shared_four_or_anything(Expr quad) const { return body->element_or_anything(pool, quad); }
    /// One of its elements, which is a float or has the bits of another number.
    Expr shared(Expr element, ScalarType type = ScalarType::kF32) const;
    void put_shared(KernelWriter& to, Expr element, Expr value) const;

    const Graph& graph;
    const RowRegion& region;
    const NetworkPlan plan;
    const std::vector<bool>& inlined;
    const LowerOptions& options;
    const std::vector<std::vector<NodeId>> readers;
    const std::vector<bool> leaves;
    /// A software driver compiles long code for seconds, and gains little by it.
    const bool is_software;
    std::vector<bool> is_made;  ///< per value: by one of the groups, rather than filled in
    std::vector<std::shared_ptr<const Group>>
        replicated_scalars;  ///< that each workgroup works out

    const std::shared_ptr<Body> body;
    const KernelWriter::Operand operand;
    Expr pool;  ///< shared memory

    // In scope everywhere:
    Expr thread, group, last_row;
    Expr subgroup, subgroup_lane;  ///< on matrix cores: the subgroup, and the thread's number in it
    Expr begin, end;               ///< the workgroup's rows
    Expr first, count;             ///< the tile's
    bool is_whole_tile = false;    ///< all of its rows exist
    RowBlocks blocks;              ///< those of a tile in registers

    ScalarArena no_scalars;
    KernelWriter declarations;  ///< sums that live as long as the workgroup
    KernelWriter ends;          ///< stores them, behind the last tile
    std::vector<ValueId> stores;
    bool keeps_gradients = false;  ///< in registers, from tile to tile
    bool is_lost = false;          ///< a value is wanted that no tile holds

  private:
    std::map<ValueId, Expr> kept_;
    int next_thread_ = 0;
};

}  // namespace hearth
