// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

namespace hearth::test {
namespace {

class Record : public RuntimeTest {
  protected:
    VkCommandPool create_command_pool() {
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.queueFamilyIndex = device().queue_family();
        VkCommandPool pool = VK_NULL_HANDLE;
        EXPECT_EQ(vk().CreateCommandPool(device().handle(), &info, nullptr, &pool), VK_SUCCESS);
        return pool;
    }
    /// Parameters to allocate one command buffer.
    static VkCommandBufferAllocateInfo one_of(VkCommandPool pool, VkCommandBufferLevel level) {
        VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        info.commandPool = pool;
        info.level = level;
        info.commandBufferCount = 1;
        return info;
    }
};

TEST_F(Record, EntriesGiveWhatTheReferenceGivesForEachRowCount) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    for (uint64_t rows = 1; rows <= kRowsCapacity; ++rows) {
        const std::vector<float> x = test_values(rows * kWidth, rows);
        EXPECT_EQ(rig->learn(x, 0.125f), reference.learn(x, 0.125f)) << rows;
        EXPECT_EQ(rig->act(x), reference.act(x)) << rows;
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
    EXPECT_EQ(rig->read_slot(kZeroVariable), std::vector<float>(16, 0.0f));
}

TEST_F(Record, ConsecutiveRecordingsInOneCommandBufferNeedNoBarrierOfTheHost) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(3 * kWidth, 1);
    rig->set_x(x);
    const float rate = 0.25f;
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> learn;
        std::array<hearth_tensor_binding, 2> act;
        for (int i = 0; i < 5; ++i) {
            hearth_record_info info = rig->learn_info(commands, 3, rate, learn);
            // y is written again and again, and read by nobody in between.
            const hearth_sync_scope again = hearth_make_sync_scope(
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
            learn[0].acquire_scope = learn[0].release_scope = again;
            ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
        }
        hearth_record_info info = rig->act_info(commands, 3, act);
        act[1].acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                      VK_ACCESS_SHADER_WRITE_BIT);
        ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
    });
    for (int i = 0; i < 5; ++i) (void)reference.learn(x, rate);
    EXPECT_EQ(rig->get_y(3), reference.act(x));
}

TEST_F(Record, TheSameRecordingTwiceGivesTheSameBits) {
    const auto first = make_rig(), second = make_rig();
    ASSERT_TRUE(first && second);
    const std::vector<float> x = test_values(8 * kWidth, 3);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(first->learn(x, 0.3f), second->learn(x, 0.3f));
    EXPECT_EQ(first->read_slot(kStateVariable), second->read_slot(kStateVariable));
}

TEST_F(Record, OffsetsIntoHostBuffersAreRespected) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const standalone::Buffer in = make_buffer(4096, standalone::MemoryKind::kUpload);
    const standalone::Buffer out = make_buffer(4096, standalone::MemoryKind::kReadback);
    std::fill(out.as<float>().begin(), out.as<float>().end(), -1.0f);
    const std::vector<float> x = test_values(kWidth, 4);
    std::copy(x.begin(), x.end(), in.as<float>().begin() + 512 / 4);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        bounds[0] = rig->bind(kActX, in, kWidth * 4);
        bounds[0].offset = 512;
        bounds[1] = rig->bind(kActY, out, kWidth * 4);
        bounds[1].offset = 1024;
        ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
    });
    rig->finish();
    const std::vector<float> expected = TestReference().act(x);
    for (size_t i = 0; i < 1024; ++i) {
        const bool inside = i >= 256 && i < 256 + kWidth;
        EXPECT_EQ(out.as<float>()[i], inside ? expected[i - 256] : -1.0f) << i;
    }
}

