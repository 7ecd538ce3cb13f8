// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Frames whose command buffers are never submitted: what was lost is told, put back, and recorded
// again, and in the end nothing differs.

#include "gpu/rig.hpp"

#include <hearth/brain.hpp>

#include <cstdlib>

namespace hearth::test {
namespace {

class Dropped : public RuntimeTest {
  protected:
    static hearth_result record_act(Rig& rig, VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig.act_info(commands, 1, bounds);
        return hearth_record(rig.session.handle(), &info, nullptr);
    }
    std::vector<std::byte> brain_of(float value) {
        const BindingModel model = binding_model(device());
        Brain brain =
            *initial_brain(save_program(TestProgramBuilder(test_shaders(model), model).build()));
        HostTensor state(DType::kF32, {kWidth});
        for (int64_t i = 0; i < state.element_count(); ++i) state.set(i, value);
        brain.find("state")->value = state;
        return *save_brain(brain);
    }
};

TEST_F(Dropped, SetupIsDueAgainAndItsWeightsAreStillThere) {
    RigOptions options;
    options.set_up = false;
    options.session = [](hearth_session_create_info& info) { info.upload_bytes = 0; };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    EXPECT_EQ(
        rig->drop([&](VkCommandBuffer commands) {
            ASSERT_TRUE(rig->session.record_initialize(commands).ok());
            EXPECT_EQ(rig->session.status().is_initialized, 1u);
        }),
        "session test: the initialization is discarded; record hearth_record_initialize again");
    const hearth_session_status status = rig->session.status();
    EXPECT_EQ(status.is_initialized, 0u);
    EXPECT_EQ(status.discarded_initializations, 1u);
    EXPECT_EQ(status.discarded_frame, rig->serial());
    for (int i = 0; i < 5; ++i) rig->advance();
    EXPECT_GT(rig->context.stats().device_bytes[HEARTH_MEMORY_STAGING], 0u);
    rig->frame([&](VkCommandBuffer commands) {
        EXPECT_EQ(record_act(*rig, commands), HEARTH_ERROR_INVALID_STATE);
        EXPECT_EQ(rig->session.error(),
                  "record: call hearth_record_initialize again; the previous one was in a "
                  "discarded frame");
        EXPECT_EQ(hearth_record_reset_variables(rig->session.handle(), commands, nullptr, nullptr),
                  HEARTH_ERROR_INVALID_STATE);
        ASSERT_TRUE(rig->session.record_initialize(commands).ok()) << rig->session.error();
    });
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
    EXPECT_EQ(rig->context.stats().device_bytes[HEARTH_MEMORY_STAGING], 0u);
}

TEST_F(Dropped, ARepeatedSetupFallsBackToTheOneBefore) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
    const auto set_up = [&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
        ASSERT_TRUE(rig->session.record_initialize(commands).ok());
    };
    EXPECT_EQ(rig->drop(set_up),
              "session test: a repeated initialization is discarded; record "
              "hearth_record_initialize again if it is still needed");
    EXPECT_EQ(rig->session.status().is_initialized, 1u);
    EXPECT_EQ(rig->act(x), reference.act(x));  // what was learned is still there
    rig->frame(set_up);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Dropped, UploadsBrainsAndForgettingAreNamedAndCountedAndLeaveNoTrace) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) { info.upload_bytes = 2048; };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    rig->advance();
    const std::vector<std::byte> brain = brain_of(9);
    const std::vector<float> values(4, 5.0f);
    // The room is free at once: each round takes most of it.
    for (uint32_t round = 1; round <= 5; ++round) {
        EXPECT_EQ(rig->drop([&](VkCommandBuffer commands) {
            ASSERT_TRUE(rig->session
                            .record_update_variable(commands, kStateVariable,
                                                    std::as_bytes(std::span(values)), 16)
                            .ok())
                << rig->session.error();
            ASSERT_TRUE(rig->session.record_load_brain(commands, brain).ok())
                << rig->session.error();
            ASSERT_EQ(rig->session.record_reset_variables(commands, "state").value(), 1u);
            ASSERT_EQ(rig->session.record_reset_variables(commands, "zero").value(),
                      1u);  // stages nothing
        }),
                  "session test: an upload of 16 bytes to state is discarded; record it "
                  "again\nsession test: loading a brain is discarded; record "
                  "hearth_record_load_brain again\nsession test: a reset of variables is "
                  "discarded; record hearth_record_reset_variables again\nsession test: a reset of "
                  "variables is discarded; record hearth_record_reset_variables again");
        EXPECT_EQ(rig->session.status().discarded_uploads, 4 * round);
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_TRUE(rig->session.record_load_brain(commands, brain).ok()) << rig->session.error();
    });
    EXPECT_EQ(rig->read_slot(kStateVariable), std::vector<float>(kWidth, 9));
}

