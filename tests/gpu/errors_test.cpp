// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Wrong calls: each gives an error that names what was expected and what was found, records
// nothing, and leaves the session usable.

#include "gpu/rig.hpp"
#include "support/vulkan_shim.hpp"

namespace hearth::test {
namespace {

class Errors : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        VulkanShim::get().reset();
    }
    std::unique_ptr<Rig> make_watched_rig(RigOptions options = {}) {
        options.host = [](hearth_context_create_info& info) { VulkanShim::get().intercept(info); };
        return make_rig(options);
    }
    /// Records `act` after `change`; expects the error and that no command was recorded.
    void expect_act_refused(
        Rig& rig, hearth_result expected, std::string_view message,
        const std::function<void(hearth_record_info&, std::array<hearth_tensor_binding, 2>&)>&
            change) {
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 2> bounds;
            hearth_record_info info = rig.act_info(commands, 2, bounds);
            change(info, bounds);
            const uint64_t before = VulkanShim::get().command_calls();
            EXPECT_EQ(hearth_record(rig.session.handle(), &info, nullptr), expected)
                << rig.session.error();
            EXPECT_EQ(VulkanShim::get().command_calls(), before);
            EXPECT_EQ(rig.session.error(), message);
        });
    }
};

TEST_F(Errors, WrongRecordingsAreRefusedWithASentence) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    using Bounds = std::array<hearth_tensor_binding, 2>;
    expect_act_refused(*rig, HEARTH_ERROR_OUT_OF_RANGE,
                       "entry act: the batch size is 0, expected 1..8",
                       [](hearth_record_info& info, Bounds&) { info.batch_size = 0; });
    expect_act_refused(*rig, HEARTH_ERROR_OUT_OF_RANGE,
                       "entry act: the batch size is 9, expected 1..8",
                       [](hearth_record_info& info, Bounds&) { info.batch_size = 9; });
    expect_act_refused(*rig, HEARTH_ERROR_NOT_FOUND, "record: entry is 7, expected less than 2",
                       [](hearth_record_info& info, Bounds&) { info.entry = 7; });
    expect_act_refused(*rig, HEARTH_ERROR_NOT_FOUND, "record: entry is 2, expected less than 2",
                       [](hearth_record_info& info, Bounds&) { info.entry = 2; });
    expect_act_refused(*rig, HEARTH_ERROR_INVALID_ARGUMENT,
                       "entry act: 1 bindings given, expected 2",
                       [](hearth_record_info& info, Bounds&) { info.binding_count = 1; });
    expect_act_refused(*rig, HEARTH_ERROR_INVALID_ARGUMENT,
                       "entry act: binding x (3) is given twice; give it once",
                       [](hearth_record_info&, Bounds& bounds) { bounds[1] = bounds[0]; });
    expect_act_refused(*rig, HEARTH_ERROR_OUT_OF_RANGE,
                       "binding x: 764 bytes given, expected 768 or more for a batch size of 2",
                       [](hearth_record_info&, Bounds& bounds) { bounds[0].bytes -= 4; });
    expect_act_refused(*rig, HEARTH_ERROR_INVALID_ARGUMENT,
                       "binding y is an output and cannot be given by value; bind a buffer",
                       [](hearth_record_info&, Bounds& bounds) {
                           static const float values[2 * kWidth] = {};
                           bounds[1] = hearth_bind_bytes(kActY, values, sizeof values);
                       });
    expect_act_refused(
        *rig, HEARTH_ERROR_INVALID_ARGUMENT,
        "binding x has neither a buffer nor bytes; make it with hearth_bind_buffer or "
        "hearth_bind_bytes",
        [](hearth_record_info&, Bounds& bounds) { bounds[0].buffer = VK_NULL_HANDLE; });
    expect_act_refused(
        *rig, HEARTH_ERROR_INVALID_ARGUMENT,
        "record: command_buffer is null, expected one in the recording state",
        [](hearth_record_info& info, Bounds&) { info.command_buffer = VK_NULL_HANDLE; });
    expect_act_refused(
        *rig, HEARTH_ERROR_INVALID_ARGUMENT,
        "entry act: limits such as max_flops need a cursor, at which a later call continues",
        [](hearth_record_info& info, Bounds&) { info.max_dispatches = 1; });
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Errors, ABufferThatKernelsCannotReachIsRefusedWithWhatItNeeds) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 2, bounds);
        bounds[0].usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr),
                  HEARTH_ERROR_INVALID_ARGUMENT);
        const std::string usage = binding_model(device()) == BindingModel::kDeviceAddress
                                      ? "SHADER_DEVICE_ADDRESS"
                                      : "STORAGE_BUFFER";
        EXPECT_NE(rig->session.error().find("it needs " + usage + " usage"), std::string::npos)
            << rig->session.error();
        EXPECT_NE(rig->session.error().find("HEARTH_SESSION_ALLOW_STAGING_COPIES"),
                  std::string::npos);
    });
}