// The game's agents as it has them: a number, what one sees, another, and what it does.
TEST_F(Record, RowsWithAStrideAtOffsetsOfFourBytesLieBetweenWhatElseAgentsHave) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES | HEARTH_SESSION_VALIDATE_BINDINGS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    constexpr uint64_t kX = 1, kY = kX + kWidth + 1, kAgent = kY + kWidth + 1;  // in floats
    const standalone::Buffer agents =
        make_buffer(kRowsCapacity * kAgent * 4, standalone::MemoryKind::kReadback);
    const std::span<float> values = agents.as<float>();
    for (uint64_t rows : {uint64_t{1}, uint64_t{3}, kRowsCapacity}) {
        const std::vector<float> x = test_values(rows * kWidth, 7 + rows);
        std::fill(values.begin(), values.end(), -1.0f);
        for (uint64_t row = 0; row < rows; ++row)
            std::copy_n(x.begin() + static_cast<ptrdiff_t>(row * kWidth), kWidth,
                        values.begin() + static_cast<ptrdiff_t>(row * kAgent + kX));
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 2> bounds;
            const hearth_record_info info = rig->act_info(commands, rows, bounds);
            const uint64_t at[] = {kX, kY};
            for (size_t i = 0; i < 2; ++i) {
                const uint64_t bytes = ((rows - 1) * kAgent + kWidth) * 4;
                bounds[i] = rig->bind(i == 0 ? kActX : kActY, agents, bytes);
                bounds[i].offset = at[i] * 4;
                bounds[i].item_stride = kAgent * 4;
            }
            ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
        });
        rig->finish();
        const std::vector<float> y = TestReference().act(x);
        for (uint64_t i = 0; i < kRowsCapacity * kAgent; ++i) {
            const uint64_t row = i / kAgent, place = i % kAgent;
            float expected = -1;
            if (row < rows && place >= kX && place < kX + kWidth)
                expected = x[row * kWidth + place - kX];
            if (row < rows && place >= kY && place < kY + kWidth)
                expected = y[row * kWidth + place - kY];
            ASSERT_EQ(values[i], expected) << "agent " << row << ", number " << place;
        }
    }
}

TEST_F(Record, StridesThatDoNotFitAreRefusedByName) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = make_rig(options);
    const auto plain = make_rig();
    ASSERT_TRUE(rig && plain);
    const auto refusal = [](Rig& with, auto change) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info =
            with.act_info(reinterpret_cast<VkCommandBuffer>(uintptr_t{1}), 2, bounds);
        change(bounds);
        EXPECT_FALSE(with.session.record(info).ok());
        return std::string(with.session.error());
    };
    using Bounds = std::array<hearth_tensor_binding, 2>;
    const uint64_t row = kWidth * 4;
    EXPECT_NE(refusal(*rig, [](Bounds& b) { b[0].item_stride = 12; })
                  .find("binding x: item_stride is 12, expected a multiple of the element size and "
                        "at least the 384 bytes of an item"),
              std::string::npos);
    EXPECT_NE(refusal(*rig, [&](Bounds& b) { b[0].item_stride = row + 4, b[0].bytes = 2 * row; })
                  .find("binding x: 768 bytes given, expected 772 or more for a batch size of 2"),
              std::string::npos);
    const std::string direct =
        refusal(*plain, [&](Bounds& b) { b[0].item_stride = row + 4, b[0].bytes = 2 * row + 4; });
    EXPECT_NE(direct.find("at offset 0 with an item_stride; it needs"), std::string::npos)
        << direct;
    // Rows that lie between each other, but share bytes.
    const std::string shared = refusal(*rig, [&](Bounds& b) {
        b[1].buffer = b[0].buffer;
        b[0].item_stride = b[1].item_stride = 2 * row;
        b[0].bytes = b[1].bytes = 4 * row;
        b[1].offset = row - 4;
    });
    EXPECT_NE(shared.find("share bytes of a VkBuffer"), std::string::npos) << shared;
}

TEST_F(Record, HostBuffersThatKernelsCannotReachAreCopiedOnRequest) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    TestReference reference;
    for (uint64_t rows = 1; rows < 4; ++rows) {
        const std::vector<float> x = test_values(rows * kWidth, rows);
        rig->set_x(x);
        const float rate = 0.5f;
        rig->frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            const hearth_record_info info = rig->learn_info(commands, rows, rate, bounds);
            // The buffers can do more, but the host says only this of them.
            bounds[0].usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
            bounds[1].usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
            ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
        });
        EXPECT_EQ(rig->get_y(rows), reference.learn(x, rate));
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