TEST_F(Dropped, ReadbacksAndSnapshotsSayThatTheyWillNeverArrive) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.readback_count = 3;
        info.readback_bytes = 1536;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    for (uint32_t round = 1; round <= 4; ++round) {
        hearth_readback read = 0, snapshot = 0, released = 0;
        EXPECT_EQ(rig->drop([&](VkCommandBuffer commands) {
            read = rig->session.record_readback(commands, kStateVariable).value();
            snapshot = rig->session.record_save_brain(commands).value().value();
            released = rig->session.record_readback(commands, kStateVariable).value();
            rig->session.release(released);
        }),
                  "session test: a readback of 384 bytes is discarded; record it again\nsession "
                  "test: a readback of 448 bytes is discarded; record it again");
        EXPECT_EQ(rig->session.status().discarded_readbacks, 3 * round);
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        for (const hearth_readback id : {read, snapshot}) {
            EXPECT_EQ(hearth_readback_poll(rig->session.handle(), id, &data, &bytes, &serial),
                      HEARTH_ERROR_DISCARDED);
            EXPECT_EQ(rig->session.error(), "readback: its frame, number " +
                                                std::to_string(rig->serial()) +
                                                ", was discarded; record it again");
        }
        // However long one waits.
        rig->advance();
        EXPECT_EQ(hearth_readback_poll(rig->session.handle(), read, &data, &bytes, &serial),
                  HEARTH_ERROR_DISCARDED);
        rig->session.release(read);
        rig->session.release(snapshot);
        EXPECT_EQ(rig->session.status().readbacks_in_flight, 0u);
        EXPECT_EQ(rig->read_slot(kStateVariable), TestReference::initial_state());
    }
}

TEST_F(Dropped, RecordingsGiveTheirRoomBackAtOnce) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) { info.recordings_in_flight = 1; };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(rig->drop([&](VkCommandBuffer commands) {
            EXPECT_EQ(record_act(*rig, commands), HEARTH_OK) << rig->session.error();
            EXPECT_EQ(record_act(*rig, commands), HEARTH_ERROR_TOO_MANY_IN_FLIGHT);
        }),
                  "session test: record entry act again from command 0 on");
        EXPECT_EQ(rig->session.status().recordings_in_flight, 0u);
    }
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

/// Records `learn` one step at a time.
struct SlicedLearn {
    Rig& rig;
    uint64_t rows = 4;
    float rate = 0.25f;
    hearth_run_cursor cursor{};

    Progress operator()(VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig.learn_info(commands, rows, rate, bounds);
        info.max_dispatches = 1;
        const Result<Progress> progress = rig.session.record(info, &cursor);
        EXPECT_TRUE(progress.ok()) << progress.status().message();
        return progress.ok() ? progress.value() : Progress::kNotReady;
    }
};

TEST_F(Dropped, ASlicedRecordingGoesOnFromItsFirstLostSlice) {
    // All steps of `learn` but the barriers; the one before the last updates the state.
    const char* const kFrom[] = {"0", "1", "3", "4", "6", "8", "10"};
    for (uint32_t lost = 0; lost < 7; ++lost) {
        const auto rig = make_rig();
        ASSERT_TRUE(rig);
        TestReference reference;
        const std::vector<float> x = test_values(4 * kWidth, lost);
        rig->set_x(x);
        SlicedLearn learn{*rig};
        for (uint32_t slice = 0; slice < 7; ++slice) {
            if (slice == lost) {
                // With the cursor as it is afterwards, but for the last slice, which resets it.
                const hearth_run_cursor before = learn.cursor;
                EXPECT_EQ(rig->drop([&](VkCommandBuffer commands) { (void)learn(commands); }),
                          std::string("session test: record entry learn again from command ") +
                              kFrom[lost] + " on");
                if (slice == 6) learn.cursor = before;
            }
            Progress progress = Progress::kNotReady;
            rig->frame([&](VkCommandBuffer commands) { progress = learn(commands); });
            EXPECT_EQ(progress, slice < 6 ? Progress::kIncomplete : Progress::kDone) << lost;
        }
        EXPECT_EQ(rig->get_y(4), reference.learn(x, 0.25f)) << lost;
        EXPECT_EQ(rig->read_slot(kStateVariable), reference.state) << lost;
    }
}

