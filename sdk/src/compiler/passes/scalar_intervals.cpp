// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/passes/scalar_intervals.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hearth {

namespace {

double size_of(Interval a) {
    return std::max(std::fabs(a.low), std::fabs(a.high));
}

/// Requires an interval without 0.
double least_size(Interval a) {
    return std::min(std::fabs(a.low), std::fabs(a.high));
}

/// 0 * infinity is 0: factors are numbers, whose bounds are unknown.
double product(double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b;
}

Interval product(Interval a, Interval b) {
    const auto [least, most] = std::minmax({product(a.low, b.low), product(a.low, b.high),
                                            product(a.high, b.low), product(a.high, b.high)});
    return {least, most};
}

/// The least 2^n - 1 that is no less.
double all_bits(double value) {
    double bits = 1;
    while (bits - 1 < value && bits < 0x1p64) bits *= 2;
    return bits - 1;
}

/// Remainder as in C, which has the sign of a.
Interval rest(Interval a, Interval divisor) {
    const double most = std::min(size_of(a), std::max(size_of(divisor) - 1, 0.0));
    return {a.low < 0 ? -most : 0, a.high > 0 ? most : 0};
}

Interval float_function(ScalarOp op, Interval a) {
    const ScalarInstruction& row = instruction_of(op);
    if (row.rises) return {row.of_floats(a.low, 0), row.of_floats(a.high, 0)};
    return {row.least, row.most};
}

}  // namespace

