// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ranges are those of interval arithmetic.  A quotient of a sum is taken apart: (c q + r) / c is q + r / c and its
// remainder that of r, if nothing is negative; and with 0 <= r < g, (g q + r) / c is q / (c / g) where g divides c.
// Then g m <= g q + r is m <= q, too.  What was taken apart and put together again, c (x / c) + x % c, is x.

#include "compiler/codegen/shared/known_ranges.hpp"

#include "compiler/codegen/shared/index_analysis.hpp"
#include "compiler/ir/scalar_operands.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace hearth {

namespace {

constexpr int64_t kMost = INT32_MAX, kLeast = INT32_MIN;
constexpr int64_t kWrittenOut = 64;  // turns of a loop and those around it

int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

std::vector<IndexRange> split(IndexRange range, const std::vector<int64_t>& thresholds) {
    constexpr size_t kMostParts = 8;
    const IndexRange whole = range;
    std::vector<IndexRange> parts;
    for (const int64_t at : thresholds) {
        if (at <= range.first || at > range.last) continue;
        parts.push_back({range.first, at - 1});
        range.first = at;
    }
    parts.push_back(range);
    if (parts.size() > kMostParts) return {whole};
    return parts;
}

bool KnownRanges::depends(Scalar x, Scalar on) const {
    const std::vector<Scalar> parts = parts_of(arena_, {&x, 1});
    return std::ranges::any_of(parts, [on](Scalar part) { return part.id == on.id; });
}

std::optional<IndexRange> KnownRanges::range(Scalar x) {
    if (x.type() != ScalarType::kI32) return std::nullopt;
    if (const auto known = known_ranges_.find(x.id); known != known_ranges_.end())
        return known->second;
    std::optional<IndexRange> found = find_range(x);
    // What may leave 32 bits begins anew.
    if (found && (found->first < kLeast || found->last > kMost)) found.reset();
    return known_ranges_[x.id] = found;
}

std::optional<IndexRange> KnownRanges::find_range(Scalar x) {
    const ScalarNode node = x.node();
    if (node.op == ScalarOp::kConst) {
        const auto value = static_cast<int64_t>(x.const_value());
        return IndexRange{value, value};
    }
    if (node.op == ScalarOp::kVariable) {
        const auto known = ranges_.find(x.id);
        return known == ranges_.end() ? std::nullopt : std::optional(known->second);
    }
    if (operand_count(node.op) < 2 || is_loop(node.op)) return std::nullopt;
    if (node.op == ScalarOp::kSelect) {
        const auto yes = range(operand(node.b)), no = range(operand(node.c));
        if (!yes || !no) return std::nullopt;
        return IndexRange{std::min(yes->first, no->first), std::max(yes->last, no->last)};
    }
    const auto a = range(operand(node.a)), b = range(operand(node.b));
    if (!a || !b) return std::nullopt;
    switch (node.op) {
        case ScalarOp::kAdd:
            return IndexRange{a->first + b->first, a->last + b->last};
        case ScalarOp::kSub:
            return IndexRange{a->first - b->last, a->last - b->first};
        case ScalarOp::kMul: {
            const std::array<int64_t, 4> corners{a->first * b->first, a->first * b->last,
                                                 a->last * b->first, a->last * b->last};
            const auto [least, most] = std::minmax_element(corners.begin(), corners.end());
            return IndexRange{*least, *most};
        }
        case ScalarOp::kDiv:
            if (a->first < 0 || b->first <= 0) return std::nullopt;
            return IndexRange{a->first / b->last, a->last / b->first};
        case ScalarOp::kMod:
            if (a->first < 0 || b->first <= 0) return std::nullopt;
            return IndexRange{0, std::min(a->last, b->last - 1)};
        case ScalarOp::kMin:
            return IndexRange{std::min(a->first, b->first), std::min(a->last, b->last)};
        case ScalarOp::kMax:
            return IndexRange{std::max(a->first, b->first), std::max(a->last, b->last)};
        default:
            return std::nullopt;
    }
}

Scalar KnownRanges::simplified(Scalar x) {
    if (const auto known = known_.find(x.id); known != known_.end()) return known->second;
    Scalar result = rebuilt(x);
    if (const auto only = range(result); only && only->first == only->last)
        result = arena_.index(only->first);
    known_[x.id] = result;
    return result;
}

Scalar KnownRanges::rebuilt(Scalar x) {
    if (const auto by = replaced_.find(x.id); by != replaced_.end()) return by->second;
    const ScalarNode node = x.node();  // a copy: the arena grows
    if (operand_count(node.op) == 0) return x;
    if (is_loop(node.op)) return loop(x);
    if (node.op == ScalarOp::kLoad) {
        if (loaded_at_.contains(node.a)) return x;
        return arena_.load(node.bits, simplified(operand(node.a)), node.type);
    }
    const Scalar a = simplified(operand(node.a));
    if (operand_count(node.op) == 1) return a.id == node.a ? x : arena_.unary(node.op, a);
    const Scalar b = simplified(operand(node.b));
    if (node.op == ScalarOp::kPhilox) return arena_.philox(arena_.key(node.bits), a, b);
    if (node.op == ScalarOp::kSelect) {
        if (a.is_const()) return a.const_value() != 0 ? b : simplified(operand(node.c));
        return arena_.select(a, b, simplified(operand(node.c)));
    }
    if (a.type() == ScalarType::kI32 && b.type() == ScalarType::kI32) return integer(node.op, a, b);
    return arena_.binary(node.op, a, b);
}

Scalar KnownRanges::loop(Scalar x) {
    const ScalarNode node = x.node();
    const Scalar extent = simplified(operand(node.a)), counter = operand(node.c);
    const int64_t turns = extent.is_const() ? static_cast<int64_t>(extent.const_value()) : kMost;
    const bool is_sum = node.op == ScalarOp::kLoopSum;
    const bool is_largest = node.op == ScalarOp::kLoopMax;
    KnownRanges inner(arena_);
    inner.ranges_ = ranges_;
    inner.replaced_ = replaced_;
    inner.loaded_at_ = loaded_at_;
    if (turns < 1 || turns > kWrittenOut / copies_ || node.type != ScalarType::kF32 ||
        (!is_sum && !is_largest)) {
        inner.set(counter, {0, std::max<int64_t>(turns - 1, 0)});
        return arena_.loop(node.op, counter, extent, inner.simplified(operand(node.b)));
    }
    inner.copies_ = copies_ * turns;
    Scalar result = arena_.constant(0, node.type);
    for (int64_t i = 0; i < turns; ++i) {
        KnownRanges turn(inner);
        turn.replaced_[counter.id] = arena_.index(i);
        const Scalar term = turn.simplified(operand(node.b));
        if (is_sum)
            result = arena_.binary(ScalarOp::kAdd, result, term);
        else
            result = i == 0 ? term : arena_.binary(ScalarOp::kMax, result, term);
    }
    return result;
}

Scalar KnownRanges::integer(ScalarOp op, Scalar a, Scalar b) {
    const auto left = range(a), right = range(b);
    if (left && right) {
        switch (op) {
            case ScalarOp::kLess:
                if (left->last < right->first) return arena_.boolean(true);
                if (left->first >= right->last) return arena_.boolean(false);
                break;
            case ScalarOp::kLessEqual:
                if (left->last <= right->first) return arena_.boolean(true);
                if (left->first > right->last) return arena_.boolean(false);
                break;
            case ScalarOp::kMin:
                if (left->last <= right->first) return a;
                if (right->last <= left->first) return b;
                break;
            case ScalarOp::kMax:
                if (left->first >= right->last) return a;
                if (right->first >= left->last) return b;
                break;
            default:
                break;
        }
    }
    if (op == ScalarOp::kAdd) return sum(a, b);
    if (const auto simpler = without_rest(op, a, b)) return *simpler;
    if ((op == ScalarOp::kDiv || op == ScalarOp::kMod) && b.is_const() && b.const_value() > 0 &&
        left && left->first >= 0)
        return divided(op, a, static_cast<int64_t>(b.const_value()));
    return arena_.binary(op, a, b);
}

std::vector<KnownRanges::Term> KnownRanges::terms_of(Scalar sum) const {
    std::vector<Term> terms;
    std::vector<Term> open{{sum, 1}};
    while (!open.empty()) {
        const auto [x, times] = open.back();
        open.pop_back();
        const ScalarNode n = x.node();
        const Scalar a = operand(n.a), b = operand(n.b);
        const auto value = [](Scalar number) { return static_cast<int64_t>(number.const_value()); };
        if (n.op == ScalarOp::kAdd || n.op == ScalarOp::kSub) {
            open.push_back({a, times});
            open.push_back({b, n.op == ScalarOp::kAdd ? times : -times});
        } else if (n.op == ScalarOp::kMul && b.is_const() &&
                   std::abs(times) <= kMost / std::max<int64_t>(std::abs(value(b)), 1)) {
            open.push_back({a, times * value(b)});
        } else if (n.op == ScalarOp::kConst && std::abs(value(x)) <= kMost / std::abs(times)) {
            terms.push_back({arena_.index(1), times * value(x)});
        } else {
            terms.push_back({x, times});
        }
    }
    return terms;
}

std::pair<std::vector<KnownRanges::Term>, std::vector<KnownRanges::Term>> KnownRanges::parted(
    const std::vector<Term>& terms, int64_t g) {
    std::pair<std::vector<Term>, std::vector<Term>> parts;
    for (const Term& t : terms)
        if (t.times % g == 0)
            parts.first.push_back({t.factor, t.times / g});
        else
            parts.second.push_back(t);
    return parts;
}

Scalar KnownRanges::sum_of(const std::vector<Term>& terms) {
    Scalar sum = arena_.index(0);
    for (const Term& t : terms)
        sum = arena_.binary(ScalarOp::kAdd, sum,
                            arena_.binary(ScalarOp::kMul, t.factor, arena_.index(t.times)));
    return sum;
}

Scalar KnownRanges::sum(Scalar a, Scalar b) {
    const Scalar whole = arena_.binary(ScalarOp::kAdd, a, b);
    std::vector<Term> terms = terms_of(whole);
    for (size_t i = 0; i < terms.size(); ++i) {
        const ScalarNode rest = terms[i].factor.node();
        if (rest.op != ScalarOp::kMod || !operand(rest.b).is_const()) continue;
        const auto by = static_cast<int64_t>(operand(rest.b).const_value());
        for (size_t j = 0; j < terms.size(); ++j) {
            const ScalarNode quotient = terms[j].factor.node();
            if (quotient.op != ScalarOp::kDiv || quotient.a != rest.a || quotient.b != rest.b ||
                terms[j].times != terms[i].times * by)
                continue;
            terms[i].factor = operand(rest.a);
            terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(j));
            return sum_of(terms);
        }
    }
    return whole;
}