TEST_F(Dropped, SeveralLostFramesInARowPutBackAllOfThem) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(4 * kWidth, 3);
    rig->set_x(x);
    SlicedLearn learn{*rig};
    const auto slice = [&](VkCommandBuffer commands) { (void)learn(commands); };
    rig->frame(slice);
    rig->frame(slice);
    for (int i = 0; i < 3; ++i) (void)rig->drop(slice);
    EXPECT_EQ(learn.cursor.next_command, 4u);  // two slices are done, a third is lost
    Progress progress = Progress::kIncomplete;
    uint32_t slices = 0;
    while (progress == Progress::kIncomplete && slices < 10) {
        rig->frame([&](VkCommandBuffer commands) { progress = learn(commands); });
        ++slices;
    }
    EXPECT_EQ(slices, 5u);
    EXPECT_EQ(rig->get_y(4), reference.learn(x, 0.25f));
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Dropped, ASliceRecordedAfterALostOneIsLostWithIt) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(4 * kWidth, 3);
    rig->set_x(x);
    SlicedLearn learn{*rig};
    const auto slice = [&](VkCommandBuffer commands) { (void)learn(commands); };
    rig->frame(slice);
    const uint64_t late = rig->serial();
    rig->frame(slice);
    // The host finds out late that the first was not submitted: the run starts anew.
    const Result<std::string> told = rig->context.discard_frame(late);
    ASSERT_TRUE(told.ok());
    EXPECT_EQ(told.value(), "session test: record entry learn again from command 0 on");
    uint32_t slices = 0;
    Progress progress = Progress::kIncomplete;
    while (progress == Progress::kIncomplete && slices < 10) {
        rig->frame([&](VkCommandBuffer commands) { progress = learn(commands); });
        ++slices;
    }
    EXPECT_EQ(slices, 7u);
    TestReference reference;
    EXPECT_EQ(rig->get_y(4), reference.learn(x, 0.25f));
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Dropped, TimingsOfALostFrameAreNotReported) {
    for (const bool host_reset : {true, false}) {
        RigOptions options;
        options.host = [&](hearth_context_create_info& info) {
            if (!host_reset) info.features &= ~HEARTH_FEATURE_HOST_QUERY_RESET;
        };
        options.session = [](hearth_session_create_info& info) {
            info.flags = HEARTH_SESSION_TIMESTAMP_RUNS;
            info.max_pending_timings = 3;  // so that lost ones meet queries that were written
        };
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        if (device().timestamp_valid_bits() == 0) GTEST_SKIP() << "the queue has no timestamps";
        for (uint64_t i = 0; i < 4; ++i) {
            // Queries that nothing resets keep the times of recordings long ago.
            (void)rig->drop([&](VkCommandBuffer commands) {
                EXPECT_EQ(record_act(*rig, commands), HEARTH_OK);
            });
            (void)rig->learn(test_values(kWidth, i), 0.5f);
            rig->advance();
            const auto learn = rig->session.next_timings();
            ASSERT_TRUE(learn.ok() && learn.value().has_value());
            EXPECT_EQ(learn.value()->entry, kLearn);
            const auto none = rig->session.next_timings();
            ASSERT_TRUE(none.ok());
            EXPECT_FALSE(none.value().has_value());
        }
    }
}