TEST_F(Errors, CallsInTheWrongOrderAreRefused) {
    RigOptions options;
    options.set_up = false;
    const auto rig = make_watched_rig(options);
    ASSERT_TRUE(rig);
    // No begin_frame yet.
    ASSERT_TRUE(device()
                    .run([&](VkCommandBuffer commands) {
                        EXPECT_EQ(hearth_record_initialize(rig->session.handle(), commands),
                                  HEARTH_ERROR_INVALID_STATE);
                        EXPECT_EQ(rig->session.error(),
                                  "initialize: call hearth_begin_frame first");
                    })
                    .ok());
    expect_act_refused(*rig, HEARTH_ERROR_INVALID_STATE,
                       "record: call hearth_record_initialize first",
                       [](hearth_record_info&, std::array<hearth_tensor_binding, 2>&) {});
    EXPECT_EQ(hearth_context_destroy(rig->context.handle()), HEARTH_ERROR_INVALID_STATE);
    EXPECT_EQ(rig->context.error(),
              "1 sessions and 1 programs still exist; destroy them before the context");
}

TEST_F(Errors, SerialsMustNotGoBackwards) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    rig->begin(100, 50);
    rig->begin(100, 50);
    rig->begin(200, 150);
    EXPECT_FALSE(rig->context.begin_frame(199, 150).ok());
    EXPECT_FALSE(rig->context.begin_frame(200, 149).ok());
    EXPECT_FALSE(rig->context.begin_frame(200, 200).ok());
    rig->begin(~uint64_t{0}, ~uint64_t{0} - 1);
}

TEST_F(Errors, MoreRecordingsInFlightThanAgreedAreRefused) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) { info.recordings_in_flight = 3; };
    const auto rig = make_watched_rig(options);
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        bounds[1].acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                         VK_ACCESS_SHADER_WRITE_BIT);
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(rig->session.record(info).ok());
        const uint64_t before = VulkanShim::get().command_calls();
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr),
                  HEARTH_ERROR_TOO_MANY_IN_FLIGHT);
        const std::string error(rig->session.error());
        EXPECT_TRUE(
            error.starts_with("entry act: all 3 recordings_in_flight are in flight, because "
                              "the last hearth_begin_frame had completed_frame_number "))
            << error;
        EXPECT_NE(error.find("; pass the newest frame number whose fence or timeline semaphore has "
                             "signalled, or raise recordings_in_flight"),
                  std::string::npos)
            << error;
        EXPECT_EQ(VulkanShim::get().command_calls(), before);
    });
    rig->advance();
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Errors, ByValueBindingsBeyondTheAgreedBytesAreRefused) {
    RigOptions options;
    options.session = [](hearth_session_create_info& info) { info.max_inline_bytes = 300; };
    const auto rig = make_watched_rig(options);
    ASSERT_TRUE(rig);
    static const float values[2 * kWidth] = {};
    expect_act_refused(
        *rig, HEARTH_ERROR_OUT_OF_RANGE,
        "binding x: 768 bytes by value, 512 of max_inline_bytes are left; bind a buffer, or use "
        "HEARTH_SESSION_ALLOW_STAGING_COPIES, which stages more in the upload ring",
        [](hearth_record_info&, std::array<hearth_tensor_binding, 2>& bounds) {
            bounds[0] = hearth_bind_bytes(kActX, values, sizeof values);
        });
}

