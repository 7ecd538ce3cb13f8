// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What all stages of a row program (row_program.hpp) find when they are written: the plan, the body
// that they are parts of, the names in scope, and shared memory.

#pragma once

#include "codegen/group_kernels.hpp"
#include "codegen/row_plan.hpp"
#include "kernel/writer.hpp"

#include <memory>
#include <vector>

namespace hearth {

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

Shape without_rows(const Shape& shape);

struct RowFrame {
    RowFrame(const Graph& graph, const RowRegion& region, RowPlan plan,
             const std::vector<bool>& inlined, const LowerOptions& options);
    RowFrame(const RowFrame&) = delete;
    RowFrame& operator=(const RowFrame&) = delete;

    // ------------------------------------------------------------------------- the graph

    /// Whether the value is elements of that type in a buffer, not an expression.
    bool is_in_buffer(ValueId v, DType dtype) const;
    bool is_plain(ValueId v) const { return is_in_buffer(v, DType::kF32); }
    bool is_read_outside(ValueId v) const;
    /// Elements of one row.
    int row_width(ValueId v) const;
    bool holds_weights() const { return plan.mode == RowWeights::kHeld; }

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

    // ------------------------------------------------------------------------- shared memory

    /// Four floats of shared memory, the first of them number 4 * `quad`.
    Expr shared_four(Expr quad) const { return body->element(pool, quad); }
    /// The same of what products read beyond the last column, and throw away.
    Expr shared_four_or_anything(Expr quad) const { return body->element_or_anything(pool, quad); }
    /// One of its elements, which is a float or has the bits of another number.
    Expr shared(Expr element, ScalarType type = ScalarType::kF32) const;
    void put_shared(KernelWriter& to, Expr element, Expr value) const;

    const Graph& graph;
    const RowRegion& region;
    const RowPlan plan;
    const std::vector<bool>& inlined;
    const LowerOptions& options;
    const std::vector<std::vector<NodeId>> readers;
    const std::vector<bool> leaves;
    /// A software driver compiles long code for seconds, and gains little by it.
    const bool is_software;
    std::vector<bool> is_made;  ///< per value: by one of the groups, rather than filled in
    std::vector<std::shared_ptr<const Group>> numbers;  ///< that each workgroup works out

    const std::shared_ptr<Body> body;
    const KernelWriter::Operand operand;
    Expr pool;  ///< shared memory: fours of floats

    // In scope everywhere:
    Expr thread, group, last_row;
    Expr begin, end;    ///< the workgroup's rows
    Expr first, count;  ///< the tile's

    ScalarArena no_scalars;
    KernelWriter declarations;  ///< sums that live as long as the workgroup
    KernelWriter ends;          ///< stores them, behind the last tile
    std::vector<ValueId> stores;
    bool keeps_gradients = false;  ///< in registers, from tile to tile
    bool is_lost = false;          ///< a value is wanted that no tile holds

  private:
    int next_thread_ = 0;
};

}  // namespace hearth
