// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Range analysis of floating-point expressions, to omit saturation in conversions.

#include "compiler/ir/scalar_range.hpp"

#include "compiler/ir/scalar_operation.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

/// Bounds of a float.  nan_of: the expression whose NaN makes this one NaN.
constexpr uint32_t kNoNaN = 0xffffffffu, kAnyNaN = 0xfffffffeu;
struct Range {
    double low = -HUGE_VAL, high = HUGE_VAL;
    uint32_t nan_of = kAnyNaN;
};

Range range_of(const ScalarArena& arena, uint32_t id, int depth = 0) {
    const ScalarNode& n = arena.node(id);
    Range range;
    if (n.type != ScalarType::kF32 || depth == 8) return range;
    switch (n.op) {
        case ScalarOp::kConst: {
            const double value = value_of(n.value_bits(), n.type);
            return std::isnan(value) ? range : Range{value, value, kNoNaN};
        }
        case ScalarOp::kFloor:
        case ScalarOp::kCeil:
        case ScalarOp::kRound:
        case ScalarOp::kTrunc: {
            range = range_of(arena, n.a, depth + 1);
            return {std::floor(range.low), std::ceil(range.high), range.nan_of};
        }
        case ScalarOp::kMin:
        case ScalarOp::kMax: {
            // min and max with a constant bound propagate NaN.
            const Range a = range_of(arena, n.a, depth + 1), b = range_of(arena, n.b, depth + 1);
            const bool is_min = n.op == ScalarOp::kMin;
            range.low = is_min ? std::min(a.low, b.low) : std::max(a.low, b.low);
            range.high = is_min ? std::min(a.high, b.high) : std::max(a.high, b.high);
            range.nan_of = a.nan_of == kNoNaN ? b.nan_of : b.nan_of == kNoNaN ? a.nan_of : kAnyNaN;
            return range;
        }
        case ScalarOp::kSelect: {
            const Range yes = range_of(arena, n.b, depth + 1), no = range_of(arena, n.c, depth + 1);
            range = {std::min(yes.low, no.low), std::max(yes.high, no.high), kAnyNaN};
            const ScalarNode& condition = arena.node(n.a);
            const bool asks_for_it = condition.op == ScalarOp::kIsNan && condition.a == no.nan_of;
            if (yes.nan_of == kNoNaN && (no.nan_of == kNoNaN || asks_for_it)) range.nan_of = kNoNaN;
            return range;
        }
        default:
            range.nan_of = id;  // NaN only if it is itself
            return range;
    }
}

}  // namespace

bool lies_within(const ScalarArena& arena, uint32_t id, double least, double most) {
    const Range range = range_of(arena, id);
    return range.nan_of == kNoNaN && range.low >= least && range.high <= most;
}

bool is_fitting_conversion(const ScalarArena& arena, const ScalarNode& node) {
    if (node.op == ScalarOp::kToI32) return lies_within(arena, node.a, -0x1p31, 0x1.fffffep30);
    return node.op == ScalarOp::kToU32 && lies_within(arena, node.a, 0, 0x1.fffffep31);
}

}  // namespace hearth
