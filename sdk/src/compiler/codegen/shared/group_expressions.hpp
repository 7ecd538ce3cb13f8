// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds the expressions of one group by running the `at` rules of its nodes.

#pragma once

#include "compiler/fusion/fuse.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/op/at.hpp>

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace hearth {

class GroupExpressions {
  public:
    GroupExpressions(const Graph& graph, const Group& group, const std::vector<bool>& inlined)
        : graph_(graph), group_(group), inlined_(inlined) {}

    ScalarArena& arena() { return arena_; }

    /// Makes every read of `value` within the group be `scalar`, wherever it is read (a matrix
    /// product's sum, a row's reduction), wrapped around where the value is of narrow integers.
    void define(ValueId value, Scalar scalar);

    /// Asked for each value that the group does not compute, before it is loaded from its buffer:
    /// where else it can be read.
    using Resident = std::function<std::optional<Scalar>(ValueId value, const ScalarPlace& place)>;
    void set_resident(Resident resident) { resident_ = std::move(resident); }

    /// The expression of a value at a place: of its node if it is computed here, else a load.
    Scalar read(ValueId value, const ScalarPlace& place);

    /// Whether the value is worked out by this group rather than loaded.
    bool is_computed_here(ValueId value) const;

  private:
    Scalar compute(ValueId value, const ScalarPlace& place);

    const Graph& graph_;
    const Group& group_;
    const std::vector<bool>& inlined_;
    ScalarArena arena_;
    std::map<ValueId, Scalar> defined_;
    Resident resident_;
    /// (value, place) -> expression; keeps shared sub-graphs from being expanded again and again.
    std::map<std::vector<uint32_t>, Scalar> known_;
};

}  // namespace hearth