/// A session that has no room for x inline, and in its upload ring for one x of all rows.
RigOptions with_staged_values() {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_ALLOW_STAGING_COPIES;
        info.max_inline_bytes = 256;
        info.upload_bytes = kRowsCapacity * kWidth * 4;
    };
    return options;
}

TEST_F(Record, ValuesWithoutRoomInlineGoThroughTheUploadRing) {
    RigOptions options = with_staged_values();
    options.frames_in_flight = 1;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    TestReference reference;
    for (uint64_t i = 0; i < 6; ++i) {
        const uint64_t rows = 1 + (5 * i) % kRowsCapacity;
        const std::vector<float> x = test_values(rows * kWidth, i);
        const float rate = 0.5f;
        hearth_run_cursor cursor{};
        // The first slice carries the values; those behind it read what it copied.
        for (bool is_done = false; !is_done;) {
            std::vector<float> given = x;
            rig->frame([&](VkCommandBuffer commands) {
                std::array<hearth_tensor_binding, 3> bounds;
                hearth_record_info info = rig->learn_info(commands, rows, rate, bounds);
                bounds[1] = hearth_bind_bytes(kLearnX, given.data(), given.size() * 4);
                info.max_dispatches = i % 2 == 0 ? 1 : 0;
                const auto progress = rig->session.record(info, &cursor);
                ASSERT_TRUE(progress.ok()) << rig->session.error();
                is_done = *progress == Progress::kDone;
            });
            ASSERT_FALSE(HasFatalFailure());
            std::fill(given.begin(), given.end(), -1e9f);  // the recording has copied it
        }
        EXPECT_EQ(rig->get_y(rows), reference.learn(x, rate)) << i;
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Record, ValuesForWhichTheUploadRingIsFullAreRefusedUntilAFrameCompletes) {
    const auto rig = make_rig(with_staged_values());
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kRowsCapacity * kWidth, 3);
    const standalone::Buffer y = make_buffer(x.size() * 4, standalone::MemoryKind::kReadback);
    const auto record = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, kRowsCapacity, bounds);
        bounds[0] = hearth_bind_bytes(kActX, x.data(), x.size() * 4);
        bounds[1] = rig->bind(kActY, y, x.size() * 4);
        return hearth_record(rig->session.handle(), &info, nullptr);
    };
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_EQ(record(commands), HEARTH_OK) << rig->session.error();
        EXPECT_EQ(record(commands), HEARTH_ERROR_TOO_MANY_IN_FLIGHT);
        EXPECT_EQ(rig->session.error(),
                  "entry act: no room for 3072 bytes of inputs by value in the upload ring; raise "
                  "hearth_session_create_info::upload_bytes or upload_count, or bind buffers");
    });
    rig->advance();
    // A frame that is dropped gives its room back, and no upload is lost with it.
    EXPECT_EQ(rig->drop([&](VkCommandBuffer commands) {
        ASSERT_EQ(record(commands), HEARTH_OK) << rig->session.error();
    }),
              "session test: record entry act again from command 0 on");
    EXPECT_EQ(rig->session.status().discarded_uploads, 0u);
    rig->frame([&](VkCommandBuffer commands) {
        ASSERT_EQ(record(commands), HEARTH_OK) << rig->session.error();
    });
    rig->finish();
    const std::span<float> values = y.as<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + static_cast<long>(x.size())),
              TestReference().act(x));
}