TEST_F(Errors, UnreadyPipelinesRecordNothing) {
    RigOptions options;
    options.build_pipelines = false;
    const auto rig = make_watched_rig(options);
    ASSERT_TRUE(rig);
    EXPECT_EQ(rig->session.status().pipelines, HEARTH_NOT_READY);
    expect_act_refused(*rig, HEARTH_NOT_READY,
                       "entry act: the pipeline of kernel add_row is not ready; call "
                       "hearth_session_create_pipelines, or wait for the asynchronous one",
                       [](hearth_record_info&, std::array<hearth_tensor_binding, 2>&) {});
    // One at a time; the fourth is the one that `act` needs.
    for (uint32_t i = 0; i < 3; ++i)
        EXPECT_EQ(hearth_session_create_pipelines(rig->session.handle(), 1), HEARTH_NOT_READY);
    EXPECT_EQ(rig->session.status().pipelines_ready, 3u);
    EXPECT_EQ(hearth_session_create_pipelines(rig->session.handle(), 1), HEARTH_OK);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Errors, UploadsAndReadbacksOutsideASlotAreRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        const uint32_t word = 0;
        const auto upload = [&](uint32_t slot, uint64_t offset, uint64_t bytes) {
            return hearth_record_update_variable(rig->session.handle(), commands, slot, offset,
                                                 &word, bytes);
        };
        EXPECT_EQ(upload(2, 0, 4), HEARTH_ERROR_NOT_FOUND);
        EXPECT_EQ(upload(kStateVariable, 2, 4), HEARTH_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(upload(kStateVariable, 0, 3), HEARTH_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(upload(kStateVariable, kWidth * 4, 4), HEARTH_ERROR_OUT_OF_RANGE);
        EXPECT_EQ(rig->session.error(), "update_variable state: [384, +4) exceeds its 384 bytes");
        EXPECT_EQ(upload(kStateVariable, ~uint64_t{0} - 3, 4), HEARTH_ERROR_OUT_OF_RANGE);
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = commands;
        info.variable = kStateVariable;
        info.offset = 380;
        info.byte_count = 8;
        EXPECT_FALSE(rig->session.record_readback(info).ok());
        EXPECT_EQ(rig->session.error(), "readback of state: [380, +8) exceeds its 384 bytes");
    });
}

TEST_F(Errors, StructsWithoutTheirDefaultsAreRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    hearth_record_info info{};
    EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), HEARTH_ERROR_INVALID_ARGUMENT);
    hearth_context_create_info host{};
    hearth_context* context = nullptr;
    hearth_messages report{};
    EXPECT_EQ(hearth_context_create(&host, &context, &report), HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT_STREQ(report.text,
                 "hearth_context_create: info->type is 0, expected 4; make it with "
                 "hearth_context_create_info_default()");
}

TEST_F(Errors, AProgramThatNeedsWhatIsNotEnabledIsRefusedByName) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    if ((device().enabled_features() & HEARTH_FEATURE_SHADER_FLOAT16) != 0)
        GTEST_SKIP() << "shaderFloat16 is enabled";
    const BindingModel model = binding_model(device());
    Program program = TestProgramBuilder(test_shaders(model), model).build();
    const std::span<const uint32_t> shader = needs_float16_shader(model);
    program.kernels[0].spirv.assign(shader.begin(), shader.end());
    program.kernels[0].spec_constants.clear();
    const auto loaded = LoadedProgram::load(rig->context, save_program(program));
    ASSERT_TRUE(loaded.ok());
    const auto session = Session::create(rig->context, loaded.value());
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.status().message(),
              "HEARTH_ERROR_UNSUPPORTED: session: kernel mix: SPIR-V capability Float16 needs "
              "feature shaderFloat16, which is not enabled; enable it when you create the device "
              "(hearth_get_device_requirements lists it)");
}

