// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/types.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace hearth {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Shape, MoreElementsThanCanBeCountedAreTheLargestNumber) {
    constexpr int64_t kLarge = int64_t{1} << 62;
    EXPECT_EQ(Shape({kLarge, kLarge}).element_count(), Dim(kMost));
    EXPECT_EQ(Shape({kLarge, Dim(2, true)}).element_count(), Dim(kMost, true));
    EXPECT_EQ(Shape({kLarge, kLarge}).element_count(1), kMost);
    EXPECT_EQ(Shape({Dim(kLarge, true)}).element_count(2), kMost);
    EXPECT_EQ(Shape({kLarge, kLarge, 0}).element_count(), Dim(0));
    EXPECT_EQ(Shape({kLarge, 1}).element_count(), Dim(kLarge));
}

}  // namespace
}  // namespace hearth