TEST_F(Record, ASecondaryCommandBufferIsReplayedWithNewInputsAndRows) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const standalone::Buffer run = make_buffer(256, standalone::MemoryKind::kUpload);
    const standalone::Buffer rate = make_buffer(256, standalone::MemoryKind::kUpload);
    const VkCommandPool pool = create_command_pool();
    const VkCommandBufferAllocateInfo allocate = one_of(pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer secondary = VK_NULL_HANDLE;
    ASSERT_EQ(vk().AllocateCommandBuffers(device().handle(), &allocate, &secondary), VK_SUCCESS);
    VkCommandBufferInheritanceInfo inheritance{};
    inheritance.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.pInheritanceInfo = &inheritance;
    ASSERT_EQ(vk().BeginCommandBuffer(secondary, &begin), VK_SUCCESS);
    const float unused = 0;
    std::array<hearth_tensor_binding, 3> bounds;
    hearth_record_info info = rig->learn_info(secondary, kRowsCapacity, unused, bounds);
    bounds[2] = rig->bind(kLearnRate, rate, 4);
    const hearth_tensor_binding run_block = rig->bind(0, run, 16);
    info.indirect_batch_buffer = &run_block;
    ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
    ASSERT_EQ(vk().EndCommandBuffer(secondary), VK_SUCCESS);
    EXPECT_EQ(rig->session.status().recordings_in_flight, 0u);

    TestReference reference;
    for (uint32_t i = 0; i < 100; ++i) {
        const uint32_t rows = 1 + i % kRowsCapacity;
        const std::vector<float> x = test_values(rows * kWidth, i);
        // Not set_x: the recording keeps its buffer, and get_y has waited for the one before.
        std::copy(x.begin(), x.end(), rig->x().as<float>().begin());
        run.as<uint32_t>()[0] = rows;
        rate.as<float>()[0] = 0.125f;
        rig->frame(
            [&](VkCommandBuffer commands) { vk().CmdExecuteCommands(commands, 1, &secondary); });
        ASSERT_EQ(rig->get_y(rows), reference.learn(x, 0.125f)) << i;
    }
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
    vk().DestroyCommandPool(device().handle(), pool, nullptr);
}

TEST_F(Record, TwoContextsOnOneDeviceInterleave) {
    const auto first = make_rig(), second = make_rig();
    ASSERT_TRUE(first && second);
    TestReference a, b;
    for (uint64_t i = 0; i < 10; ++i) {
        const std::vector<float> x = test_values(4 * kWidth, i),
                                 y = test_values(2 * kWidth, i + 99);
        EXPECT_EQ(first->learn(x, 0.5f), a.learn(x, 0.5f));
        EXPECT_EQ(second->learn(y, 0.25f), b.learn(y, 0.25f));
        EXPECT_EQ(first->act(y), a.act(y));
    }
    EXPECT_EQ(first->read_slot(kStateVariable), a.state);
    EXPECT_EQ(second->read_slot(kStateVariable), b.state);
}

TEST_F(Record, TwoDevicesInterleave) {
    const auto other = make_device(test_device_options());
    ASSERT_TRUE(other);
    const auto first = make_rig();
    const auto second = Rig::create(*other);
    ASSERT_TRUE(first && second);
    TestReference a, b;
    for (uint64_t i = 0; i < 10; ++i) {
        const std::vector<float> x = test_values(4 * kWidth, i),
                                 y = test_values(2 * kWidth, i + 99);
        EXPECT_EQ(first->learn(x, 0.5f), a.learn(x, 0.5f));
        EXPECT_EQ(second->learn(y, 0.25f), b.learn(y, 0.25f));
    }
    EXPECT_EQ(first->read_slot(kStateVariable), a.state);
    EXPECT_EQ(second->read_slot(kStateVariable), b.state);
}

// As a renderer and a library in it may have: one device with the required features and
// descriptors, one with all features and addresses.
TEST_F(Record, TwoDevicesOfDifferentFeaturesAndBindingModelsInterleave) {
    standalone::DeviceOptions small = test_device_options(), large = test_device_options();
    small.features = standalone::FeatureLevel::kRequired;
    small.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    large.features = standalone::FeatureLevel::kRequiredAndOptional;
    large.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    const auto one = make_device(small), other = make_device(large);
    ASSERT_TRUE(one && other);
    const auto first = Rig::create(*one), second = Rig::create(*other);
    ASSERT_TRUE(first && second);
    TestReference a, b;
    for (uint64_t i = 0; i < 10; ++i) {
        const std::vector<float> x = test_values(4 * kWidth, i),
                                 y = test_values(2 * kWidth, i + 99);
        EXPECT_EQ(first->learn(x, 0.5f), a.learn(x, 0.5f));
        EXPECT_EQ(second->learn(y, 0.25f), b.learn(y, 0.25f));
    }
    EXPECT_EQ(first->read_slot(kStateVariable), a.state);
    EXPECT_EQ(second->read_slot(kStateVariable), b.state);
}

