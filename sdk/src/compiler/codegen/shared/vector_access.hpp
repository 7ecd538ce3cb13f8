// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads and stores of neighbours along the last axis of an operand, in as few accesses as its memory allows.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <hearth/op/at.hpp>

#include <optional>
#include <span>
#include <vector>

namespace hearth {

class VectorAccess {
  public:
    VectorAccess(const Graph& graph, const Group& group, const LowerOptions& options, Body& body,
                 KernelWriter::Operand operand, GroupExpressions& expressions)
        : graph_(graph),
          group_(group),
          options_(options),
          body_(body),
          operand_(std::move(operand)),
          expressions_(expressions),
          arena_(expressions.arena()) {}

    /// Elements at `at` and the next three of the last axis, of which the first one's coordinate is a multiple of four;
    /// element by element where they are not a vector in memory.
    Expr load_four(KernelWriter& writer, ValueId value, const Coords<Scalar>& at);
    /// The same from element `first` on, in the order of memory, a multiple of four.
    Expr load_four(KernelWriter& writer, ValueId value, Scalar first);
    /// The same if they are a vector in memory, else nothing.  element: what moves in `place`.
    std::optional<Expr> load_vector(KernelWriter& writer, ValueId value, const ScalarPlace& place,
                                    Scalar element);

    /// Values that the group stores for an output of its operator.  Of several outputs each stores itself: only the reader
    /// of a single one can be fused.
    std::vector<ValueId> stores_of(const Node& node, ValueId output) const;
    /// Stores one element of an output.
    void store(KernelWriter& writer, const Node& node, ValueId output, const ScalarPlace& place,
               Expr content);
    /// Stores four or eight elements of an output from `at` on.
    void store_vector(KernelWriter& writer, const Node& node, ValueId output,
                      const Coords<Scalar>& at, std::span<const Expr> contents);
    /// The place of the output's element so many behind coordinates.
    ScalarPlace store_place(const Node& node, ValueId output, const Coords<Scalar>& at,
                            uint32_t behind) const;

  private:
    DType held(ValueId value) const;
    void store_neighbours(KernelWriter& writer, ValueId value, Expr where,
                          std::span<const Expr> contents);

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    Body& body_;
    const KernelWriter::Operand operand_;
    GroupExpressions& expressions_;
    ScalarArena& arena_;
};

}  // namespace hearth