// Comparisons of a number with g q + r, or with a quotient.
std::optional<Scalar> KnownRanges::without_rest(ScalarOp op, Scalar a, Scalar b) {
    if ((op != ScalarOp::kLess && op != ScalarOp::kLessEqual) || a.is_const() == b.is_const())
        return std::nullopt;
    const bool is_least = a.is_const();  // number <= x; or x < number
    const Scalar x = is_least ? b : a;
    int64_t number = static_cast<int64_t>((is_least ? a : b).const_value());
    if ((op == ScalarOp::kLess) == is_least) ++number;
    const auto compared = [&](Scalar with, int64_t least) {
        return is_least ? integer(ScalarOp::kLessEqual, arena_.index(least), with)
                        : integer(ScalarOp::kLess, with, arena_.index(least));
    };
    const ScalarNode node = x.node();
    if (node.op == ScalarOp::kDiv && operand(node.b).is_const() && number > 0) {
        const auto by = static_cast<int64_t>(operand(node.b).const_value());
        const auto divided = range(operand(node.a));
        if (by > 0 && divided && divided->first >= 0 && number <= kMost / by)
            return compared(operand(node.a), number * by);
    }
    if (node.op != ScalarOp::kAdd && node.op != ScalarOp::kSub && node.op != ScalarOp::kMul)
        return std::nullopt;
    int64_t g = 1;
    std::vector<Term> terms;
    for (const Term& t : terms_of(x)) {
        if (t.factor.is_const()) {
            number -= t.times * static_cast<int64_t>(t.factor.const_value());
        } else {
            terms.push_back(t);
            g = std::max(g, t.times);
        }
    }
    if (g == 1 || number % g != 0) return std::nullopt;
    const auto [multiples, others] = parted(terms, g);
    const Scalar q = sum_of(multiples);
    const auto r_range = range(sum_of(others)), q_range = range(q);
    if (!q_range || !r_range || r_range->first < 0 || r_range->last >= g ||
        std::abs(number / g) > kMost)
        return std::nullopt;
    return compared(q, number / g);
}