TEST_F(Record, ASessionDestroyedRightAfterRecordingLivesUntilItsSerialCompletes) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kWidth, 5);
    rig->set_x(x);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        ASSERT_TRUE(rig->session.record(rig->act_info(commands, 1, bounds)).ok());
        rig->session = Session();
        rig->program = LoadedProgram();
        EXPECT_GT(rig->context.stats().device_bytes_total, 0u);
    });
    EXPECT_EQ(rig->get_y(1), TestReference().act(x));
    rig->advance();
    EXPECT_EQ(rig->context.stats().device_bytes_total, 0u);
    EXPECT_EQ(rig->context.stats().pipeline_count, 0u);
}

TEST_F(Record, SessionsOfOneContextSharePipelinesByContent) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const uint32_t count = rig->context.stats().pipeline_count;
    EXPECT_EQ(count, 4u);  // mix in two specializations, decay, add_row
    const Result<Session> other = Session::create(rig->context, rig->program);
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(rig->context.stats().pipeline_count, count);
    EXPECT_EQ(other.value().status().pipelines, HEARTH_OK);
}

TEST_F(Record, TimestampsTellEachStepAndNeverRunBackwards) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_TIMESTAMP_COMMANDS;
        info.max_pending_timings = 2;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    if (device().timestamp_valid_bits() == 0) GTEST_SKIP() << "the queue has no timestamps";
    EXPECT_FALSE(rig->session.next_timings().value().has_value());
    for (uint64_t i = 0; i < 5; ++i) {
        (void)rig->learn(test_values(2 * kWidth, i), 0.5f);
        (void)rig->act(test_values(3 * kWidth, i));
        rig->advance();
        const auto learn = rig->session.next_timings();
        ASSERT_TRUE(learn.ok() && learn.value().has_value());
        EXPECT_EQ(learn.value()->entry, kLearn);
        EXPECT_EQ(learn.value()->batch_size, 2u);
        ASSERT_EQ(learn.value()->command_count, 7u);
        EXPECT_STREQ(learn.value()->command_labels[3], "clear t3");
        double sum = 0;
        for (uint32_t s = 0; s < 7; ++s) {
            EXPECT_GE(learn.value()->command_ns[s], 0.0);
            sum += learn.value()->command_ns[s];
        }
        EXPECT_NEAR(sum, learn.value()->total_ns, 1.0);
        EXPECT_LT(sum, 60e9);
        const auto act = rig->session.next_timings();
        ASSERT_TRUE(act.ok() && act.value().has_value());
        EXPECT_EQ(act.value()->entry, kAct);
        EXPECT_EQ(act.value()->command_count, 1u);
        EXPECT_FALSE(rig->session.next_timings().value().has_value());
    }
}

TEST_F(Record, TimestampsMayGoToQueriesOfTheHosts) {
    if (device().timestamp_valid_bits() == 0) GTEST_SKIP() << "the queue has no timestamps";
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 16;
    VkQueryPool pool = VK_NULL_HANDLE;
    ASSERT_EQ(vk().CreateQueryPool(device().handle(), &info, nullptr, &pool), VK_SUCCESS);
    {
        RigOptions options;
        options.session = [&](hearth_session_create_info& session) {
            session.flags = HEARTH_SESSION_TIMESTAMP_RUNS;
            session.query_pool = pool;
            session.first_query = 5;
            session.query_count = 4;  // two recordings
        };
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        for (uint64_t i = 0; i < 3; ++i) (void)rig->act(test_values(kWidth, i));
        rig->advance();
        for (int i = 0; i < 2; ++i) {
            const auto profile = rig->session.next_timings();
            ASSERT_TRUE(profile.ok() && profile.value().has_value());
            EXPECT_GT(profile.value()->total_ns, 0.0);
            EXPECT_EQ(profile.value()->command_count, 0u);
        }
        EXPECT_FALSE(rig->session.next_timings().value().has_value());
    }
    vk().DestroyQueryPool(device().handle(), pool, nullptr);
}

