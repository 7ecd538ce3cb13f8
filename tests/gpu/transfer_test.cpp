// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu/rig.hpp"

namespace hearth::test {
namespace {

using Transfer = RuntimeTest;

TEST_F(Transfer, UploadsReplacePartsOfASlot) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> values = {100.0f, 200.0f};
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session
                        .record_update_variable(commands, kStateVariable,
                                                std::as_bytes(std::span(values)), 12)
                        .ok());
        // Within the same command buffer, without a barrier of the host's.
        ASSERT_TRUE(rig->session
                        .record_update_variable(commands, kStateVariable,
                                                std::as_bytes(std::span(values)).first(4), 16)
                        .ok());
    });
    reference.state[3] = 100.0f;
    reference.state[4] = 100.0f;
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), reference.act(x));
}

TEST_F(Transfer, AReadbackArrivesWithItsSerialAndNotBeforeItCompleted) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    hearth_readback id = 0;
    rig->frame([&](VkCommandBuffer commands) {
        id = rig->session.record_readback(commands, kStateVariable).value();
    });
    const uint64_t serial = rig->serial();
    EXPECT_FALSE(rig->session.poll(id).value().has_value());
    rig->begin(serial + 1, serial - 1);
    EXPECT_FALSE(rig->session.poll(id).value().has_value());
    rig->begin(serial + 1, serial);
    const auto data = rig->session.poll(id);
    ASSERT_TRUE(data.ok() && data.value().has_value());
    EXPECT_EQ(data.value()->frame_number, serial);
    EXPECT_EQ(data.value()->bytes.size(), kWidth * 4u);
    rig->session.release(id);
    EXPECT_EQ(rig->session.poll(id).status().code(), StatusCode::kNotFound);
}

TEST_F(Transfer, PartsOfOneReadbackLieOneAfterTheOther) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(2 * kWidth, 1);
    const float rate = 0.5f;
    rig->set_x(x);
    const std::vector<float> y = reference.learn(x, rate);
    const hearth_sync_scope written =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
    // Single numbers of two slots and of an output, and more of them than go into one copy command.
    std::vector<hearth_readback_region> parts = {
        hearth_readback_of_variable(kStateVariable, 4 * 5, 4),
        hearth_readback_of_buffer(rig->y().handle(), 4 * 100, 8, written),
        hearth_readback_of_variable(kZeroVariable, 4 * 15, 0)};
    std::vector<float> expected = {reference.state[5], y[100], y[101], 0};
    for (uint64_t i = 0; i < 40; ++i) {
        parts.push_back(hearth_readback_of_variable(kStateVariable, 4 * (90 - i), 4));
        expected.push_back(reference.state[90 - i]);
    }
    hearth_readback id = 0;
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        ASSERT_TRUE(rig->session.record(rig->learn_info(commands, 2, rate, bounds)).ok());
        const auto recorded = rig->session.record_readback(commands, parts);
        ASSERT_TRUE(recorded.ok()) << recorded.status().message();
        id = *recorded;
        EXPECT_EQ(rig->session.status().readbacks_in_flight, 1u);
    });
    rig->advance();
    const auto data = rig->session.poll(id);
    ASSERT_TRUE(data.ok() && data.value().has_value());
    const std::span<const float> found = data.value()->as<float>();
    EXPECT_EQ(std::vector<float>(found.begin(), found.end()), expected);
}