// a is not negative.
Scalar KnownRanges::divided(ScalarOp op, Scalar a, int64_t by) {
    const bool is_quotient = op == ScalarOp::kDiv;
    if (range(a)->last < by) return is_quotient ? arena_.index(0) : a;
    const ScalarNode node = a.node();
    const auto whole = [&]() { return arena_.binary(op, a, arena_.index(by)); };
    if (node.op == ScalarOp::kDiv || node.op == ScalarOp::kMod) {
        const Scalar inner = operand(node.a), other = operand(node.b);
        const auto inner_range = range(inner);
        if (!other.is_const() || !inner_range || inner_range->first < 0) return whole();
        const auto d = static_cast<int64_t>(other.const_value());
        if (node.op == ScalarOp::kDiv && is_quotient && d * by <= kMost)
            return divided(ScalarOp::kDiv, inner, d * by);
        if (node.op == ScalarOp::kMod && d % by == 0) {
            const Scalar result = divided(op, inner, by);
            return is_quotient ? integer(ScalarOp::kMod, result, arena_.index(d / by)) : result;
        }
        return whole();
    }
    const std::vector<Term> terms = terms_of(a);
    // g: the divisor itself, or what it and a factor have in common.
    int64_t g = by;
    if (std::ranges::none_of(terms, [&](const Term& t) { return t.times % by == 0; })) {
        g = 1;
        for (const Term& t : terms) g = std::max(g, std::gcd(t.times, by));
    }
    if (g == 1) return whole();
    const auto [multiples, others] = parted(terms, g);
    const Scalar q = sum_of(multiples), r = sum_of(others);
    const auto q_range = range(q), r_range = range(r);
    if (!q_range || !r_range || q_range->first < 0 || r_range->first < 0) return whole();
    if (g == by) {
        const Scalar rest = divided(op, r, by);
        return is_quotient ? arena_.binary(ScalarOp::kAdd, q, rest) : rest;
    }
    if (r_range->last >= g) return whole();
    const Scalar rest = divided(op, q, by / g);
    return is_quotient ? rest : sum_of({{rest, g}, {r, 1}});
}

