// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/known_ranges.hpp"

#include "compiler/ir/scalar_operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace hearth {
namespace {

constexpr int64_t kLines = 60, kLength = 12;

/// An element, as the place-th of a line.
class Line : public testing::Test {
  protected:
    KnownRanges known(IndexRange places = {0, kLength - 1}) {
        KnownRanges ranges(arena_);
        ranges.set(line_, {0, kLines - 1});
        ranges.set(place_, places);
        ranges.replace(element_, line_ * arena_.index(kLength) + place_);
        return ranges;
    }

    int64_t value(Scalar x, int64_t line, int64_t place) const {
        if (x.id == element_.id) return line * kLength + place;
        if (x.id == line_.id) return line;
        if (x.id == place_.id) return place;
        if (x.is_const()) return static_cast<int64_t>(x.const_value());
        const ScalarNode node = x.node();
        const auto operand = [&](uint32_t id) {
            return static_cast<uint32_t>(value({x.arena, id}, line, place));
        };
        return static_cast<int32_t>(scalar_operation(node.op, x.arena->node(node.a).type,
                                                     {operand(node.a), operand(node.b), 0}));
    }

    ScalarArena arena_;
    Scalar element_ = arena_.symbol(ScalarType::kI32);
    Scalar line_ = arena_.symbol(ScalarType::kI32), place_ = arena_.symbol(ScalarType::kI32);
};

TEST_F(Line, NeedsNoDivisionForCoordinates) {
    KnownRanges ranges = known();
    EXPECT_EQ(ranges.simplified(element_ % kLength).id, place_.id);
    EXPECT_EQ(ranges.simplified(element_ / kLength).id, line_.id);
    EXPECT_EQ(ranges.simplified(element_ / (5 * kLength) % 4).id,
              (line_ / arena_.index(5) % arena_.index(4)).id);
    EXPECT_EQ(ranges.simplified(element_ % (5 * kLength) / kLength).id,
              (line_ % arena_.index(5)).id);
}

TEST_F(Line, KeepsLoadsAtTheElementAsTheyAre) {
    KnownRanges ranges = known();
    const Scalar here = arena_.load(7, element_, ScalarType::kF32);
    EXPECT_EQ(ranges.simplified(here).id, here.id);
    EXPECT_EQ(ranges.simplified(arena_.load(7, element_ % kLength, ScalarType::kF32)).id,
              arena_.load(7, place_, ScalarType::kF32).id);
}

TEST_F(Line, HasNoClampsFarFromBorders) {
    const Scalar at = element_ % kLength + -2;
    const Scalar clamped = min(max(at, 0), kLength - 4);
    const IndexRange part = known().undisturbed(clamped, place_, kLength);
    EXPECT_EQ(part.first, 2);
    EXPECT_EQ(part.last, kLength - 2);
    EXPECT_EQ(known(part).simplified(clamped).id, (place_ + -2).id);
    EXPECT_EQ(known({0, 1}).simplified(at >= 0).const_value(), 0);
}

TEST_F(Line, PutsTogetherWhatWasTakenApart) {
    EXPECT_EQ(known().simplified(element_ / 5 * 5 + element_ % 5).id,
              (line_ * arena_.index(kLength) + place_).id);
}

TEST_F(Line, IsAsAWholeOnOneSideOfAThreshold) {
    const auto of_line = [&](Scalar x) { return known().thresholds(x, line_); };
    EXPECT_EQ(of_line(element_ >= 3 * kLength), std::vector<int64_t>{3});
    EXPECT_EQ(of_line(element_ < 4 * kLength), std::vector<int64_t>{4});
    EXPECT_EQ(of_line(element_ / (5 * kLength) >= 2), std::vector<int64_t>{10});
    EXPECT_EQ(of_line(element_ >= 3 * kLength + 1), std::vector<int64_t>{});
    EXPECT_EQ(of_line(line_ - 2 >= 3), std::vector<int64_t>{5});
    EXPECT_EQ(of_line(line_ - 2 - 4 < 3), std::vector<int64_t>{9});
    const Scalar both = select(element_ >= 24 * kLength, element_ % 3, element_ % 2);
    EXPECT_EQ(of_line(select(element_ >= 6 * kLength, both, line_)), (std::vector<int64_t>{6, 24}));
    const std::vector<IndexRange> parts = split({0, kLines - 1}, {0, 6, 24, kLines});
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[1].first, 6);
    EXPECT_EQ(parts[1].last, 23);
    EXPECT_EQ(parts[2].last, kLines - 1);
}

