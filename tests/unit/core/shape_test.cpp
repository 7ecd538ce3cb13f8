// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/core/extents.hpp>
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

TEST(Shape, ExtentsAreBoundedOneByOneAndTogether) {
    const auto message_of = [](const Shape& shape) { return check_extents(shape).message(); };
    EXPECT_EQ(message_of({kMaxExtent}), "");
    EXPECT_EQ(message_of({0, kMaxExtent}), "");
    EXPECT_EQ(message_of({kBatch, 3, 5}), "");
    const std::string most = std::to_string(kMaxExtent + 1);
    EXPECT_EQ(message_of({kMaxExtent + 1}), "shape [" + most + "] is too large");
    EXPECT_EQ(message_of({2, kMaxExtent}),
              "shape [2, " + std::to_string(kMaxExtent) + "] is too large");
    EXPECT_EQ(message_of({2, -3}), "shape [2, -3] has a negative extent");
    EXPECT_EQ(message_of({kBatch, kBatch}),
              "shape [batch, batch] has more than one symbolic extent");
    // A row may be 65,536 times there.
    EXPECT_NE(message_of({Dim(kMaxExtent, true)}).find("is too large"), std::string::npos);
    EXPECT_EQ(message_of({Dim(kMaxExtent >> 16, true)}), "");
}

TEST(Shape, AxesCountFromBothEnds) {
    EXPECT_EQ(*normalize_axis(0, 2), 0);
    EXPECT_EQ(*normalize_axis(1, 2), 1);
    EXPECT_EQ(*normalize_axis(-1, 2), 1);
    EXPECT_EQ(*normalize_axis(-2, 2), 0);
    for (const int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN})
        EXPECT_EQ(normalize_axis(axis, 2).status().message(),
                  "axis " + std::to_string(axis) + " of a tensor of rank 2");
}

}  // namespace
}  // namespace hearth
