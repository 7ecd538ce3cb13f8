// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which kernels wait for which, and which of them may be one.

#include "compiler/fusion/levels.hpp"

#include "compiler/passes/pass.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

using Calls = std::vector<size_t>;

/// Three layers after each other, the last of which adds a sum that waits for nothing.
class ThreeLayersAndASum : public testing::Test {
  protected:
    void SetUp() override {
        Trace t("act");
        const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 8}), {16, 16, 4}, relu);
        t.output("y", y + sum(t.input("u", {100, 4}), {0}));
        graph = decompose(t.build().value()).value();
        plan = fuse(graph, {});
        for (const Group& group : plan.groups) {
            if (group.kind == GroupKind::kReduction) sum_at = groups.size();
            groups.push_back(&group);
        }
        ASSERT_EQ(groups.size(), 4u);
    }

    GroupLevels levels(bool sum_is_fixed) const {
        std::vector<bool> fixed(groups.size(), false);
        fixed[sum_at] = sum_is_fixed;
        return find_levels(graph, groups, plan.inlined, fixed);
    }

    Graph graph;
    FusionPlan plan;
    std::vector<const Group*> groups;
    size_t sum_at = 0;
};

TEST_F(ThreeLayersAndASum, LayersWaitForEachOther) {
    std::vector<uint32_t> depths;
    const GroupLevels found = levels(false);
    for (size_t c = 0; c < groups.size(); ++c)
        if (c != sum_at) depths.push_back(found.depth[c]);
    EXPECT_EQ(depths, (std::vector<uint32_t>{0, 1, 2}));
    EXPECT_EQ(std::ranges::count(found.is_followed, false), 1);
}

TEST_F(ThreeLayersAndASum, WhatWaitsForNothingRunsJustAheadOfItsReaderUnlessItIsFixed) {
    EXPECT_EQ(levels(false).depth[sum_at], 1u);
    EXPECT_EQ(levels(true).depth[sum_at], 0u);
}

TEST(FindBatches, JoinsCallsOfALevelAndTheEndsOfAllChains) {
    const GroupLevels levels{{0, 1, 1, 2, 0, 1}, {true, true, true, false, false, false}};
    const auto batches = find_batches(levels, {true, true, true, true, true, true});
    ASSERT_EQ(batches.size(), 3u);
    EXPECT_EQ(batches[0].calls, Calls{0});
    EXPECT_EQ(batches[1].calls, (Calls{1, 2}));
    EXPECT_EQ(batches[2].calls, (Calls{3, 4, 5})) << "which nothing waits for";
    EXPECT_EQ(batches[2].depth, 2u);
}

TEST(FindBatches, LeavesOutWhatCannotBeBatched) {
    const GroupLevels levels{{0, 0, 0}, {true, true, true}};
    const auto batches = find_batches(levels, {true, false, true});
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches[0].calls, (Calls{0, 2}));
}

}  // namespace
}  // namespace hearth::test
