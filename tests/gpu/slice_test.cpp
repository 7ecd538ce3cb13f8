// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu/rig.hpp"

namespace hearth::test {
namespace {

using Slice = RuntimeTest;

/// Records slices of `learn`, each in a frame of its own, until it is finished; how many there
/// were.
uint32_t learn_in_slices(Rig& rig, std::span<const float> x, float rate,
                         const std::function<void(hearth_record_info&)>& limit,
                         const std::function<void()>& between = {}) {
    rig.set_x(x);
    hearth_cursor cursor{};
    for (uint32_t slices = 1; slices < 100; ++slices) {
        Progress progress = Progress::kNotReady;
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_bound, 3> bounds;
            hearth_record_info info = rig.learn_info(commands, x.size() / kWidth, rate, bounds);
            limit(info);
            const Result<Progress> result = rig.session.record(info, &cursor);
            ASSERT_TRUE(result.ok()) << result.status().message();
            progress = result.value();
        });
        if (progress == Progress::kDone) {
            EXPECT_EQ(cursor.next_step, 0u);
            return slices;
        }
        if (progress != Progress::kIncomplete) break;
        if (between) between();
    }
    ADD_FAILURE() << "the slices do not end";
    return 0;
}

TEST_F(Slice, SlicedAtEachBarrierEqualsUnslicedBitForBit) {
    // Intervals of `learn` have 2, 2, 1, 1 and 1 steps.
    const uint32_t expected_slices[] = {5, 4, 3, 2, 2, 2, 1};
    for (uint32_t limit = 1; limit <= 7; ++limit) {
        const auto whole = make_rig(), sliced = make_rig();
        ASSERT_TRUE(whole && sliced);
        for (uint64_t i = 0; i < 3; ++i) {
            const std::vector<float> x = test_values(5 * kWidth, i);
            const std::vector<float> y = whole->learn(x, 0.3f);
            const uint32_t slices = learn_in_slices(
                *sliced, x, 0.3f, [&](hearth_record_info& info) { info.max_dispatches = limit; });
            EXPECT_EQ(slices, expected_slices[limit - 1]) << limit;
            EXPECT_EQ(sliced->get_y(5), y) << limit;
        }
        EXPECT_EQ(sliced->read_slot(kStateSlot), whole->read_slot(kStateSlot)) << limit;
    }
}

TEST_F(Slice, BytesAndFlopsLimitSlicesToo) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(2 * kWidth, 1);
    EXPECT_EQ(learn_in_slices(*rig, x, 0.5f,
                              [](hearth_record_info& info) { info.max_bytes_moved = 4096; }),
              5u);
    EXPECT_EQ(rig->get_y(2), reference.learn(x, 0.5f));
    EXPECT_EQ(
        learn_in_slices(*rig, x, 0.5f, [](hearth_record_info& info) { info.max_flops = 3000; }),
        2u);
    EXPECT_EQ(rig->get_y(2), reference.learn(x, 0.5f));
    EXPECT_EQ(rig->read_slot(kStateSlot), reference.state);
}

TEST_F(Slice, AnotherEntryMayRunBetweenTwoSlices) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const standalone::Buffer act_x = make_buffer(kWidth * 4, standalone::MemoryKind::kUpload);
    const standalone::Buffer act_y = make_buffer(kWidth * 4, standalone::MemoryKind::kReadback);
    const std::vector<float> x = test_values(4 * kWidth, 2), seen = test_values(kWidth, 3);
    std::copy(seen.begin(), seen.end(), act_x.as<float>().begin());
    const std::vector<float> old_state = reference.state;
    const std::vector<float> y = reference.learn(x, 0.5f);
    uint32_t between = 0;
    learn_in_slices(
        *rig, x, 0.5f, [](hearth_record_info& info) { info.max_dispatches = 1; },
        [&] {
            rig->frame([&](VkCommandBuffer commands) {
                std::array<hearth_bound, 2> bounds;
                const hearth_record_info info = rig->act_info(commands, 1, bounds);
                bounds = {rig->bind(kActX, act_x, kWidth * 4), rig->bind(kActY, act_y, kWidth * 4)};
                ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
            });
            // The state changes in the fourth slice.
            const std::vector<float>& state = ++between < 4 ? old_state : reference.state;
            rig->finish();
            for (uint32_t i = 0; i < kWidth; ++i)
                EXPECT_EQ(act_y.as<float>()[i], seen[i] + state[i]) << between;
        });
    EXPECT_EQ(between, 4u);
    EXPECT_EQ(rig->get_y(4), y);
    EXPECT_EQ(rig->read_slot(kStateSlot), reference.state);
}

TEST_F(Slice, AnAbandonedRunHarmsNothingAndItsCursorIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(4 * kWidth, 2);
    rig->set_x(x);
    const float rate = 0.5f;
    hearth_cursor cursor{};
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_bound, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        info.max_dispatches = 2;
        ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
    });
    TestReference reference;
    EXPECT_EQ(rig->learn(x, rate), reference.learn(x, rate));
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_bound, 3> bounds;
        const hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_ERROR_WRONG_ORDER);
        EXPECT_EQ(rig->session.error(),
                  "entry learn: it was started anew after the slice that the cursor continues");
    });
    EXPECT_EQ(rig->read_slot(kStateSlot), reference.state);
}

TEST_F(Slice, RowsAndBindingsMustNotChangeBetweenSlices) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    float rate = 0.5f;
    hearth_cursor cursor{};
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_bound, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        info.max_dispatches = 2;
        ASSERT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
    });
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_bound, 3> bounds;
        const auto try_with = [&](uint64_t rows) {
            const hearth_record_info info = rig->learn_info(commands, rows, rate, bounds);
            return hearth_record(rig->session.handle(), &info, &cursor);
        };
        EXPECT_EQ(try_with(3), HEARTH_ERROR_INVALID_ARGUMENT);
        rate = 0.25f;
        EXPECT_EQ(try_with(4), HEARTH_ERROR_INVALID_ARGUMENT);
        rate = 0.5f;
        EXPECT_EQ(try_with(4), HEARTH_OK);
    });
}

}  // namespace
}  // namespace hearth::test