Interval hull(Interval a, Interval b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval times(Interval term, double count) {
    return {std::min(0.0, product(term.low, count)), std::max(0.0, product(term.high, count))};
}

Interval power(Interval factor, double count) {
    const double most = std::pow(std::max(size_of(factor), 1.0), count);
    return {factor.low < 0 ? -most : 0, most};
}

Interval range_of(ScalarType type) {
    switch (type) {
        case ScalarType::kI32:
            return {-0x1p31, 0x1p31 - 1};
        case ScalarType::kU32:
            return {0, 0x1p32 - 1};
        case ScalarType::kI64:
            return {-0x1p63, 0x1p63};
        case ScalarType::kU64:
            return {0, 0x1p64};
        case ScalarType::kBool:
            return {0, 1};
        default:
            return {};
    }
}

Interval half_range_of(ScalarType type) {
    return range_of(type == ScalarType::kU64 ? ScalarType::kU32 : ScalarType::kI32);
}

Interval wrapped(Interval exact, ScalarType type) {
    if (is_floating(type)) return std::isnan(exact.low + exact.high) ? Interval() : exact;
    const Interval range = range_of(type);
    return exact.is_within(range) ? exact : range;
}

Interval ScalarIntervals::of(uint32_t id) {
    if (const auto given = given_.find(id); given != given_.end()) return given->second;
    if (const auto known = intervals_.find(id); known != intervals_.end()) return known->second;
    const ScalarNode& node = arena_.node(id);
    Interval found = wrapped(find(node), node.type);
    if (const auto bound = bounds_.find(id); bound != bounds_.end())
        found = {std::max(found.low, bound->second.low), std::min(found.high, bound->second.high)};
    intervals_[id] = found;
    return found;
}

Interval ScalarIntervals::find(const ScalarNode& n) {
    if (n.op == ScalarOp::kConst) {
        const double value = value_of(n.value_bits(), n.type);
        return std::isnan(value) ? Interval() : Interval{value, value};
    }
    if (n.op <= ScalarOp::kLoad || n.op == ScalarOp::kPhilox) return range_of(n.type);
    if (n.type == ScalarType::kBool) return {0, 1};
    if (is_loop(n.op)) return loop(n);
    if (n.op == ScalarOp::kSelect) return hull(where(n.a, true, n.b), where(n.a, false, n.c));
    const Interval a = of(n.a);
    if (n.op == ScalarOp::kNeg) return {-a.high, -a.low};
    if (n.op == ScalarOp::kAbs) return {a.low <= 0 && a.high >= 0 ? 0 : least_size(a), size_of(a)};
    if (n.op == ScalarOp::kSign) return {-1, 1};
    if (is_unary(n.op)) return is_floating(n.type) ? of_float(n, a) : of_integer(n, a);
    const Interval b = of(n.b);
    switch (n.op) {
        case ScalarOp::kAdd:
            return {a.low + b.low, a.high + b.high};
        case ScalarOp::kSub:
            if (const std::optional<uint32_t> divisor = divisor_of_rest(n))
                return rest(a, of(*divisor));
            return {a.low - b.high, a.high - b.low};
        case ScalarOp::kMul:
            return product(a, b);
        case ScalarOp::kMin:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case ScalarOp::kMax:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        default:
            return is_floating(n.type) ? Interval() : of_integers(n, a, b);
    }
}

Interval ScalarIntervals::where(uint32_t condition, bool holds, uint32_t value) {
    if (conditions_ == kMaxConditions) return of(value);
    ScalarIntervals narrowed(arena_);
    narrowed.conditions_ = conditions_ + 1;
    narrowed.given_ = given_;
    narrowed.bounds_ = bounds_;
    return narrowed.assume(condition, holds) ? narrowed.of(value) : of(value);
}

bool ScalarIntervals::assume(uint32_t condition, bool holds) {
    const ScalarNode& n = arena_.node(condition);
    switch (n.op) {
        case ScalarOp::kToBool:
            return arena_.node(n.a).type == ScalarType::kBool && assume(n.a, holds);
        case ScalarOp::kNot:
            return assume(n.a, !holds);
        case ScalarOp::kAnd:
        case ScalarOp::kOr: {
            if (holds != (n.op == ScalarOp::kAnd)) return false;
            const bool narrows_a = assume(n.a, holds);
            return assume(n.b, holds) || narrows_a;
        }
        case ScalarOp::kLess:
            return holds ? assume_less(n.a, n.b, 1) : assume_less(n.b, n.a, 0);
        case ScalarOp::kLessEqual:
            return holds ? assume_less(n.a, n.b, 0) : assume_less(n.b, n.a, 1);
        default:
            return false;
    }
}

/// a + difference <= b, of integers.
bool ScalarIntervals::assume_less(uint32_t a, uint32_t b, double difference) {
    const ScalarType type = arena_.node(a).type;
    if (is_floating(type) || type == ScalarType::kBool) return false;
    const Interval of_a = of(a), of_b = of(b);
    const Interval less{of_a.low, std::min(of_a.high, of_b.high - difference)};
    const Interval more{std::max(of_b.low, of_a.low + difference), of_b.high};
    // A condition that cannot hold tells nothing of the branch.
    if (less.low > less.high || more.low > more.high) return false;
    given_[a] = less;
    given_[b] = more;
    intervals_.clear();
    return true;
}

std::optional<uint32_t> ScalarIntervals::divisor_of_rest(const ScalarNode& n) const {
    const ScalarNode& product = arena_.node(n.b);
    if (product.op != ScalarOp::kMul || is_floating(n.type)) return std::nullopt;
    for (const auto& [quotient, divisor] :
         {std::pair(product.a, product.b), std::pair(product.b, product.a)}) {
        const ScalarNode& q = arena_.node(quotient);
        if (q.op == ScalarOp::kDiv && q.a == n.a && q.b == divisor) return divisor;
    }
    return std::nullopt;
}

Interval ScalarIntervals::loop(const ScalarNode& n) {
    const double turns = of(n.a).high;
    switch (n.op) {
        case ScalarOp::kLoopArgMax:
        case ScalarOp::kLoopArgMin:
            return {0, std::max(turns - 1, 0.0)};
        case ScalarOp::kLoopSum:
            return times(of(n.b), turns);
        case ScalarOp::kLoopProd:
            return power(of(n.b), turns);
        default:
            return of(n.b);
    }
}

Interval ScalarIntervals::of_float(const ScalarNode& n, Interval a) const {
    if (n.op != ScalarOp::kToF32 && n.op != ScalarOp::kToF64) return float_function(n.op, a);
    // An f32 beyond 2^24 is rounded.
    const auto margin = [](double bound) {
        return std::fabs(bound) < 0x1p24 ? 0 : std::fabs(bound) * 0x1p-23;
    };
    return {a.low - margin(a.low), a.high + margin(a.high)};
}

Interval ScalarIntervals::of_integer(const ScalarNode& n, Interval a) const {
    const ScalarType from = arena_.node(n.a).type;
    switch (n.op) {
        case ScalarOp::kToI32:
        case ScalarOp::kToU32:
        case ScalarOp::kToI64:
        case ScalarOp::kToU64: {
            if (!is_floating(from)) return a;
            // Towards zero, saturated; NaN becomes zero.
            const Interval range = range_of(n.type);
            const auto bounded = [&](double x) {
                return std::clamp(std::trunc(x), range.low, range.high);
            };
            return hull({bounded(a.low), bounded(a.high)}, {0, 0});
        }
        case ScalarOp::kBitNot:
            return is_unsigned(n.type) ? range_of(n.type) : Interval{-1 - a.high, -1 - a.low};
        default:
            return range_of(n.type);
    }
}

Interval ScalarIntervals::of_integers(const ScalarNode& n, Interval a, Interval b) const {
    const double most = size_of(a);
    switch (n.op) {
        case ScalarOp::kDiv:
            if (a.low >= 0 && b.low > 0)
                return {std::trunc(a.low / b.high), std::trunc(a.high / b.low)};
            return {-most, most};
        case ScalarOp::kMod:
            return rest(a, b);
        case ScalarOp::kPow:
            return power(a, std::max(b.high, 0.0));
        case ScalarOp::kBitAnd:
            if (a.low >= 0 || b.low >= 0)
                return {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
            return {-1 - all_bits(std::max(most, size_of(b))), std::max(a.high, b.high)};
        case ScalarOp::kBitOr:
        case ScalarOp::kBitXor: {
            const double bits = all_bits(std::max(most, size_of(b)));
            return {a.low >= 0 && b.low >= 0 ? 0 : -1 - bits, bits};
        }
        case ScalarOp::kShiftLeft:
            return product(a, {1, std::exp2(std::clamp(b.high, 0.0, 64.0))});
        case ScalarOp::kShiftRight:
            return {std::min(a.low, 0.0), std::max(a.high, 0.0)};
        default:
            return range_of(n.type);
    }
}

namespace {

/// The demand on an operand of which the result's reader wants so much.  Low bits of sums and products
/// depend on low bits alone; an index within its extent is the sum or product of such numbers.
Demand demand_of_operand(ScalarOp op, int operand, Demand wanted) {
    const Demand low = std::min(wanted, Demand::kLowBits);
    switch (op) {
        case ScalarOp::kNeg:
        case ScalarOp::kAdd:
        case ScalarOp::kSub:
        case ScalarOp::kMul:
        case ScalarOp::kToI32:
        case ScalarOp::kToU32:
        case ScalarOp::kToI64:
        case ScalarOp::kToU64:
            return low;
        case ScalarOp::kSelect:
            return operand != 0 ? low : Demand::kAll;
        case ScalarOp::kBitNot:
        case ScalarOp::kBitAnd:
        case ScalarOp::kBitOr:
        case ScalarOp::kBitXor:
            return Demand::kLowBits;
        case ScalarOp::kShiftLeft:
            return operand == 0 ? Demand::kLowBits : Demand::kAll;
        case ScalarOp::kLoopSum:
        case ScalarOp::kLoopProd:
            return operand != 0 ? Demand::kLowBits : Demand::kAll;
        default:
            return Demand::kAll;
    }
}

}  // namespace

WideInteger ScalarIntervals::demand(uint32_t root, Demand demand) {
    WideInteger found;
    demands_[root] = std::max(demands_[root], demand);
    // Operands have smaller ids.
    for (auto at = demands_.end(); at != demands_.begin();) {
        --at;
        const auto [id, wanted] = *at;
        const ScalarNode n = arena_.node(id);
        if (wanted == Demand::kNone || n.op <= ScalarOp::kRowCount) continue;
        const bool is_wide_integer = is_wide(n.type) && !is_floating(n.type);
        const bool is_of_float = is_unary(n.op) && is_floating(arena_.node(n.a).type);
        if (is_wide_integer && !of(id).is_within(half_range_of(n.type)) &&
            (wanted == Demand::kAll || (is_of_float && wanted == Demand::kLowBits)))
            found = of(id);
        const std::array<uint32_t, 3> operands{n.a, n.b, n.c};
        for (int k = 0; k < operand_count(n.op); ++k) {
            const Demand needed = demand_of_operand(n.op, k, wanted);
            Demand& of_operand = demands_[operands[static_cast<size_t>(k)]];
            of_operand = std::max(of_operand, needed);
        }
    }
    return found;
}

Demand ScalarIntervals::demanded(Scalar variable) const {
    const auto known = demands_.find(variable.id);
    return known == demands_.end() ? Demand::kNone : known->second;
}

}  // namespace hearth
