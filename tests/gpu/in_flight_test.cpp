// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Several frames in flight: nothing is freed, overwritten or handed out while the GPU may still use
// it.  The GPU is held where it matters, so that this does not depend on who is faster.

#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

#include <hearth/brain.hpp>

namespace hearth::test {
namespace {

using InFlight = RuntimeTest;

/// Slot `state` with other values.
std::vector<float> other_state(float value) {
    return std::vector<float>(kWidth, value);
}

TEST_F(InFlight, TheInitialWeightsLiveUntilTheirCopyHasCompleted) {
    RigOptions options;
    options.set_up = false;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    rig->hold();
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
    });
    // Each begins with a begin_frame that has nothing to free yet; freed memory would be in use,
    // which the validation layers report, and would not arrive.
    rig->frame([](VkCommandBuffer) {});
    rig->frame([](VkCommandBuffer) {});
    rig->let_go();
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
}

TEST_F(InFlight, ADestroyedSessionLivesUntilItsFramesHaveCompleted) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kWidth, 5);
    rig->set_x(x);
    rig->hold();
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        ASSERT_TRUE(rig->session.record(rig->act_info(commands, 1, bounds)).ok());
    });
    rig->session = Session();
    rig->program = LoadedProgram();
    rig->frame([](VkCommandBuffer) {});
    EXPECT_GT(rig->context.stats().device_bytes_total, 0u);
    rig->let_go();
    EXPECT_EQ(rig->get_y(1), TestReference().act(x));
    rig->advance();
    EXPECT_EQ(rig->context.stats().device_bytes_total, 0u);
}

TEST_F(InFlight, RingsHandOutNothingThatTheGpuHasNotReadYet) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.recordings_in_flight = 3;
        info.upload_bytes = 2 * 512;  // two uploads of a slot
        info.readback_bytes = 2 * 512;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    rig->advance();
    TestReference reference;
    hearth_session* const session = rig->session.handle();
    const std::vector<float> x = test_values(4 * kWidth, 1);
    rig->set_x(x);
    std::vector<std::vector<float>> states;
    std::vector<hearth_readback> reads;
    rig->hold();
    // Two frames fill the rings: an upload, two steps with rates of their own, a readback each.
    for (uint32_t i = 0; i < 2; ++i)
        rig->frame([&](VkCommandBuffer commands) {
            reference.state = other_state(static_cast<float>(i + 1));
            EXPECT_TRUE(rig->session
                            .record_update_variable(commands, kStateVariable,
                                                    std::as_bytes(std::span(reference.state)))
                            .ok())
                << rig->session.error();
            const float rate = 0.25f * static_cast<float>(i + 1);
            std::array<hearth_tensor_binding, 3> bounds;
            const hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
            EXPECT_TRUE(rig->session.record(info).ok()) << rig->session.error();
            (void)reference.learn(x, rate);
            states.push_back(reference.state);
            const auto read = rig->session.record_readback(commands, kStateVariable);
            ASSERT_TRUE(read.ok()) << read.status().message();
            reads.push_back(read.value());
        });
    rig->frame([&](VkCommandBuffer commands) {
        const std::vector<float> more = other_state(99);
        EXPECT_EQ(hearth_record_update_variable(session, commands, kStateVariable, 0, more.data(),
                                                kWidth * 4),
                  HEARTH_ERROR_TOO_MANY_IN_FLIGHT);
        EXPECT_FALSE(rig->session.record_readback(commands, kStateVariable).ok());
        const float rate = 0.125f;
        std::array<hearth_tensor_binding, 3> bounds;
        const hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        EXPECT_EQ(hearth_record(session, &info, nullptr), HEARTH_OK);
        (void)reference.learn(x, rate);
        EXPECT_EQ(hearth_record(session, &info, nullptr), HEARTH_ERROR_TOO_MANY_IN_FLIGHT);
        for (const hearth_readback read : reads)
            EXPECT_FALSE(rig->session.poll(read).value().has_value());
    });
    rig->let_go();
    rig->advance();
    for (size_t i = 0; i < reads.size(); ++i) {
        const auto data = rig->session.poll(reads[i]);
        ASSERT_TRUE(data.ok() && data.value().has_value());
        const std::span<const float> values = data.value()->as<float>();
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()), states[i]) << i;
        rig->session.release(reads[i]);
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(InFlight, BrainsAndWhatIsForgottenStayStagedUntilTheyHaveArrived) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const BindingModel model = binding_model(device());
    Brain brain =
        *initial_brain(save_program(TestProgramBuilder(test_shaders(model), model).build()));
    const auto brain_of = [&](float value) {
        HostTensor state(DType::kF32, {kWidth});
        for (int64_t i = 0; i < state.element_count(); ++i) state.set(i, value);
        brain.find("state")->value = state;
        return *save_brain(brain);
    };
    const std::vector<std::byte> first = brain_of(5), second = brain_of(7);
    std::vector<hearth_readback> snapshots;
    rig->hold();
    for (const auto* bytes : {&first, &second, static_cast<const std::vector<std::byte>*>(nullptr)})
        rig->frame([&](VkCommandBuffer commands) {
            if (bytes != nullptr) {
                const Status loaded = rig->session.record_load_brain(commands, *bytes);
                EXPECT_TRUE(loaded.ok()) << loaded.message();
            } else {
                EXPECT_EQ(rig->session.record_reset_variables(commands, "state").value(), 1u);
            }
            const auto snapshot = rig->session.record_save_brain(commands);
            ASSERT_TRUE(snapshot.ok() && snapshot.value().has_value());
            snapshots.push_back(*snapshot.value());
        });
    rig->let_go();
    rig->advance();
    const std::vector<std::vector<float>> expected = {other_state(5), other_state(7),
                                                      TestReference::initial_state()};
    for (size_t i = 0; i < snapshots.size(); ++i) {
        const auto data = rig->session.poll(snapshots[i]);
        ASSERT_TRUE(data.ok() && data.value().has_value());
        const std::span<const float> values = data.value()->as<float>().first(kWidth);
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()), expected[i]) << i;
        rig->session.release(snapshots[i]);
    }
}