TEST_F(Line, KeepsTheValueOfEveryExpression) {
    std::mt19937 random(1);
    const auto pick = [&](int most) {
        return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    for (int turn = 0; turn < 2000; ++turn) {
        std::vector<Scalar> made{element_, arena_.index(pick(9))};
        for (int i = 0; i < 8; ++i) {
            const Scalar a = made[static_cast<size_t>(pick(static_cast<int>(made.size())))];
            const Scalar b = made[static_cast<size_t>(pick(static_cast<int>(made.size())))];
            constexpr int kDivisors[] = {2, 3, 6, 12, 24, 36, 60, 7};
            const Scalar number = arena_.index(kDivisors[pick(8)]);
            switch (pick(10)) {
                case 8:
                    made.push_back(a / number * number + a % number);
                    break;
                case 9:
                    made.push_back(a * number + b);
                    break;
                case 0:
                    made.push_back(a + b);
                    break;
                case 1:
                    made.push_back(a - number);
                    break;
                case 2:
                    made.push_back(a % number * number + b % number);
                    break;
                case 3:
                    made.push_back(min(a, b));
                    break;
                case 4:
                    made.push_back(max(a, number));
                    break;
                case 5:
                    made.push_back(a / number);
                    break;
                default:
                    made.push_back(a % number);
            }
        }
        const IndexRange places{pick(5), 5 + pick(7)};
        const Scalar last = made.back(), bound = arena_.index(12 * pick(60) - 60 + pick(2));
        const Scalar before = std::array{last, last >= bound, last < bound}[turn % 3];
        const Scalar after = known(places).simplified(before);
        for (int64_t line = 0; line < kLines; line += 7)
            for (int64_t place = places.first; place <= places.last; ++place)
                ASSERT_EQ(value(after, line, place), value(before, line, place))
                    << "expression " << turn << ", line " << line << ", place " << place;
    }
}

TEST_F(Line, WritesShortSumsOut) {
    const Scalar counter = arena_.symbol(ScalarType::kI32);
    const Scalar term = arena_.load(3, element_ % kLength + counter, ScalarType::kF32);
    const Scalar sum = arena_.loop(ScalarOp::kLoopSum, counter, arena_.index(2), term);
    const Scalar zero = arena_.constant(0, ScalarType::kF32);
    const Scalar first = arena_.load(3, place_, ScalarType::kF32);
    const Scalar second = arena_.load(3, place_ + 1, ScalarType::kF32);
    EXPECT_EQ(known().simplified(sum).id, (zero + first + second).id);
}

// The counter of such a sum is gone, also where something is loaded at the counter itself
// (scatter_nd on CPUs).
TEST_F(Line, WritesShortSumsOfWhatIsLoadedAtTheirCounterOut) {
    const Scalar counter = arena_.symbol(ScalarType::kI32);
    const Scalar term = arena_.load(3, counter, ScalarType::kF32);
    const Scalar sum = arena_.loop(ScalarOp::kLoopSum, counter, arena_.index(2), term);
    const Scalar zero = arena_.constant(0, ScalarType::kF32);
    const Scalar first = arena_.load(3, arena_.index(0), ScalarType::kF32);
    const Scalar second = arena_.load(3, arena_.index(1), ScalarType::kF32);
    EXPECT_EQ(known().simplified(sum).id, (zero + first + second).id);
}

}  // namespace
}  // namespace hearth