std::optional<int64_t> KnownRanges::slope(Scalar x, Scalar counter) const {
    if (x.id == counter.id) return 1;
    if (!depends(x, counter)) return 0;
    const ScalarNode node = x.node();
    if (node.op == ScalarOp::kAdd || node.op == ScalarOp::kSub) {
        const auto a = slope(operand(node.a), counter), b = slope(operand(node.b), counter);
        if (!a || !b) return std::nullopt;
        return node.op == ScalarOp::kAdd ? *a + *b : *a - *b;
    }
    if (node.op == ScalarOp::kMul && operand(node.b).is_const()) {
        const auto a = slope(operand(node.a), counter);
        if (!a) return std::nullopt;
        return *a * static_cast<int64_t>(operand(node.b).const_value());
    }
    return std::nullopt;
}

IndexRange KnownRanges::undisturbed(Scalar x, Scalar counter, int64_t count) {
    // A bound behind another, as of min(max(at, 0), last), is plain to see once that is decided.
    const IndexRange outer = decided(x, counter, {0, count - 1}, count);
    return decided(x, counter, outer, count);
}

std::vector<int64_t> KnownRanges::thresholds(Scalar x, Scalar variable) {
    const Scalar simpler = simplified(x);
    KnownRanges at_zero(arena_);
    at_zero.ranges_ = ranges_;
    at_zero.set(variable, {0, 0});
    std::set<int64_t> found;
    for (const Scalar part : parts_of(arena_, {&simpler, 1})) {
        const ScalarNode node = part.node();
        if (node.op != ScalarOp::kLess && node.op != ScalarOp::kLessEqual) continue;
        const bool is_least = operand(node.a).is_const();
        const Scalar number = operand(is_least ? node.a : node.b);
        const Scalar side = operand(is_least ? node.b : node.a);  // variable + offset
        if (!number.is_const() || side.type() != ScalarType::kI32 || slope(side, variable) != 1 ||
            !range(side))
            continue;
        const auto offset = at_zero.range(side);
        if (!offset || offset->first != offset->last) continue;
        const bool is_next = (node.op == ScalarOp::kLess) == is_least;
        found.insert(static_cast<int64_t>(number.const_value()) - offset->first +
                     (is_next ? 1 : 0));
    }
    return {found.begin(), found.end()};
}