TEST_F(Errors, ACursorOfAnotherEntryOrBehindItsEndIsRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
        info.max_dispatches = 1;
        ASSERT_EQ(hearth_record(rig->session.handle(), &info, &cursor), HEARTH_INCOMPLETE);
        const uint32_t steps = rig->program.entry(kLearn)->command_count;
        const std::pair<uint32_t, uint32_t> places[] = {
            {kAct, cursor.next_command}, {kLearn, steps}, {kLearn, ~0u}};
        for (const auto& [entry, step] : places) {
            hearth_run_cursor other = cursor;
            other.entry = entry;
            other.next_command = step;
            EXPECT_EQ(hearth_record(rig->session.handle(), &info, &other),
                      HEARTH_ERROR_INVALID_ARGUMENT)
                << step;
            EXPECT_EQ(rig->session.error(),
                      "entry learn: the cursor is of another entry or batch size; pass the one of "
                      "the previous slice, or a zeroed one to start");
        }
    });
}

TEST_F(Errors, AProgramBeyondTheDevicesLimitsIsRefusedByName) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    const BindingModel model = binding_model(device());
    VkPhysicalDeviceProperties properties{};
    device().instance().vk().GetPhysicalDeviceProperties(device().physical_device(), &properties);
    const VkPhysicalDeviceLimits& limits = properties.limits;
    const auto refusal = [&](const auto& change) {
        Program program = TestProgramBuilder(test_shaders(model), model).build();
        change(program);
        const auto loaded = LoadedProgram::load(rig->context, save_program(program));
        if (!loaded.ok()) return loaded.status().message();
        const auto session = Session::create(rig->context, loaded.value());
        return session.ok() ? std::string("none") : session.status().message();
    };
    EXPECT_EQ(refusal([](Program&) {}), "none");
    EXPECT_NE(
        refusal([](Program& p) {
            p.arena_bytes = uint64_t{1} << 60;
        }).find("the program needs a buffer of 1152921504606846976 bytes, the device allows "),
        std::string::npos);
    const auto groups = [&](uint64_t count) {
        return refusal([&](Program& p) { p.commands[0].grid[1] = {{count, 0}, 1}; });
    };
    const uint64_t most = limits.maxComputeWorkGroupCount[1];
    EXPECT_EQ(groups(most), "none");
    if (most < ~0u) {
        EXPECT_NE(groups(most + 1).find(
                      "kernel mix: " + std::to_string(most + 1) +
                      " workgroups along axis 1 at the maximum batch size, the device allows " +
                      std::to_string(most)),
                  std::string::npos)
            << groups(most + 1);
    }
    const uint64_t alignment = limits.minStorageBufferOffsetAlignment;
    const std::string misplaced = refusal([](Program& p) {
        for (Operand& o : p.operands)
            if (o.region == Region::kArena && o.offset == 0) o.offset = 4;
        for (Kernel& k : p.kernels) k.access_bytes = 4;
    });
    if (model == BindingModel::kDescriptor && alignment > 4) {
        EXPECT_NE(misplaced.find("an operand is at offset 4, the device needs multiples of " +
                                 std::to_string(alignment)),
                  std::string::npos)
            << misplaced;
    }
}

