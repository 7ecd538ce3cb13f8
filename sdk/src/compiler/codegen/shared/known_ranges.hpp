// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar expressions made simpler by what is known of the indices in them: divisions and comparisons whose result the
// ranges of loop counters decide, as of a convolution's taps far from the borders.

#pragma once

#include <hearth/op/scalar.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hearth {

/// All whole numbers from `first` to `last`.
struct IndexRange {
    int64_t first = 0, last = 0;
};

/// Those of so many things; of none, of one.
inline IndexRange indices_of(int64_t count) {
    return {0, std::max<int64_t>(count - 1, 0)};
}

/// The range in parts, each of which but the first begins at a threshold; whole if there were too many for a loop each.
std::vector<IndexRange> split(IndexRange range, const std::vector<int64_t>& thresholds);

class KnownRanges {
  public:
    explicit KnownRanges(ScalarArena& arena) : arena_(arena) {}

    /// The i32 variable is always one of these.  Before the first simplified().
    void set(Scalar variable, IndexRange range) { ranges_[variable.id] = range; }
    /// `what` is `by`, but for loads at it, which stay as they are.
    void replace(Scalar what, Scalar by) {
        replaced_[what.id] = by;
        loaded_at_.insert(what.id);
    }

    /// An expression of the same value.  Short loops of known turns are written out, their terms in the same order.
    Scalar simplified(Scalar x);

    /// None: it may be any, or is no i32.
    std::optional<IndexRange> range(Scalar x);

    /// The part of [0, count) in which `counter` may be so that comparisons with numbers in x are decided; of each, at
    /// most half is left out.
    IndexRange undisturbed(Scalar x, Scalar counter, int64_t count);

    /// Values of the variable, in their order, from which on some comparison of it in x, simplified, turns out otherwise.
    std::vector<int64_t> thresholds(Scalar x, Scalar variable);

  private:
    IndexRange decided(Scalar x, Scalar counter, IndexRange part, int64_t count);
    Scalar operand(uint32_t id) const { return {&arena_, id}; }
    Scalar rebuilt(Scalar x);
    Scalar loop(Scalar x);
    Scalar integer(ScalarOp op, Scalar a, Scalar b);
    Scalar divided(ScalarOp op, Scalar a, int64_t by);
    /// A part of a sum, and the number that it is multiplied by.
    struct Term {
        Scalar factor;
        int64_t times;
    };
    std::vector<Term> terms_of(Scalar sum) const;
    /// Those that are multiples of g, divided by it, and the others.
    static std::pair<std::vector<Term>, std::vector<Term>> parted(const std::vector<Term>& terms,
                                                                  int64_t g);
    Scalar sum_of(const std::vector<Term>& terms);
    Scalar sum(Scalar a, Scalar b);
    std::optional<Scalar> without_rest(ScalarOp op, Scalar a, Scalar b);
    std::optional<IndexRange> find_range(Scalar x);
    /// By how much x grows with each step of the counter, if that is always the same.
    std::optional<int64_t> slope(Scalar x, Scalar counter) const;
    bool depends(Scalar x, Scalar on) const;

    ScalarArena& arena_;
    std::map<uint32_t, IndexRange> ranges_;  ///< of variables
    std::map<uint32_t, Scalar> replaced_;    ///< counters of loops that are written out among them
    std::set<uint32_t> loaded_at_;           ///< loads at these stay as they are
    int64_t copies_ = 1;                     ///< that loops around this one are written out in
    std::unordered_map<uint32_t, Scalar> known_;
    std::unordered_map<uint32_t, std::optional<IndexRange>> known_ranges_;
};

}  // namespace hearth