TEST_F(Transfer, AWrongPartOfAReadbackIsNamedAndNothingIsRecorded) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        const auto refused = [&](hearth_readback_region second) {
            const hearth_readback_region parts[] = {
                hearth_readback_of_variable(kStateVariable, 0, 0), second};
            EXPECT_FALSE(rig->session.record_readback(commands, parts).ok());
            return std::string(rig->session.error());
        };
        EXPECT_EQ(refused(hearth_readback_of_variable(7, 0, 0)),
                  "readback, region 1: variable is 7, expected less than 2");
        EXPECT_EQ(refused(hearth_readback_of_variable(kStateVariable, 380, 8)),
                  "readback, region 1 of state: [380, +8) exceeds its 384 bytes");
        EXPECT_EQ(refused(hearth_readback_of_variable(kStateVariable, 384, 0)),
                  "readback, region 1: byte_count is 0, expected 1 or more");
        EXPECT_EQ(refused(hearth_readback_of_buffer(rig->y().handle(), 0, 0, {})),
                  "readback, region 1: byte_count is 0, expected 1 or more");
        EXPECT_EQ(refused(hearth_readback_of_buffer(rig->y().handle(), 0, UINT64_MAX, {})),
                  "readback: the regions together exceed 2^64 bytes");
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = commands;
        info.region_count = 2;
        hearth_readback id = 0;
        EXPECT_EQ(hearth_record_readback(rig->session.handle(), &info, &id),
                  HEARTH_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(rig->session.error(), "readback: region_count is 2, but regions is null");
        EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
    });
}

TEST_F(Transfer, ReadbacksMayBeCancelledAtAnyPoint) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.readback_count = 4;
        info.readback_bytes = 4 * 512;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    std::vector<hearth_readback> live;
    uint32_t refused = 0, arrived = 0;
    for (uint64_t i = 0; i < 200; ++i) {
        const uint64_t random = Hash().number(i).value();
        rig->frame([&](VkCommandBuffer commands) {
            for (uint64_t k = 0; k <= random % 3; ++k) {
                const auto id = rig->session.record_readback(commands, kStateVariable);
                if (id.ok()) {
                    live.push_back(id.value());
                } else {
                    ++refused;
                    EXPECT_EQ(id.status().code(), StatusCode::kOutOfRange);
                }
            }
            // One that has not even been submitted.
            if (random % 5 == 0 && !live.empty()) {
                rig->session.release(live.back());
                live.pop_back();
            }
        });
        if (random % 2 == 0) rig->advance();
        while (!live.empty() && (random >> 8) % 3 != 0) {
            const auto data = rig->session.poll(live.front());
            ASSERT_TRUE(data.ok()) << data.status().message();
            if (!data.value().has_value()) break;
            ++arrived;
            const std::span<const float> values = data.value()->as<float>();
            EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
                      TestReference::initial_state());
            rig->session.release(live.front());
            live.erase(live.begin());
        }
    }
    EXPECT_GT(arrived, 20u);
    EXPECT_GT(refused, 20u);
    for (const hearth_readback id : live) rig->session.release(id);
    EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
}

TEST_F(Transfer, TheInitialWeightsAreFreedOnceTheyArrived) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) { info.upload_bytes = 0; };
    options.set_up = false;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    const auto staged = [&] { return rig->context.stats().device_bytes[HEARTH_MEMORY_STAGING]; };
    EXPECT_GT(staged(), 0u);
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
    });
    // The copy may still be running in the frames to come.
    rig->frame([&](VkCommandBuffer) { EXPECT_GT(staged(), 0u); });
    rig->advance();
    rig->frame([&](VkCommandBuffer commands) {
        EXPECT_EQ(staged(), 0u);
        EXPECT_EQ(hearth_record_initialize(rig->session.handle(), commands),
                  HEARTH_ERROR_INVALID_STATE);
    });
}

TEST_F(Transfer, SetupRecordedAgainResetsASessionThatKeepsItsInitialWeights) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    (void)rig->learn(test_values(kWidth, 1), 0.5f);
    EXPECT_NE(rig->read_slot(kStateVariable), TestReference::initial_state());
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
    });
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
}