TEST_F(Errors, WhatLiesBehindTheLastIsRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        hearth_session* const session = rig->session.handle();
        for (const uint32_t slot : {2u, ~0u}) {
            hearth_buffer_range range = hearth_buffer_range_default();
            EXPECT_EQ(hearth_session_get_variable_buffer(session, slot, &range),
                      HEARTH_ERROR_NOT_FOUND);
            hearth_readback_info read = hearth_readback_info_default();
            read.command_buffer = commands;
            read.variable = slot;
            hearth_readback id = 0;
            EXPECT_EQ(hearth_record_readback(session, &read, &id), HEARTH_ERROR_NOT_FOUND);
        }
        hearth_sync_scope scope{};
        EXPECT_EQ(hearth_session_get_binding_scope(session, kAct, kActX, 0, &scope), HEARTH_OK);
        for (const uint32_t entry : {2u, ~0u})
            EXPECT_EQ(hearth_session_get_binding_scope(session, entry, kActX, 0, &scope),
                      HEARTH_ERROR_NOT_FOUND);
        for (const uint32_t binding : {kLearnRate, 5u, ~0u})
            EXPECT_EQ(hearth_session_get_binding_scope(session, kAct, binding, 0, &scope),
                      HEARTH_ERROR_NOT_FOUND);
        // The last words of a slot are still its own.
        const uint32_t word = 0;
        EXPECT_EQ(hearth_record_update_variable(session, commands, kStateVariable, kWidth * 4 - 4,
                                                &word, 4),
                  HEARTH_OK);
        EXPECT_EQ(hearth_record_update_variable(session, commands, kStateVariable, 0, &word, 0),
                  HEARTH_ERROR_INVALID_ARGUMENT);
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        read.variable = kStateVariable;
        read.offset = kWidth * 4 - 4;
        read.byte_count = 4;
        EXPECT_TRUE(rig->session.record_readback(read).ok());
    });
}

TEST_F(Errors, BeforeSetupNothingIsUploadedOrRead) {
    RigOptions options;
    options.set_up = false;
    const auto rig = make_watched_rig(options);
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        hearth_session* const session = rig->session.handle();
        const uint32_t word = 0;
        EXPECT_EQ(hearth_record_update_variable(session, commands, kStateVariable, 0, &word, 4),
                  HEARTH_ERROR_INVALID_STATE);
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        read.variable = kStateVariable;
        hearth_readback id = 0;
        EXPECT_EQ(hearth_record_readback(session, &read, &id), HEARTH_ERROR_INVALID_STATE);
    });
}

TEST_F(Errors, ARunBlockThatKernelsCannotReachIsRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    const standalone::Buffer buffer = make_buffer(1024, standalone::MemoryKind::kDevice);
    rig->frame([&](VkCommandBuffer commands) {
        const auto with = [&](const auto& change) {
            std::array<hearth_tensor_binding, 2> bounds;
            hearth_record_info info = rig->act_info(commands, 2, bounds);
            hearth_tensor_binding run = rig->bind(0, buffer, 16);
            change(run);
            info.indirect_batch_buffer = &run;
            const hearth_result result = hearth_record(rig->session.handle(), &info, nullptr);
            EXPECT_EQ(result, HEARTH_ERROR_INVALID_ARGUMENT);
            return std::string(rig->session.error().substr(0, 11));
        };
        const std::string expected = "indirect_ba";
        EXPECT_EQ(with([](hearth_tensor_binding& run) { run.buffer = VK_NULL_HANDLE; }), expected);
        EXPECT_EQ(with([](hearth_tensor_binding& run) { run.bytes = 12; }), expected);
        EXPECT_EQ(with([](hearth_tensor_binding& run) { run.offset = 8; }), expected);
        EXPECT_EQ(
            with([](hearth_tensor_binding& run) { run.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT; }),
            expected);
    });
}

TEST_F(Errors, SettingsOfASessionOutOfRangeAreRefused) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    const auto refusal = [&](const auto& change) {
        hearth_session_create_info info = hearth_session_create_info_default();
        change(info);
        const auto session = Session::create(rig->context, rig->program, info);
        return session.ok() ? std::string("none") : session.status().message();
    };
    using Info = hearth_session_create_info;
    EXPECT_EQ(
        refusal([](Info& info) { info.recordings_in_flight = 0; }),
        "HEARTH_ERROR_INVALID_ARGUMENT: session: recordings_in_flight is 0, expected 1 or more");
    EXPECT_EQ(refusal([](Info& info) { info.max_inline_bytes = 65536; }), "none");
    EXPECT_EQ(
        refusal([](Info& info) { info.max_inline_bytes = 65537; }),
        "HEARTH_ERROR_OUT_OF_RANGE: session: max_inline_bytes is 65537, expected at most 65536");
}

