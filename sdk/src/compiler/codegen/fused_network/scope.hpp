// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The scalar expressions of one stage of a fused network: what it reads of other stages comes from
// shared memory, and what it makes goes there and, where others read it, to its buffer.

#pragma once

#include "compiler/codegen/fused_network/frame.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"

#include <optional>
#include <span>

namespace hearth {

class NetworkScope {
  public:
    NetworkScope(NetworkFrame& frame, const NetworkStage& stage);
    virtual ~NetworkScope() = default;
    NetworkScope(const NetworkScope&) = delete;
    NetworkScope& operator=(const NetworkScope&) = delete;

    /// Declares "row", that of the whole which is row `in_tile` of the tile: the one that the stage's
    /// expressions are about from here inward.  Beyond the last row it is the last one.
    void open_row(Expr in_tile);
    /// The same where it has a name already.
    void name_row(Expr in_tile, Expr in_whole);

    /// The place in `shape` of element `inner` of the row.
    ScalarPlace place(const Shape& shape, Scalar inner);

    /// Works out all values, then stores them, at element `inner` of the row, which expressions call
    /// by the variable.  inside: a condition, if not all elements are of the row.
    void store_row(std::span<const ValueId> values, Scalar variable, Expr inner, Expr inside = {});
    /// Stores `content` as element `inner` of the row wherever the value is needed.
    void store(ValueId v, Expr content, Expr inner, Expr inside = {});

  private:
    Group nothing_;

  public:
    GroupExpressions expressions;
    ScalarArena& arena;
    KernelWriter writer;
    Scalar row;    ///< of the whole
    Scalar local;  ///< of the tile

  protected:
    /// What is at hand of a value other than its buffer, if anything is.
    virtual std::optional<Scalar> resident(uint32_t level, ValueId v, const ScalarPlace& place);
    /// A number that the workgroup has worked out.
    std::optional<Scalar> number(ValueId v);
    void store_shared(ValueId v, Expr content, Expr inner, Expr inside);
    void store_outside(ValueId v, Expr content, Expr inner, Expr inside);
    bool is_stored_outside(ValueId v) const {
        return frame_.is_made[v] && frame_.is_read_outside(v);
    }

    NetworkFrame& frame_;
    Expr in_tile_, in_whole_;
};

}  // namespace hearth
