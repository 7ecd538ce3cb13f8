// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stride analysis: how an index moves while the element does: whether neighbours in a kernel's result read
// neighbours, or all the same element, of an operand.

#pragma once

#include <hearth/op/scalar.hpp>

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace hearth {

/// Over `width` elements from `first` on, a multiple of it.
class IndexAnalysis {
  public:
    IndexAnalysis(ScalarArena& arena, Scalar element, Scalar first, int64_t width)
        : arena_(arena), element_(element), first_(first), width_(width) {}

    /// By how much the expression grows with each element: 0 or 1; nothing if that is not known.
    std::optional<int> step(Scalar x) const;

    /// Whether the expression is a multiple of the width at the first element.
    bool is_aligned(Scalar x) const;

    /// The expression at the first element.
    Scalar at_first(Scalar x) const;

    /// Whether of all variables the expression reads the element alone.
    bool is_of_element(Scalar x) const;

  private:
    bool depends(Scalar x) const;
    std::optional<int> find_step(Scalar x) const;
    Scalar operand(uint32_t id) const { return {&arena_, id}; }

    ScalarArena& arena_;
    Scalar element_, first_;
    int64_t width_;
    // Expressions share parts, so what is known of one is kept.
    mutable std::unordered_map<uint32_t, bool> depends_, aligned_;
    mutable std::unordered_map<uint32_t, std::optional<int>> steps_;
    mutable std::unordered_map<uint32_t, Scalar> at_first_;
};

/// Of the expressions' quotients and remainders of the variable by numbers, after how many of its steps each goes on or
/// begins anew; null if it is divided by anything but a number.  Remainders of less than `least` steps, and what is made
/// of parts of those, are left out.
std::optional<std::vector<int64_t>> quotient_steps(ScalarArena& arena,
                                                   std::span<const Scalar> expressions,
                                                   Scalar variable, int64_t least);

/// Whether the expression reads no variables but these.
bool reads_only(const ScalarArena& arena, Scalar x, std::span<const Scalar> variables);

/// All that the expressions consist of, operands first.
std::vector<Scalar> parts_of(ScalarArena& arena, std::span<const Scalar> expressions);

/// The loads in the expressions, those within loops and within the indices of others included.
std::vector<Scalar> loads_in(ScalarArena& arena, std::span<const Scalar> expressions);

}  // namespace hearth