TEST_F(Errors, AContextWithAProgramAloneIsNotDestroyed) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    rig->session = Session();
    EXPECT_EQ(hearth_context_destroy(rig->context.handle()), HEARTH_ERROR_INVALID_STATE);
    EXPECT_EQ(rig->context.error(),
              "0 sessions and 1 programs still exist; destroy them before the context");
}

TEST_F(Errors, AProgramForOtherMatricesOrSubgroupsIsRefusedByName) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    const BindingModel model = binding_model(device());
    Program program = TestProgramBuilder(test_shaders(model), model).build();
    const auto refusal = [&] {
        const auto loaded = LoadedProgram::load(rig->context, save_program(program));
        if (!loaded.ok()) return loaded.status().message();
        const auto session = Session::create(rig->context, loaded.value());
        return session.ok() ? std::string("none") : session.status().message();
    };
    program.kernels[0].needs_matrix_cores = CooperativeMatrixExt::kKhr;
    program.kernels[0].matrix = {64, 64, 64};  // no device has this
    // "cooperative matrices of 64x64x64", or the feature cooperativeMatrix where there are none.
    EXPECT_NE(refusal().find("kernel mix: "), std::string::npos) << refusal();
    EXPECT_NE(refusal().find("atri"), std::string::npos) << refusal();
    program.kernels[0].needs_workgroup_matrices = true;
    program.kernels[0].matrix = {1, 1, 1};  // smaller than any device's
    EXPECT_NE(refusal().find("kernel mix: "), std::string::npos) << refusal();
    EXPECT_NE(refusal().find("atri"), std::string::npos) << refusal();
    program.kernels[0].needs_workgroup_matrices = false;
    program.kernels[0].needs_matrix_cores = CooperativeMatrixExt::kNone;
    program.kernels[0].subgroup_size = 3;
    EXPECT_NE(refusal().find("kernel mix: needs subgroups of 3, the device's have "),
              std::string::npos)
        << refusal();
    program.kernels[0].subgroup_size = 0;
    EXPECT_EQ(refusal(), "none");
}

TEST_F(Errors, AProgramOfTheOtherBindingModelIsRefusedUnlessItIsEnabledToo) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    if (test_setting("HEARTH_TEST_FEATURES") != "required")
        GTEST_SKIP() << "both binding models may be enabled";
    const bool addresses = binding_model(device()) == BindingModel::kDeviceAddress;
    const BindingModel other = addresses ? BindingModel::kDescriptor : BindingModel::kDeviceAddress;
    const Program program = TestProgramBuilder(test_shaders(other), other).build();
    const auto loaded = LoadedProgram::load(rig->context, save_program(program));
    ASSERT_TRUE(loaded.ok());
    const auto session = Session::create(rig->context, loaded.value());
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.status().message(),
              addresses ? "HEARTH_ERROR_UNSUPPORTED: session: the program needs extension "
                          "VK_KHR_push_descriptor, which is not enabled; enable it when you create "
                          "the device (hearth_get_device_requirements lists it)"
                        : "HEARTH_ERROR_UNSUPPORTED: session: the program needs feature "
                          "bufferDeviceAddress, which is not enabled; enable it when you create "
                          "the device (hearth_get_device_requirements lists it)");
}

TEST_F(Errors, CorruptProgramsAreRefusedAndTheContextGoesOn) {
    const auto rig = make_watched_rig();
    ASSERT_TRUE(rig);
    std::vector<std::byte> bytes(100);
    EXPECT_EQ(LoadedProgram::load(rig->context, bytes).status().message(),
              "HEARTH_ERROR_CORRUPT_DATA: program: shorter than its header, so the file is "
              "truncated; copy it again");
    bytes.resize(1000);
    EXPECT_EQ(LoadedProgram::load(rig->context, bytes).status().message(),
              "HEARTH_ERROR_CORRUPT_DATA: program: not a Hearth program; found another kind of "
              "file; give "
              "the output of `hearth cook`, compile() or cook()");
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

}  // namespace
}  // namespace hearth::test