TEST_F(Transfer, SlotsAreCopiedBetweenSessionsOfOneProgram) {
    const auto rig = make_rig(), other = make_rig();
    ASSERT_TRUE(rig && other);
    auto made = Session::create(rig->context, rig->program);
    ASSERT_TRUE(made.ok());
    Session second = std::move(made).value();
    TestReference reference;
    const std::vector<float> x = test_values(3 * kWidth, 1);
    EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));

    uint32_t written[8] = {}, count = 8;
    hearth_program* const program = rig->program.handle();
    ASSERT_EQ(hearth_program_get_mutated_variables(program, kLearn, written, &count), HEARTH_OK);
    EXPECT_TRUE(std::find(written, written + count, kStateVariable) != written + count);
    EXPECT_TRUE(std::is_sorted(written, written + count));
    uint32_t none = 8, too_few = 0;
    ASSERT_EQ(hearth_program_get_mutated_variables(program, kAct, written + 4, &none), HEARTH_OK);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(hearth_program_get_mutated_variables(program, kLearn, written, &too_few),
              HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_EQ(too_few, count);

    hearth_session *const to = second.handle(), *const from = rig->session.handle();
    hearth_readback id = 0;
    rig->frame([&](VkCommandBuffer commands) {
        EXPECT_EQ(hearth_record_copy_variables(to, from, commands, written, count),
                  HEARTH_ERROR_INVALID_STATE);
        ASSERT_TRUE(second.record_initialize(commands).ok());
        EXPECT_EQ(hearth_record_copy_variables(to, to, commands, written, count),
                  HEARTH_ERROR_INCOMPATIBLE);
        EXPECT_EQ(
            hearth_record_copy_variables(to, other->session.handle(), commands, written, count),
            HEARTH_ERROR_INCOMPATIBLE);
        const uint32_t beyond = 99;
        EXPECT_EQ(hearth_record_copy_variables(to, from, commands, &beyond, 1),
                  HEARTH_ERROR_NOT_FOUND);
        EXPECT_EQ(second.error(), "copy_variables: variable is 99, expected less than 2");
        ASSERT_EQ(hearth_record_copy_variables(to, from, commands, written, count), HEARTH_OK);
        id = second.record_readback(commands, kStateVariable).value();
    });
    rig->advance();
    const void* data = nullptr;
    uint64_t bytes = 0, serial = 0;
    ASSERT_EQ(hearth_readback_poll(to, id, &data, &bytes, &serial), HEARTH_OK);
    ASSERT_EQ(bytes, reference.state.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(data, reference.state.data(), bytes), 0);
}

TEST_F(Transfer, RingsAreSizedForTheProgramUnlessTheHostSaysOtherwise) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const auto ring_bytes = [&](uint64_t upload_bytes, uint64_t readback_bytes) {
        hearth_session_create_info info = hearth_session_create_info_default();
        info.upload_bytes = upload_bytes;
        info.readback_bytes = readback_bytes;
        const auto needs = Session::get_memory_requirements(rig->context, rig->program, info);
        EXPECT_TRUE(needs.ok());
        return needs->bytes[HEARTH_MEMORY_READBACK] + needs->bytes[HEARTH_MEMORY_STAGING];
    };
    // Small bindings and a state of 384 bytes, twice, and 16 KiB each.
    const uint64_t automatic = ring_bytes(HEARTH_SIZE_AUTO, HEARTH_SIZE_AUTO);
    EXPECT_GE(automatic, uint64_t{2} << 14);
    EXPECT_LT(automatic, uint64_t{128} << 10);
    EXPECT_GT(ring_bytes(1 << 20, 1 << 20), uint64_t{2} << 20);
    // They are enough for a brain and a snapshot in each of two frames.
    const uint64_t brain = rig->program.brain_size();
    EXPECT_GE(automatic, 4 * brain);
}

TEST_F(Transfer, TheQueriedMemoryIsWhatASessionTakes) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    hearth_session_create_info info = hearth_session_create_info_default();
    info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    const auto needs = Session::get_memory_requirements(rig->context, rig->program, info);
    ASSERT_TRUE(needs.ok());
    const hearth_context_stats before = rig->context.stats();
    const auto session = Session::create(rig->context, rig->program, info);
    ASSERT_TRUE(session.ok());
    const hearth_context_stats after = rig->context.stats();
    EXPECT_EQ(after.device_bytes_total - before.device_bytes_total, needs.value().total_bytes);
    for (uint32_t i = 0; i < HEARTH_MEMORY_USAGE_COUNT; ++i)
        EXPECT_EQ(after.device_bytes[i] - before.device_bytes[i], needs.value().bytes[i]) << i;
}

}  // namespace
}  // namespace hearth::test