TEST_F(Record, ABorrowedProgramIsReadInPlace) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const BindingModel model = binding_model(device());
    const std::vector<std::byte> bytes =
        save_program(TestProgramBuilder(test_shaders(model), model).build());
    const uint64_t before = rig->context.stats().cpu_bytes;
    const auto borrowed = LoadedProgram::load(rig->context, bytes, true);
    ASSERT_TRUE(borrowed.ok());
    EXPECT_LT(rig->context.stats().cpu_bytes - before, 1024u);
    const auto copied = LoadedProgram::load(rig->context, bytes);
    ASSERT_TRUE(copied.ok());
    EXPECT_GT(rig->context.stats().cpu_bytes - before, bytes.size());
    const auto name = reinterpret_cast<const std::byte*>(borrowed.value().entry(kAct).value().name);
    EXPECT_TRUE(name > bytes.data() && name < bytes.data() + bytes.size());
    EXPECT_STREQ(copied.value().entry(kAct).value().name, "act");
    EXPECT_EQ(copied.value().find_binding(kAct, "y").value(), kActY);
    EXPECT_EQ(copied.value().find_variable("state").value(), kStateVariable);
    EXPECT_EQ(copied.value().find_entry("dance").status().code(), StatusCode::kNotFound);
    const hearth_binding_info x = copied.value().binding(kActX).value();
    EXPECT_EQ(x.rank, 2u);
    EXPECT_EQ(x.dims[0].is_batch, 1u);
    EXPECT_EQ(x.dims[1].count, int64_t{kWidth});
    EXPECT_EQ(x.bytes_per_item, kWidth * 4u);
}

TEST_F(Record, ARecordingThatIsNeverExecutedHoldsUpNothing) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_TIMESTAMP_RUNS;
        info.max_pending_timings = 2;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(kWidth, 1);
    const VkCommandPool pool = create_command_pool();
    const VkCommandBufferAllocateInfo allocate = one_of(pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
        VkCommandBuffer dropped = VK_NULL_HANDLE;
        ASSERT_EQ(vk().AllocateCommandBuffers(device().handle(), &allocate, &dropped), VK_SUCCESS);
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        ASSERT_EQ(vk().BeginCommandBuffer(dropped, &begin), VK_SUCCESS);
        std::array<hearth_tensor_binding, 2> bounds;
        EXPECT_TRUE(rig->session.record(rig->act_info(dropped, 1, bounds)).ok());
        ASSERT_EQ(vk().EndCommandBuffer(dropped), VK_SUCCESS);
        vk().FreeCommandBuffers(device().handle(), pool, 1, &dropped);
        EXPECT_EQ(rig->act(x), reference.act(x));
        rig->advance();
        if (device().timestamp_valid_bits() == 0) continue;
        const auto learn = rig->session.next_timings();
        ASSERT_TRUE(learn.ok() && learn.value().has_value());
        EXPECT_EQ(learn.value()->entry, kLearn);
        const auto none = rig->session.next_timings();
        ASSERT_TRUE(none.ok());
        EXPECT_FALSE(none.value().has_value());
    }
    vk().DestroyCommandPool(device().handle(), pool, nullptr);
}

TEST_F(Record, SlotsCanBeReadByTheHostsOwnCopies) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const hearth_buffer_range range = rig->session.variable_buffer(kStateVariable).value();
    EXPECT_EQ(range.bytes, kWidth * 4u);
    EXPECT_EQ(range.device_address != 0,
              (device().enabled_features() & HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) != 0);
    rig->frame([&](VkCommandBuffer commands) {
        const VkBufferCopy region{range.offset, 0, range.bytes};
        vk().CmdCopyBuffer(commands, range.buffer, rig->y().handle(), 1, &region);
        barrier_to_host(vk(), commands);
    });
    EXPECT_EQ(rig->get_y(1), TestReference::initial_state());
}

}  // namespace
}  // namespace hearth::test
