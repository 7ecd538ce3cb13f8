// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The scalar expressions of a stage on matrix cores that works out eight neighbours of a row at a time, which
// are 16 bytes of f16: what it reads, and what it stores, is eight neighbours too where it can be.

#pragma once

#include "compiler/codegen/fused_network/scope.hpp"

#include <map>

namespace hearth {

/// Whether the value's tile holds f16.
bool is_half_tile(const NetworkPlan& plan, ValueId v);

class EightScope final : public NetworkScope {
  public:
    using NetworkScope::NetworkScope;

    /// A product's result: what expressions call it, and an array of eight.
    struct Sums {
        Scalar variable;
        Expr eight;
    };
    /// Works out elements `first` to `first` + 7 of each value, of a row that has `width`, and stores
    /// them.  Rows beyond the last are zeros where products read them: they are summed over with the
    /// others.
    void store_eight(std::span<const ValueId> values, Expr first, int width,
                     const Sums* sums = nullptr);

  private:
    std::optional<Scalar> resident(uint32_t level, ValueId v, const ScalarPlace& place) override;
    std::optional<Scalar> read_eight(uint32_t level, ValueId v, const ScalarPlace& place);
    /// Eight neighbours, as two fours or as halves; none if they are not at hand so.
    std::vector<Expr> eight_of(uint32_t level, ValueId v, bool has_row) const;
    /// Whether they go to shared memory at once; whether they can go outside as one or two vectors.
    bool is_kept_by_eight(ValueId v) const;
    bool is_stored_by_eight(ValueId v) const;
    void keep_eight(ValueId v, Expr eight);
    void store_eight_outside(ValueId v, Expr eight);

    Expr first_, t_;
    std::optional<Scalar> inner_;  ///< the coordinate of element first_ + t_
    std::map<ValueId, Scalar> read_;
};

}  // namespace hearth
