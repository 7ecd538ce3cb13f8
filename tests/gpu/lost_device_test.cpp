// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A device that is lost: each function of hearth.h that would use it says so at once and calls
// nothing of Vulkan; the others answer as ever.

#include "gpu/rig.hpp"
#include "hearth_functions.h"
#include "program/package.hpp"
#include "support/vulkan_shim.hpp"

#include <hearth/brain.hpp>

#include <algorithm>
#include <map>

namespace hearth::test {
namespace {

/// What `call` returns on a context of the CPU that the host calls lost.
template <class F>
hearth_result on_lost_cpu(F call) {
    const hearth_cpu_context_create_info info = hearth_cpu_context_create_info_default();
    hearth_context* context = nullptr;
    if (const hearth_result r = hearth_context_create_cpu(&info, &context, nullptr); r != HEARTH_OK)
        return r;
    hearth_context_notify_device_lost(context);
    const hearth_result result = call(context);
    return hearth_context_destroy(context) == HEARTH_OK ? result : HEARTH_ERROR_INTERNAL;
}

class LostDevice : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        VulkanShim::get().reset();
    }
};

TEST_F(LostDevice, ALostDeviceMakesEveryCallReturnAtOnce) {
    RigOptions options;
    options.host = [](hearth_context_create_info& info) {
        VulkanShim::get().intercept(info);
        info.submit_task = [](void*, void (*job)(void*), void* data) { job(data); };
    };
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_TIMESTAMP_RUNS | HEARTH_SESSION_COLLECT_GPU_TIMINGS |
                     HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kWidth, 1);
    (void)rig->act(x);
    hearth_readback arrived = 0, pending = 0;
    rig->frame([&](VkCommandBuffer commands) {
        arrived = rig->session.record_readback(commands, kStateVariable).value();
    });
    rig->advance();
    rig->frame([&](VkCommandBuffer commands) {
        pending = rig->session.record_readback(commands, kStateVariable).value();
    });
    rig->finish();
    hearth_arena* arena = nullptr;
    ASSERT_EQ(hearth_arena_create(rig->context.handle(), 256, &arena), HEARTH_OK);
    hearth_image_converter* converter = nullptr;
    hearth_image_converter_create_info reader = hearth_image_converter_create_info_default();
    reader.format = VK_FORMAT_R32_SFLOAT;
    ASSERT_EQ(hearth_image_converter_create(rig->context.handle(), &reader, &converter), HEARTH_OK);
    const BindingModel model = binding_model(device());
    const Program built = TestProgramBuilder(test_shaders(model), model).build();
    const std::vector<std::byte> program_bytes = save_program(built);
    PackageContents contents;
    contents.device_targets.push_back({"fits", built, 0, 0});
    const std::vector<std::byte> package_bytes = save_package(std::move(contents)).value();
    const std::vector<std::byte> brain = *save_brain(*initial_brain(program_bytes));
    const std::vector<std::byte> snapshot(static_cast<size_t>(rig->program.brain_size()));

    hearth_context* const context = rig->context.handle();
    hearth_program* const program = rig->program.handle();
    hearth_session* const session = rig->session.handle();
    const auto commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{1});
    const uint64_t serial = rig->serial();
    hearth_device_requirements_info query = hearth_device_requirements_info_default();
    query.instance = instance().handle();
    query.physical_device = device().physical_device();
    query.get_instance_proc_addr = instance().vk().GetInstanceProcAddr;
    query.api_version = device().api_version();
    query.binding_model = device().binding_model();

    using Call = std::function<hearth_result()>;
    // What would use the device.
    const std::map<std::string_view, Call> refused = {
        {"hearth_begin_frame", [&] { return hearth_begin_frame(context, serial + 1, serial); }},
        {"hearth_discard_frame", [&] { return hearth_discard_frame(context, serial, nullptr); }},
        {"hearth_context_save_pipeline_cache",
         [&] {
             uint64_t bytes = 0;
             return hearth_context_save_pipeline_cache(context, nullptr, &bytes);
         }},
        {"hearth_program_load",
         [&] {
             hearth_program_load_info info = hearth_program_load_info_default();
             info.bytes = program_bytes.data();
             info.byte_count = program_bytes.size();
             hearth_program* out = nullptr;
             return hearth_program_load(context, &info, &out);
         }},
        {"hearth_package_load",
         [&] {
             hearth_package_load_info info = hearth_package_load_info_default();
             info.bytes = package_bytes.data();
             info.byte_count = package_bytes.size();
             hearth_program* out = nullptr;
             return hearth_package_load(context, &info, &out);
         }},
        {"hearth_session_get_memory_requirements",
         [&] {
             hearth_session_create_info info = hearth_session_create_info_default();
             info.program = program;
             hearth_memory_requirements needs = hearth_memory_requirements_default();
             return hearth_session_get_memory_requirements(context, &info, &needs);
         }},
        {"hearth_arena_create",
         [&] {
             hearth_arena* out = nullptr;
             return hearth_arena_create(context, 256, &out);
         }},
        {"hearth_session_create",
         [&] {
             hearth_session_create_info info = hearth_session_create_info_default();
             info.program = program;
             hearth_session* out = nullptr;
             return hearth_session_create(context, &info, &out);
         }},
        {"hearth_image_converter_create",
         [&] {
             hearth_image_converter* out = nullptr;
             return hearth_image_converter_create(context, &reader, &out);
         }},
        {"hearth_record_convert_image",
         [&] {
             const hearth_image_conversion_info info = hearth_image_conversion_info_default();
             return hearth_record_convert_image(converter, &info);
         }},
        {"hearth_session_create_pipelines",
         [&] { return hearth_session_create_pipelines(session, 0); }},
        {"hearth_session_create_pipelines_async",
         [&] { return hearth_session_create_pipelines_async(session); }},
        {"hearth_record",
         [&] {
             std::array<hearth_tensor_binding, 2> bounds;
             const hearth_record_info info = rig->act_info(commands, 1, bounds);
             return hearth_record(session, &info, nullptr);
         }},
        {"hearth_record_initialize", [&] { return hearth_record_initialize(session, commands); }},
        {"hearth_record_update_variable",
         [&] {
             const float value = 0;
             return hearth_record_update_variable(session, commands, kStateVariable, 0, &value, 4);
         }},
        {"hearth_record_readback",
         [&] {
             hearth_readback_info info = hearth_readback_info_default();
             info.command_buffer = commands;
             hearth_readback out = 0;
             return hearth_record_readback(session, &info, &out);
         }},
        {"hearth_readback_poll",
         [&] {
             const void* data = nullptr;
             uint64_t bytes = 0, of = 0;
             EXPECT_EQ(hearth_readback_poll(session, pending, &data, &bytes, &of),
                       HEARTH_ERROR_DEVICE_LOST);
             return hearth_readback_poll(session, arrived, &data, &bytes, &of);
         }},
        {"hearth_record_save_brain",
         [&] {
             hearth_readback out = 0;
             return hearth_record_save_brain(session, commands, &out);
         }},
        {"hearth_record_save_game",
         [&] {
             hearth_readback out = 0;
             return hearth_record_save_game(session, commands, &out);
         }},
        {"hearth_record_load_brain",
         [&] {
             return hearth_record_load_brain(session, commands, brain.data(), brain.size(), 0,
                                             nullptr);
         }},
        {"hearth_record_copy_variables",
         [&] { return hearth_record_copy_variables(session, session, commands, nullptr, 0); }},
        {"hearth_record_queue_transfer",
         [&] {
             return hearth_record_queue_transfer(session, commands, HEARTH_QUEUE_FAMILY_SAME,
                                                 HEARTH_QUEUE_FAMILY_SAME);
         }},
        {"hearth_record_dump",
         [&] {
             std::array<hearth_tensor_binding, 2> bounds;
             const hearth_record_info info = rig->act_info(commands, 1, bounds);
             hearth_readback out = 0;
             return hearth_record_dump(session, &info, HEARTH_NO_COMMAND, &out);
         }},
        {"hearth_session_dump",
         [&] {
             const hearth_session_dump_info info = hearth_session_dump_info_default();
             return hearth_session_dump(session, &info);
         }},
        {"hearth_record_reset_variables",
         [&] { return hearth_record_reset_variables(session, commands, nullptr, nullptr); }},
        {"hearth_cpu_command_buffer_execute",
         [&] { return hearth_cpu_command_buffer_execute(context, commands); }},
        {"hearth_session_next_timings",
         [&] {
             hearth_timings profile = hearth_timings_default();
             return hearth_session_next_timings(session, &profile);
         }},
    };
    const auto said = [](const char* text) {
        return text != nullptr ? HEARTH_OK : HEARTH_ERROR_INTERNAL;
    };
    // No binding of this program has named elements, which is known without a device.
    const auto not_found = [](hearth_result result) {
        return result == HEARTH_ERROR_NOT_FOUND ? HEARTH_OK : HEARTH_ERROR_INTERNAL;
    };
    uint32_t index = 0;
    const char* element = nullptr;
    // What is known without it.  The last ones end things.
    const std::vector<std::pair<std::string_view, Call>> answered = {
        {"hearth_context_notify_device_lost",
         [&] { return hearth_context_notify_device_lost(context), HEARTH_OK; }},
        {"hearth_result_name", [&] { return said(hearth_result_name(HEARTH_OK)); }},
        {"hearth_version",
         [] { return hearth_version() == HEARTH_VERSION ? HEARTH_OK : HEARTH_ERROR_INTERNAL; }},
        {"hearth_check_version", [] { return hearth_check_version(HEARTH_VERSION); }},
        {"hearth_build_info", [&] { return said(hearth_build_info()); }},
        {"hearth_feature_name", [&] { return said(hearth_feature_name(1)); }},
        {"hearth_get_instance_requirements",
         [] {
             hearth_requirements out = hearth_requirements_default();
             return hearth_get_instance_requirements(&out);
         }},
        {"hearth_get_device_requirements",
         [&] {
             hearth_requirements out = hearth_requirements_default();
             return hearth_get_device_requirements(&query, &out, nullptr);
         }},
        {"hearth_get_enabled_features",
         [&] { return hearth_get_enabled_features(nullptr, nullptr), HEARTH_OK; }},
        {"hearth_enable_features",
         [] {
             VkPhysicalDeviceFeatures2 chain{};
             chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
             size_t bytes = 0;
             return hearth_enable_features(1, VK_API_VERSION_1_2, &chain, nullptr, &bytes);
         }},
        {"hearth_get_device_caps",
         [&] {
             hearth_device_caps out = hearth_device_caps_default();
             return hearth_get_device_caps(&query, 0, &out);
         }},
        {"hearth_context_error", [&] { return said(hearth_context_error(context)); }},
        {"hearth_context_get_device_caps",
         [&] {
             hearth_device_caps out = hearth_device_caps_default();
             return hearth_context_get_device_caps(context, &out);
         }},
        {"hearth_context_get_stats",
         [&] {
             hearth_context_stats out = hearth_context_stats_default();
             return hearth_context_get_stats(context, &out);
         }},
        {"hearth_package_get_info",
         [&] {
             hearth_package_info out = hearth_package_info_default();
             return hearth_package_get_info(package_bytes.data(), package_bytes.size(), &out,
                                            nullptr);
         }},
        {"hearth_program_get_info",
         [&] {
             hearth_program_info out = hearth_program_info_default();
             return hearth_program_get_info(program, &out);
         }},
        {"hearth_program_get_entry",
         [&] {
             hearth_entry_info out = hearth_entry_info_default();
             return hearth_program_get_entry(program, 0, &out);
         }},
        {"hearth_program_get_command",
         [&] {
             hearth_command_info out = hearth_command_info_default();
             return hearth_program_get_command(program, kAct, 0, &out);
         }},
        {"hearth_program_get_mutated_variables",
         [&] { return hearth_program_get_mutated_variables(program, kAct, nullptr, &index); }},
        {"hearth_program_get_binding",
         [&] {
             hearth_binding_info out = hearth_binding_info_default();
             return hearth_program_get_binding(program, 0, &out);
         }},
        {"hearth_program_get_variable",
         [&] {
             hearth_variable_info out = hearth_variable_info_default();
             return hearth_program_get_variable(program, 0, &out);
         }},
        {"hearth_program_get_agent_manifest",
         [&] {
             const void* bytes = nullptr;
             uint64_t byte_count = 0;
             const hearth_result result =
                 hearth_program_get_agent_manifest(program, &bytes, &byte_count);
             return result == HEARTH_ERROR_NOT_FOUND ? HEARTH_OK : result;  // there are none
         }},
        {"hearth_program_find_entry",
         [&] { return hearth_program_find_entry(program, "act", &index); }},
        {"hearth_program_find_binding",
         [&] { return hearth_program_find_binding(program, kAct, "x", &index); }},
        {"hearth_program_find_variable",
         [&] { return hearth_program_find_variable(program, "state", &index); }},
        {"hearth_program_get_scalar",
         [&] { return not_found(hearth_program_get_scalar(program, 0, 0, &element)); }},
        {"hearth_program_find_scalar",
         [&] { return not_found(hearth_program_find_scalar(program, 0, "loss", &index)); }},
        {"hearth_program_error", [&] { return said(hearth_program_error(program)); }},
        {"hearth_program_get_brain_size",
         [&] {
             return hearth_program_get_brain_size(program) > 0 ? HEARTH_OK : HEARTH_ERROR_INTERNAL;
         }},
        {"hearth_program_get_initial_snapshot",
         [&] {
             std::vector<std::byte> out(hearth_program_get_brain_size(program));
             return hearth_program_get_initial_snapshot(program, out.data(), out.size());
         }},
        {"hearth_program_get_saved_game_size",
         [&] {
             return hearth_program_get_saved_game_size(program) > 0 ? HEARTH_OK
                                                                    : HEARTH_ERROR_INTERNAL;
         }},
        {"hearth_program_get_dump_size",
         [&] {
             return hearth_program_get_dump_size(program, kAct, 1, HEARTH_NO_COMMAND) > 0
                        ? HEARTH_OK
                        : HEARTH_ERROR_INTERNAL;
         }},
        {"hearth_dump_encode",
         [&] {
             const hearth_dump_info info = hearth_dump_info_default();
             uint64_t bytes = 0;
             return hearth_dump_encode(session, &info, nullptr, &bytes);
         }},
        {"hearth_image_converter_error",
         [&] { return said(hearth_image_converter_error(converter)); }},
        {"hearth_session_error", [&] { return said(hearth_session_error(session)); }},
        {"hearth_session_to_json",
         [&] {
             uint64_t bytes = 0;
             return hearth_session_to_json(session, nullptr, &bytes);
         }},
        {"hearth_session_estimate_gpu_time",
         [&] {
             double us = 0;
             return hearth_session_estimate_gpu_time(session, kAct, 1, nullptr, &us);
         }},
        {"hearth_session_get_status",
         [&] {
             hearth_session_status out = hearth_session_status_default();
             return hearth_session_get_status(session, &out);
         }},
        {"hearth_session_get_variable_buffer",
         [&] {
             hearth_buffer_range out = hearth_buffer_range_default();
             return hearth_session_get_variable_buffer(session, kStateVariable, &out);
         }},
        {"hearth_session_get_binding_scope",
         [&] {
             hearth_sync_scope out{};
             return hearth_session_get_binding_scope(session, kAct, kActX, 0, &out);
         }},
        {"hearth_brain_get_info",
         [&] {
             hearth_brain_info out = hearth_brain_info_default();
             return hearth_brain_get_info(brain.data(), brain.size(), &out, nullptr);
         }},
        {"hearth_brain_encode",
         [&] {
             hearth_brain_save_info info = hearth_brain_save_info_default();
             info.snapshot = snapshot.data();
             info.snapshot_bytes = snapshot.size();
             uint64_t bytes = 0;
             return hearth_brain_encode(program, &info, nullptr, &bytes);
         }},
        {"hearth_brain_check",
         [&] { return hearth_brain_check(program, brain.data(), brain.size(), 0, nullptr); }},
        {"hearth_brain_extract_weights",
         [&] {
             uint64_t bytes = 0;
             return hearth_brain_extract_weights(brain.data(), brain.size(), nullptr, &bytes,
                                                 nullptr);
         }},
        {"hearth_sha256",
         [&] {
             uint8_t hash[32] = {};
             hearth_sha256(brain.data(), brain.size(), hash);
             return std::count(hash, hash + 32, 0) < 32 ? HEARTH_OK : HEARTH_ERROR_INTERNAL;
         }},
        {"hearth_readback_release",
         [&] { return hearth_readback_release(session, arrived), HEARTH_OK; }},
        // A new context on a device of which Hearth does not know yet that it is lost.
        {"hearth_context_create",
         [&] {
             const hearth_context_create_info info = device().host_info();
             hearth_context* out = nullptr;
             const hearth_result result = hearth_context_create(&info, &out, nullptr);
             (void)hearth_context_destroy(out);
             return result;
         }},
        // A CPU is never lost, but a host may say that it is.
        {"hearth_detect_cpu_isa",
         [&] {
             return hearth_detect_cpu_isa() != HEARTH_CPU_ISA_NONE ? HEARTH_OK
                                                                   : HEARTH_ERROR_INTERNAL;
         }},
        {"hearth_context_create_cpu", [&] { return on_lost_cpu([](auto*) { return HEARTH_OK; }); }},
        {"hearth_cpu_command_buffer_create",
         [&] {
             return on_lost_cpu([](hearth_context* cpu) {
                 VkCommandBuffer own = nullptr;
                 const hearth_result result = hearth_cpu_command_buffer_create(cpu, &own);
                 hearth_cpu_command_buffer_destroy(cpu, own);
                 return result;
             });
         }},
        {"hearth_cpu_command_buffer_destroy",
         [&] {
             return on_lost_cpu([](hearth_context* cpu) {
                 hearth_cpu_command_buffer_destroy(cpu, nullptr);
                 return HEARTH_OK;
             });
         }},
        {"hearth_cpu_command_buffer_reset",
         [&] {
             return on_lost_cpu([](hearth_context* cpu) {
                 VkCommandBuffer own = nullptr;
                 (void)hearth_cpu_command_buffer_create(cpu, &own);
                 const hearth_result result = hearth_cpu_command_buffer_reset(cpu, own);
                 hearth_cpu_command_buffer_destroy(cpu, own);
                 return result;
             });
         }},
        {"hearth_cpu_buffer_import",
         [&] {
             return on_lost_cpu([](hearth_context* cpu) {
                 alignas(16) std::byte memory[16];
                 VkBuffer buffer = VK_NULL_HANDLE;
                 const hearth_result result =
                     hearth_cpu_buffer_import(cpu, memory, sizeof memory, &buffer);
                 hearth_cpu_buffer_destroy(cpu, buffer);
                 return result;
             });
         }},
        {"hearth_cpu_buffer_destroy",
         [&] {
             return on_lost_cpu([](hearth_context* cpu) {
                 hearth_cpu_buffer_destroy(cpu, VK_NULL_HANDLE);
                 return HEARTH_OK;
             });
         }},
        {"hearth_arena_destroy", [&] { return hearth_arena_destroy(arena), HEARTH_OK; }},
        {"hearth_image_converter_destroy",
         [&] { return hearth_image_converter_destroy(converter), HEARTH_OK; }},
        {"hearth_session_destroy",
         [&] {
             hearth_session_destroy(session);
             new (&rig->session) Session();
             return HEARTH_OK;
         }},
        {"hearth_program_destroy",
         [&] {
             hearth_program_destroy(program);
             new (&rig->program) LoadedProgram();
             return HEARTH_OK;
         }},
        {"hearth_context_destroy",
         [&] {
             new (&rig->context) Context();
             return hearth_context_destroy(context);
         }},
    };
    const auto is_answered = [&](std::string_view name) {
        return std::any_of(answered.begin(), answered.end(),
                           [&](const auto& call) { return call.first == name; });
    };
    for (const char* function : kFunctions)
        EXPECT_TRUE(refused.contains(function) != is_answered(function))
            << function << ": what becomes of it on a lost device?";
    EXPECT_EQ(std::size(kFunctions), refused.size() + answered.size());

    hearth_context_notify_device_lost(context);
    const uint64_t before = VulkanShim::get().total_calls();
    EXPECT_NE(rig->context.error(), "") << "known before any call fails";
    for (const auto& [name, call] : refused) {
        // Leaves another failure's message in context and session.
        hearth_buffer_range range = hearth_buffer_range_default();
        EXPECT_EQ(hearth_context_destroy(context), HEARTH_ERROR_INVALID_STATE);
        EXPECT_EQ(hearth_session_get_variable_buffer(session, ~0u, &range), HEARTH_ERROR_NOT_FOUND);
        EXPECT_EQ(call(), HEARTH_ERROR_DEVICE_LOST) << name;
        if (name == "hearth_context_save_pipeline_cache")
            continue;  // any thread: writes no message
        const std::string all =
            std::string(hearth_context_error(context)) + hearth_session_error(session) +
            (name == "hearth_record_convert_image" ? hearth_image_converter_error(converter) : "");
        EXPECT_NE(all.find("the device is lost; destroy the context and create a new one with a "
                           "new device"),
                  std::string::npos)
            << name << ": " << all;
    }
    EXPECT_EQ(VulkanShim::get().total_calls(), before);
    for (const auto& [name, call] : answered) EXPECT_EQ(call(), HEARTH_OK) << name;
}

}  // namespace
}  // namespace hearth::test
