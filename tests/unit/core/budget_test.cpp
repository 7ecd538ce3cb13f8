// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/budget.hpp"

#include <gtest/gtest.h>

namespace hearth {
namespace {

using Of = Budget::Of;

TEST(Budget, GrowsWithTheFileAndHasAFloor) {
    const Budget none(0), small(1 << 10), large(1 << 30);
    for (size_t i = 0; i < Budget::kKinds; ++i) {
        const auto of = static_cast<Of>(i);
        EXPECT_GT(none.limit(of), 1000u);
        EXPECT_GE(small.limit(of), none.limit(of));
        EXPECT_GT(large.limit(of), 2 * small.limit(of));
    }
}

TEST(Budget, EndsWhereItSaysAndStaysThere) {
    Budget budget(100);
    const uint64_t limit = budget.limit(Of::kTurns);
    EXPECT_TRUE(budget.allows(Of::kTurns, limit));
    EXPECT_FALSE(budget.allows(Of::kTurns, limit + 1));
    EXPECT_TRUE(budget.spend(Of::kTurns, limit - 1).ok());
    EXPECT_TRUE(budget.spend(Of::kTurns).ok());
    const Status s = budget.spend(Of::kTurns);
    EXPECT_EQ(s.code(), StatusCode::kOutOfRange);
    EXPECT_NE(s.message().find("more than " + std::to_string(limit) + " turns of loops"),
              std::string::npos)
        << s.message();
    EXPECT_NE(s.message().find("100 bytes"), std::string::npos) << s.message();
    EXPECT_FALSE(budget.spend(Of::kTurns).ok());
    EXPECT_TRUE(budget.spend(Of::kVisits).ok()) << "each kind has its own";
}

TEST(Budget, AFailedRequestTakesWhatWasLeft) {
    Budget budget(0);
    EXPECT_FALSE(budget.spend(Of::kCopiedBytes, ~uint64_t{0}).ok());
    EXPECT_FALSE(budget.spend(Of::kCopiedBytes, 1).ok());
}

TEST(Budget, OtherFilesAddToIt) {
    Budget budget(10);
    ASSERT_TRUE(budget.spend(Of::kCopiedBytes, budget.limit(Of::kCopiedBytes)).ok());
    budget.add_file_bytes(100);
    EXPECT_EQ(budget.limit(Of::kCopiedBytes), Budget(110).limit(Of::kCopiedBytes));
    EXPECT_TRUE(budget.spend(Of::kCopiedBytes, 1600).ok());
    EXPECT_FALSE(budget.spend(Of::kCopiedBytes, 1).ok());
    budget.add_file_bytes(~uint64_t{0});
    budget.add_file_bytes(~uint64_t{0});
    EXPECT_TRUE(budget.allows(Of::kCopiedBytes, uint64_t{1} << 62));
}

TEST(Budget, AFactorScalesIt) {
    EXPECT_EQ(Budget(64, 10).limit(Of::kTurns), 10 * Budget(64).limit(Of::kTurns));
    EXPECT_FALSE(Budget(64, 0).allows(Of::kTurns, 1));
    EXPECT_EQ(Budget(64, 1e300).limit(Of::kTurns), ~uint64_t{0});
}

}  // namespace
}  // namespace hearth
