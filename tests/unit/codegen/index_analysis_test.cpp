// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What is known of an index while the element moves: the condition for loads of four at once.

#include "compiler/codegen/shared/index_analysis.hpp"

#include "compiler/ir/scalar_operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth {
namespace {

class Index : public testing::Test {
  protected:
    static constexpr int64_t kWidth = 4;

    Scalar number(int64_t value) { return arena.index(value); }
    Scalar loaded(uint32_t buffer, Scalar at) { return arena.load(buffer, at, ScalarType::kF32); }

    ScalarArena arena;
    Scalar element = arena.symbol(ScalarType::kI32), first = arena.symbol(ScalarType::kI32);
    Scalar other = arena.symbol(ScalarType::kI32);
    IndexAnalysis index{arena, element, first, kWidth};
};

TEST_F(Index, MovesByOneWithTheElementAndByNothingWithoutIt) {
    EXPECT_EQ(index.step(element), 1);
    EXPECT_EQ(index.step(element + 5), 1);
    EXPECT_EQ(index.step(element - other), 1);
    EXPECT_EQ(index.step(other * 3), 0);
    EXPECT_EQ(index.step(number(7)), 0);
}

TEST_F(Index, ThatMovesOtherwiseIsNotKnown) {
    EXPECT_EQ(index.step(number(5) - element), std::nullopt);
    EXPECT_EQ(index.step(element * 2), std::nullopt);
    EXPECT_EQ(index.step(element + element), std::nullopt);
    EXPECT_EQ(index.step(min(element, 9)), std::nullopt);
}

TEST_F(Index, IsDividedByMultiplesOfTheWidthAlone) {
    EXPECT_EQ(index.step(element / 8), 0);
    EXPECT_EQ(index.step(element % 8), 1);
    EXPECT_EQ(index.step(element / 6), std::nullopt);
    EXPECT_EQ(index.step(element % 6), std::nullopt);
    EXPECT_EQ(index.step((element + 2) % 8), std::nullopt) << "a vector would wrap inside";
    EXPECT_EQ(index.step(element / other), std::nullopt);
}

/// What step() says is so for each vector of four elements.
TEST_F(Index, StepsAreThoseOfTheNumbers) {
    const auto value = [](auto&& self, Scalar x, Scalar of, int64_t at) -> int64_t {
        if (x.id == of.id) return at;
        const ScalarNode node = x.node();
        if (node.op == ScalarOp::kConst) return static_cast<int64_t>(x.const_value());
        const auto operand = [&](uint32_t id) {
            return static_cast<uint32_t>(self(self, {x.arena, id}, of, at));
        };
        return static_cast<int32_t>(
            scalar_operation(node.op, ScalarType::kI32, {operand(node.a), operand(node.b), 0}));
    };
    int known = 0;
    for (const double c : {1, 4, 6, 8, 12})
        for (const Scalar x : {element + c, element / c, element % c, (element + 4) % c,
                               element / c * 12 + element % c}) {
            const std::optional<int> step = index.step(x);
            if (!step) continue;
            ++known;
            for (int64_t start = 0; start < 96; start += kWidth)
                for (int64_t i = 1; i < kWidth; ++i)
                    EXPECT_EQ(value(value, x, element, start + i),
                              value(value, x, element, start) + *step * i);
        }
    EXPECT_GE(known, 12);
}

TEST_F(Index, IsAlignedIfAllItsTermsAre) {
    EXPECT_TRUE(index.is_aligned(element));
    EXPECT_TRUE(index.is_aligned(element + 8));
    EXPECT_TRUE(index.is_aligned(other * 4 + element));
    EXPECT_FALSE(index.is_aligned(element + 2));
    EXPECT_FALSE(index.is_aligned(element + other));
}

TEST_F(Index, AtTheFirstElementReadsThatInsteadOfTheElement) {
    EXPECT_EQ(index.at_first(element * 3 + other).id, (first * 3 + other).id);
    EXPECT_EQ(index.at_first(loaded(7, element + 1)).id, loaded(7, first + 1).id);
    EXPECT_EQ(index.at_first(other).id, other.id);
}

TEST_F(Index, KnowsWhichVariablesAreRead) {
    EXPECT_TRUE(index.is_of_element(element * 3 + 1));
    EXPECT_FALSE(index.is_of_element(element + other));
    const Scalar both[] = {element, other};
    EXPECT_TRUE(reads_only(arena, element + other, both));
}

TEST_F(Index, LoadsAreFoundWithinIndicesOfOthersToo) {
    const Scalar inner = loaded(1, element);
    const Scalar outer = loaded(2, arena.convert(inner, ScalarType::kI32));
    const Scalar expressions[] = {outer * 2, inner + 1};
    const std::vector<Scalar> loads = loads_in(arena, expressions);
    ASSERT_EQ(loads.size(), 2u);
    for (const Scalar load : {inner, outer})
        EXPECT_TRUE(std::ranges::any_of(loads, [&](Scalar l) { return l.id == load.id; }));
}

}  // namespace
}  // namespace hearth
