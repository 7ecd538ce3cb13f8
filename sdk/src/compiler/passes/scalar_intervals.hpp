// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Interval arithmetic on scalar expressions, and which integers of 64 bits must be exact.

#pragma once

#include <hearth/op/scalar.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

namespace hearth {

/// Closed; as doubles, which are exact up to 2^53: the ranges that matter end at 2^32.
struct Interval {
    double low = -HUGE_VAL, high = HUGE_VAL;
    bool is_within(Interval outer) const { return low >= outer.low && high <= outer.high; }
};

Interval hull(Interval a, Interval b);
/// The sum of `count` terms.
Interval times(Interval term, double count);
/// The product of up to `count` factors.
Interval power(Interval factor, double count);
/// All numbers of the type.
Interval range_of(ScalarType type);
/// Range of the 32-bit type by which device_dtype() replaces a type of 64.
Interval half_range_of(ScalarType type);
/// `exact` as numbers of the type, in which integers wrap around.
Interval wrapped(Interval exact, ScalarType type);

/// Part of an integer on which a reader depends.
enum class Demand : uint8_t {
    kNone,
    kIndex,  ///< it selects an element: other numbers than 32 bits hold are an error of the caller
    kLowBits,  ///< the low 32 bits: it is added, multiplied, narrowed
    kAll,      ///< it is compared, divided, converted to a float, or leaves the graph
};

/// An integer of 64 bits that has to be exact, and its range beyond 32 bits.
using WideInteger = std::optional<Interval>;

class ScalarIntervals {
  public:
    explicit ScalarIntervals(const ScalarArena& arena) : arena_(arena) {}

    void set(Scalar variable, Interval interval) { given_[variable.id] = interval; }
    /// What is known of a result besides what its operands tell.
    void bound(Scalar result, Interval interval) { bounds_[result.id] = interval; }
    Interval of(uint32_t id);

    /// Propagates a reader's demand to everything that `root` is computed from.  In arithmetic modulo
    /// 2^32 low bits depend on low bits alone, and a result that 32 bits hold is its low bits.
    WideInteger demand(uint32_t root, Demand demand);
    /// Demand on a variable, after demand().
    Demand demanded(Scalar variable) const;

  private:
    Interval find(const ScalarNode& node);
    /// Range of `value` where `condition` is `holds`: `x < 0 ? x + n : x` has that of an index.
    Interval where(uint32_t condition, bool holds, uint32_t value);
    /// Narrows what `condition` compares.  Returns false if that is nothing.
    bool assume(uint32_t condition, bool holds);
    bool assume_less(uint32_t a, uint32_t b, double difference);
    /// d, if the node is a - a / d * d.
    std::optional<uint32_t> divisor_of_rest(const ScalarNode& node) const;
    Interval loop(const ScalarNode& node);
    Interval of_float(const ScalarNode& node, Interval a) const;
    Interval of_integer(const ScalarNode& node, Interval a) const;
    Interval of_integers(const ScalarNode& node, Interval a, Interval b) const;

    static constexpr int kMaxConditions = 4;  ///< each select in a branch doubles the work

    const ScalarArena& arena_;
    int conditions_ = 0;  ///< assumed
    std::unordered_map<uint32_t, Interval> given_, bounds_;
    std::unordered_map<uint32_t, Interval> intervals_;
    std::map<uint32_t, Demand> demands_;
};

}  // namespace hearth