// A game that sees a changed file loads it beside the old program, goes on with what that learned,
// and destroys it, while frames of both are in flight.
TEST_F(InFlight, AProgramIsReloadedAndKeepsWhatWasLearnedWhileFramesAreInFlight) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(kWidth, 5);
    const auto learn = [&](Session& session, VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        const float rate = 0.125f;
        const hearth_record_info info = rig->learn_info(commands, 1, rate, bounds);
        ASSERT_TRUE(session.record(info).ok()) << session.error();
        (void)reference.learn(x, rate);
    };
    rig->set_x(x);
    rig->frame([&](VkCommandBuffer commands) { learn(rig->session, commands); });

    // What was learned leaves the old program with the last frame that learns by it.
    hearth_readback saved = 0;
    rig->hold();
    rig->frame([&](VkCommandBuffer commands) {
        learn(rig->session, commands);
        const auto snapshot = rig->session.record_save_brain(commands);
        ASSERT_TRUE(snapshot.ok() && snapshot.value().has_value());
        saved = *snapshot.value();
    });
    // The changed file has other initial values; loading it waits for nothing.
    const BindingModel model = binding_model(device());
    Program changed = TestProgramBuilder(test_shaders(model), model).build();
    std::fill(changed.data.begin(), changed.data.end(), std::byte{0});
    auto program = LoadedProgram::load(rig->context, save_program(changed));
    ASSERT_TRUE(program.ok()) << program.status().message();
    auto session = Session::create(rig->context, *program);
    ASSERT_TRUE(session.ok() && session->create_pipelines().ok());
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(session->record_initialize(commands).ok());
        std::array<hearth_tensor_binding, 2> bounds;
        ASSERT_TRUE(rig->session.record(rig->act_info(commands, 1, bounds)).ok());
    });
    EXPECT_FALSE(rig->session.poll(saved).value().has_value()) << "the GPU was not held";
    rig->let_go();
    EXPECT_EQ(rig->get_y(1), reference.act(x));
    rig->advance();

    const auto snapshot = rig->session.poll(saved);
    ASSERT_TRUE(snapshot.ok() && snapshot.value().has_value());
    const auto brain = rig->program.serialize_brain(snapshot.value()->bytes);
    ASSERT_TRUE(brain.ok()) << brain.status().message();
    rig->session.release(saved);

    // The old one goes in the frame in which the new one takes over.
    rig->hold();
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        ASSERT_TRUE(rig->session.record(rig->act_info(commands, 1, bounds)).ok());
        const Status loaded = session->record_load_brain(commands, *brain);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
    });
    std::swap(rig->session, *session);
    std::swap(rig->program, *program);
    session = Session();
    program = LoadedProgram();
    rig->frame([&](VkCommandBuffer commands) { learn(rig->session, commands); });
    rig->let_go();
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(InFlight, ThreeHundredFramesThatNobodyWaitsForLearnWhatTheReferenceLearns) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    std::vector<std::pair<hearth_readback, std::vector<float>>> reads;
    uint32_t arrived = 0;
    for (uint64_t i = 0; i < 300; ++i) {
        const uint64_t rows = 1 + i % kRowsCapacity;
        const std::vector<float> x = test_values(rows * kWidth, i);
        const float rate = i % 2 == 0 ? 0.125f : 0.0625f;
        rig->set_x(x);
        rig->frame([&](VkCommandBuffer commands) {
            while (!reads.empty()) {
                const auto data = rig->session.poll(reads.front().first);
                ASSERT_TRUE(data.ok()) << data.status().message();
                if (!data.value().has_value()) break;
                const std::span<const float> values = data.value()->as<float>();
                EXPECT_EQ(std::vector<float>(values.begin(), values.end()), reads.front().second)
                    << i;
                rig->session.release(reads.front().first);
                reads.erase(reads.begin());
                ++arrived;
            }
            std::array<hearth_tensor_binding, 3> bounds;
            const hearth_record_info info = rig->learn_info(commands, rows, rate, bounds);
            ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
            (void)reference.learn(x, rate);
            const auto read = rig->session.record_readback(commands, kStateVariable);
            ASSERT_TRUE(read.ok()) << read.status().message();
            reads.emplace_back(read.value(), reference.state);
        });
    }
    EXPECT_GT(arrived, 290u);
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(InFlight, ATimelineSemaphoreIsTheClock) {
    if ((device().enabled_features() & HEARTH_FEATURE_TIMELINE_SEMAPHORE) == 0)
        GTEST_SKIP() << "timelineSemaphore is not enabled";
    const VkSemaphore semaphore = create_timeline_semaphore(device());
    ASSERT_NE(semaphore, VkSemaphore{VK_NULL_HANDLE});
    {
        RigOptions options;
        options.host = [&](hearth_context_create_info& info) {
            info.timeline_semaphore = semaphore;
            // The semaphore says it: an engine need not know what its device was created with.
            info.features &= ~HEARTH_FEATURE_TIMELINE_SEMAPHORE;
        };
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        const auto signal = [&](uint64_t value) {  // as a submission of its frame would
            VkTimelineSemaphoreSubmitInfo values{};
            values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
            values.signalSemaphoreValueCount = 1;
            values.pSignalSemaphoreValues = &value;
            VkSubmitInfo submit{};
            submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
            submit.pNext = &values;
            submit.signalSemaphoreCount = 1;
            submit.pSignalSemaphores = &semaphore;
            ASSERT_EQ(vk().QueueSubmit(device().queue(), 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
            ASSERT_EQ(vk().QueueWaitIdle(device().queue()), VK_SUCCESS);
        };
        hearth_readback id = 0;
        rig->frame([&](VkCommandBuffer commands) {
            id = rig->session.record_readback(commands, kStateVariable).value();
        });
        const uint64_t serial = rig->serial();
        hearth_context* const context = rig->context.handle();
        EXPECT_EQ(hearth_begin_frame(context, serial + 1, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_OK);
        EXPECT_FALSE(rig->session.poll(id).value().has_value());
        signal(serial);
        EXPECT_EQ(hearth_begin_frame(context, serial + 1, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_OK);
        EXPECT_TRUE(rig->session.poll(id).value().has_value());
        rig->session.release(id);
        // A semaphore ahead of the frame to come is not the frames' clock.
        signal(serial + 5);
        EXPECT_EQ(hearth_begin_frame(context, serial + 2, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_ERROR_INVALID_ARGUMENT);
    }
    vk().DestroySemaphore(device().handle(), semaphore, nullptr);
}

TEST_F(InFlight, WithoutASemaphoreTheClockIsTheHosts) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    EXPECT_EQ(hearth_begin_frame(rig->context.handle(), 50, HEARTH_COMPLETED_FROM_TIMELINE),
              HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(rig->context.error(),
              "begin_frame: HEARTH_COMPLETED_FROM_TIMELINE needs "
              "hearth_context_create_info::timeline_semaphore, which was not given");
}

}  // namespace
}  // namespace hearth::test