IndexRange KnownRanges::decided(Scalar x, Scalar counter, IndexRange part, int64_t count) {
    KnownRanges inside(arena_);
    inside.ranges_ = ranges_;
    inside.replaced_ = replaced_;
    inside.loaded_at_ = loaded_at_;
    inside.set(counter, part);
    x = inside.simplified(x);
    KnownRanges at_zero(arena_);
    at_zero.ranges_ = ranges_;
    at_zero.set(counter, {0, 0});
    // In `part`, side + added >= number holds, or side + added <= number does.
    const auto bound = [&](Scalar side, int64_t number, bool is_below) {
        const auto s = slope(side, counter);
        const auto start = at_zero.range(side);
        if (!s || *s <= 0 || !start) return;
        if (is_below) {
            const int64_t first = -floor_div(start->first - number, *s);
            if (first <= count / 2) part.first = std::max(part.first, first);
        } else {
            const int64_t last = floor_div(number - start->last, *s);
            if (last >= count / 2) part.last = std::min(part.last, last);
        }
    };
    for (const Scalar part_of_x : parts_of(arena_, {&x, 1})) {
        const ScalarNode node = part_of_x.node();
        if (operand_count(node.op) != 2 || operand(node.a).type() != ScalarType::kI32) continue;
        const Scalar a = operand(node.a), b = operand(node.b);
        const int64_t strict = node.op == ScalarOp::kLess ? 1 : 0;
        const bool is_order = node.op == ScalarOp::kLess || node.op == ScalarOp::kLessEqual;
        if (is_order && a.is_const())
            bound(b, static_cast<int64_t>(a.const_value()) + strict, true);
        else if (is_order && b.is_const())
            bound(a, static_cast<int64_t>(b.const_value()) - strict, false);
        else if (node.op == ScalarOp::kMax && b.is_const())
            bound(a, static_cast<int64_t>(b.const_value()), true);
        else if (node.op == ScalarOp::kMin && b.is_const())
            bound(a, static_cast<int64_t>(b.const_value()), false);
    }
    return part;
}

}  // namespace hearth