TEST_F(Dropped, SerialsThatCannotHaveBeenDroppedAreRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->begin(100, 50);
    hearth_context* const context = rig->context.handle();
    EXPECT_EQ(hearth_discard_frame(context, 101, nullptr), HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(rig->context.error(),
              "discard_frame(101): expected a frame that has begun and not completed; begun are "
              "those up to 100, completed those up to 50");
    EXPECT_EQ(hearth_discard_frame(context, 50, nullptr), HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(hearth_discard_frame(context, 0, nullptr), HEARTH_ERROR_INVALID_ARGUMENT);
    hearth_messages report{};
    EXPECT_EQ(hearth_discard_frame(context, 77, &report), HEARTH_OK);  // one that was skipped
    EXPECT_EQ(report.message_count, 0u);
    EXPECT_EQ(hearth_discard_frame(context, 100, nullptr), HEARTH_OK);
    EXPECT_EQ(hearth_discard_frame(context, 100, nullptr), HEARTH_OK);
}

/// A host that does a thousand things, one a frame, and loses some of the frames: what is lost is
/// done again.
class ForgetfulHost {
  public:
    ForgetfulHost(Rig& rig, std::span<const std::byte> brain, uint64_t drops_in_1000)
        : rig_(rig), brain_(brain), drops_in_1000_(drops_in_1000) {}

    void run(uint64_t task_count) {
        for (uint64_t task = 0; task < task_count;) {
            const uint64_t kind = Hash().number(task).number(1).value() % 10;
            // A sliced task takes several frames, and each may be lost.
            if (do_frame(task, kind)) ++task;
            if (::testing::Test::HasFailure()) return;
        }
    }
    uint64_t hash() {
        // What came back on the way counts too.
        for (float value : rig_.read_slot(kStateVariable))
            seen_.number(std::bit_cast<uint32_t>(value));
        for (float value : rig_.read_slot(kZeroVariable))
            seen_.number(std::bit_cast<uint32_t>(value));
        return seen_.value();
    }
    uint64_t drops() const { return drops_; }

  private:
    bool do_frame(uint64_t task, uint64_t kind) {
        const hearth_run_cursor before = cursor_;
        const bool is_lost = Hash().number(frames_++).number(2).value() % 1000 < drops_in_1000_;
        if (task != prepared_) rig_.set_x(test_values(kRowsCapacity * kWidth, task));
        prepared_ = task;
        bool done = true;
        hearth_readback read = 0;
        const auto record = [&](VkCommandBuffer commands) {
            const uint64_t key = Hash().number(task).number(3).value();
            std::array<hearth_tensor_binding, 3> bounds;
            const float rate = 0.0078125f * static_cast<float>(1 + key % 4);
            hearth_record_info info =
                rig_.learn_info(commands, 1 + key % kRowsCapacity, rate, bounds);
            const float value = static_cast<float>(key % 64);
            Session& session = rig_.session;
            if (kind < 3) {
                ASSERT_TRUE(session.record(info).ok()) << session.error();
            } else if (kind < 6) {
                (key % 2 == 0 ? info.max_dispatches : info.max_workgroups) =
                    1 + static_cast<uint32_t>(key % 3);
                const Result<Progress> progress = session.record(info, &cursor_);
                ASSERT_TRUE(progress.ok()) << progress.status().message();
                done = progress.value() == Progress::kDone;
            } else if (kind == 6) {
                ASSERT_TRUE(session
                                .record_update_variable(
                                    commands, key % 2 == 0 ? kStateVariable : kZeroVariable,
                                    std::as_bytes(std::span(&value, 1)), 4 * (key % 16))
                                .ok())
                    << session.error();
            } else if (kind == 7) {
                const auto id = session.record_readback(commands, kStateVariable);
                ASSERT_TRUE(id.ok()) << id.status().message();
                read = id.value();
            } else if (kind == 8) {
                ASSERT_TRUE(
                    session.record_reset_variables(commands, key % 2 == 0 ? "zero" : "*").ok())
                    << session.error();
            } else if (key % 4 == 0) {
                ASSERT_TRUE(session.record_load_brain(commands, brain_).ok()) << session.error();
            } else {
                const auto id = session.record_save_brain(commands);
                ASSERT_TRUE(id.ok() && id.value().has_value()) << id.status().message();
                read = *id.value();
            }
        };
        if (!is_lost) {
            rig_.frame(record);
            if (read != 0) keep(read);
            return done;
        }
        ++drops_;
        (void)rig_.drop(record);
        if (read != 0) {
            const auto data = rig_.session.poll(read);
            EXPECT_EQ(data.status().code(), StatusCode::kNotFound);  // HEARTH_ERROR_DISCARDED
            rig_.session.release(read);
        }
        // Only a run that was finished has to be told where it was.
        if (done) cursor_ = before;
        return false;
    }
    void keep(hearth_readback read) {
        rig_.advance();
        const auto data = rig_.session.poll(read);
        ASSERT_TRUE(data.ok() && data.value().has_value());
        seen_.bytes(data.value()->bytes);
        rig_.session.release(read);
    }

    Rig& rig_;
    std::span<const std::byte> brain_;
    uint64_t drops_in_1000_;
    uint64_t frames_ = 0, drops_ = 0;
    uint64_t prepared_ = ~uint64_t{0};
    hearth_run_cursor cursor_{};
    Hash seen_;
};

TEST_F(Dropped, AThousandFramesOfWhichEachTenthIsLostEndWithTheSameWeights) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags |= HEARTH_SESSION_SPLIT_DISPATCHES;
    };
    const auto calm = make_rig(options), rough = make_rig(options);
    ASSERT_TRUE(calm && rough);
    const std::vector<std::byte> brain = brain_of(3);
    ForgetfulHost without(*calm, brain, 0), with(*rough, brain, 100);
    const char* const more = std::getenv("HEARTH_FRAMES");  // `./dev frames`
    const uint64_t frames = more != nullptr ? std::strtoull(more, nullptr, 10) : 1000;
    without.run(frames);
    with.run(frames);
    EXPECT_EQ(without.drops(), 0u);
    EXPECT_GT(with.drops(), frames / 10);
    EXPECT_EQ(with.hash(), without.hash());
}

}  // namespace
}  // namespace hearth::test
