// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Wrong arguments: the sentence names the argument that is wrong, and no other.

#include "gpu/rig.hpp"
#include "hearth_functions.h"
#include "support/vulkan_shim.hpp"

#include <hearth/hearth_agents.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

namespace hearth::test {
namespace {

using Arguments = RuntimeTest;

constexpr hearth_result kInvalid = HEARTH_ERROR_INVALID_ARGUMENT;

template <class T>
constexpr bool kIsHandle =
    std::is_same_v<T, hearth_context> || std::is_same_v<T, hearth_program> ||
    std::is_same_v<T, hearth_session> || std::is_same_v<T, hearth_arena> ||
    std::is_same_v<T, hearth_image_converter> || std::is_same_v<T, hearth_agents>;

/// Calls a function of the C interface with this as its handle and zeros otherwise.
template <class Result, class Handle, class... Rest>
Result call_on(Result (*function)(Handle*, Rest...), const void* handle) {
    return function(static_cast<Handle*>(const_cast<void*>(handle)), Rest{}...);
}

/// Whether a function says of a handle that it is none; empty for functions without a handle.
template <class Result, class First, class... Rest>
std::optional<bool> refuses(Result (*function)(First, Rest...), const void* handle) {
    if constexpr (!std::is_pointer_v<First> ||
                  !kIsHandle<std::remove_cv_t<std::remove_pointer_t<First>>>)
        return {};
    else if constexpr (std::is_void_v<Result>)
        return call_on(function, handle), true;
    else if constexpr (std::is_same_v<Result, hearth_result>)
        return call_on(function, handle) == HEARTH_ERROR_INVALID_ARGUMENT;
    else if constexpr (std::is_same_v<Result, const char*>)
        return *call_on(function, handle) == '\0';
    else
        return call_on(function, handle) == Result{};
}
template <class Result>
std::optional<bool> refuses(Result (*)(), const void*) {
    return {};
}

/// Leaves a sentence in the session's error that none of the calls to come is to be blamed with.
void fail_otherwise(Rig& rig) {
    const uint32_t word = 0;
    EXPECT_EQ(hearth_record_update_variable(
                  rig.session.handle(), reinterpret_cast<VkCommandBuffer>(&rig), 99, 0, &word, 4),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_EQ(rig.session.error(), "update_variable: variable is 99, expected less than 2");
}

TEST_F(Arguments, ADestroyedSessionIsRefusedFromTheSameFrameOn) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        hearth_session* const session = rig->session.handle();
        const hearth_readback request =
            rig->session.record_readback(commands, kStateVariable).value();
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        hearth_session_destroy(session);
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        hearth_readback id = 0;
        hearth_session_status status = hearth_session_status_default();
        hearth_buffer_range range = hearth_buffer_range_default();
        hearth_timings profile = hearth_timings_default();
        hearth_sync_scope scope{};
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        const uint64_t word = 0;
        double us = 0;
        const std::pair<const char*, hearth_result> results[] = {
            {"record", hearth_record(session, &info, nullptr)},
            {"setup", hearth_record_initialize(session, commands)},
            {"upload",
             hearth_record_update_variable(session, commands, kStateVariable, 0, &word, 4)},
            {"readback", hearth_record_readback(session, &read, &id)},
            {"snapshot", hearth_record_save_brain(session, commands, &id)},
            {"brain", hearth_record_load_brain(session, commands, &word, 8, 0, nullptr)},
            {"forget", hearth_record_reset_variables(session, commands, nullptr, nullptr)},
            {"copy_slots", hearth_record_copy_variables(session, session, commands, nullptr, 0)},
            {"queue_transfer", hearth_record_queue_transfer(session, commands, 0, 0)},
            {"poll", hearth_readback_poll(session, request, &data, &bytes, &serial)},
            {"build", hearth_session_create_pipelines(session, 0)},
            {"build_async", hearth_session_create_pipelines_async(session)},
            {"predict", hearth_session_estimate_gpu_time(session, kAct, 1, nullptr, &us)},
            {"status", hearth_session_get_status(session, &status)},
            {"variable_buffer",
             hearth_session_get_variable_buffer(session, kStateVariable, &range)},
            {"scope", hearth_session_get_binding_scope(session, kAct, kActX, 0, &scope)},
            {"profile", hearth_session_next_timings(session, &profile)},
        };
        for (const auto& [call, result] : results) EXPECT_EQ(result, kInvalid) << call;
        EXPECT_EQ(rig->session.error(), "hearth_session_next_timings: the session was destroyed");
        EXPECT_EQ(rig->context.stats().session_count, 0u);
        hearth_session_destroy(session);  // a second time: nothing happens
        EXPECT_EQ(rig->context.stats().session_count, 0u);
        hearth_readback_release(session, request);
        new (&rig->session) Session();  // the handle is spent
    });
}

TEST(Handles, WhatIsNoHandleIsRefusedByEachFunction) {
    const std::array<uint64_t, 512> zeros{};
    int count = 0;
    const auto expect_refusal = [&](const char* name, auto* function) {
        const auto of_zeros = refuses(function, zeros.data());
        if (!of_zeros) return;
        ++count;
        EXPECT_TRUE(*of_zeros) << name << " takes what is no handle";
        if (std::string_view(name) == "hearth_context_destroy")
            EXPECT_EQ(hearth_context_destroy(nullptr), HEARTH_OK);
        else
            EXPECT_TRUE(*refuses(function, nullptr)) << name << " takes null";
    };
#define EXPECT_REFUSAL(function) expect_refusal(#function, &function);
    HEARTH_EACH_FUNCTION(EXPECT_REFUSAL)
#undef EXPECT_REFUSAL
    EXPECT_GE(count, 80);
}

/// Calls each function on a handle that is one, with zeros otherwise: nothing to end, and no
/// success but these.
template <class Handle>
void expect_zeros_are_refused(const void* handle, std::initializer_list<std::string_view> allowed,
                              int least_functions) {
    int count = 0;
    const auto expect_error = [&]<class Result, class First, class... Rest>(
                                  const char* name, Result (*function)(First, Rest...)) {
        if constexpr (std::is_pointer_v<First>) {
            if constexpr (std::is_same_v<std::remove_cv_t<std::remove_pointer_t<First>>, Handle>) {
                if (std::string_view(name).ends_with("_destroy") ||
                    std::string_view(name).ends_with("_device_lost"))
                    return;
                ++count;
                if constexpr (std::is_same_v<Result, hearth_result>) {
                    const hearth_result result = call_on(function, handle);
                    const bool is_allowed =
                        std::find(allowed.begin(), allowed.end(), name) != allowed.end();
                    EXPECT_EQ(result == HEARTH_OK, is_allowed)
                        << name << " gives " << hearth_result_name(result);
                } else {
                    (void)call_on(function, handle);
                }
            }
        }
    };
    const auto look = [&](const char* name, auto* function) {
        if constexpr (!std::is_invocable_v<decltype(function)>) expect_error(name, function);
    };
#define EXPECT_ERROR(function) look(#function, &function);
    HEARTH_EACH_FUNCTION(EXPECT_ERROR)
#undef EXPECT_ERROR
    EXPECT_GE(count, least_functions);
}

TEST_F(Arguments, ZerosAreRefusedByEachFunction) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    expect_zeros_are_refused<hearth_context>(rig->context.handle(), {}, 10);
    expect_zeros_are_refused<hearth_program>(rig->program.handle(), {}, 14);
    expect_zeros_are_refused<hearth_session>(rig->session.handle(),
                                             {"hearth_session_create_pipelines"}, 16);
}

TEST_F(Arguments, ANullArgumentIsNamed) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        hearth_session* const session = rig->session.handle();
        hearth_context* const context = rig->context.handle();
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        hearth_session_create_info create = hearth_session_create_info_default();
        hearth_session* other = nullptr;
        hearth_readback id = 0;
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        const auto session_says = [&](hearth_result result, std::string_view sentence) {
            EXPECT_EQ(result, kInvalid) << sentence;
            EXPECT_EQ(rig->session.error(), sentence);
            fail_otherwise(*rig);
        };
        const auto context_says = [&](hearth_result result, std::string_view sentence) {
            EXPECT_EQ(result, kInvalid) << sentence;
            EXPECT_EQ(rig->context.error(), sentence);
        };
        fail_otherwise(*rig);
        session_says(hearth_record(session, nullptr, nullptr), "hearth_record: info is null");
        session_says(hearth_record_readback(session, nullptr, &id),
                     "hearth_record_readback: info is null");
        session_says(hearth_record_readback(session, &read, nullptr),
                     "hearth_record_readback: out is null");
        session_says(hearth_record_save_brain(session, commands, nullptr),
                     "hearth_record_save_brain: out is null");
        session_says(hearth_readback_poll(session, 1, nullptr, &bytes, &serial),
                     "hearth_readback_poll: data is null");
        session_says(hearth_readback_poll(session, 1, &data, nullptr, &serial),
                     "hearth_readback_poll: byte_count is null");
        session_says(hearth_readback_poll(session, 1, &data, &bytes, nullptr),
                     "hearth_readback_poll: frame_number is null");
        session_says(
            hearth_record_update_variable(session, commands, kStateVariable, 0, nullptr, 4),
            "update_variable state: data is null");
        session_says(hearth_record_load_brain(session, commands, nullptr, 8, 0, nullptr),
                     "hearth_record_load_brain: bytes is null");
        session_says(hearth_session_get_status(session, nullptr),
                     "hearth_session_get_status: out is null");
        session_says(hearth_session_estimate_gpu_time(session, kAct, 1, nullptr, nullptr),
                     "hearth_session_estimate_gpu_time: us is null");
        session_says(hearth_session_next_timings(session, nullptr),
                     "hearth_session_next_timings: out is null");
        context_says(hearth_session_create(context, nullptr, &other),
                     "hearth_session_create: info is null");
        context_says(hearth_session_create(context, &create, nullptr),
                     "hearth_session_create: out is null");
        context_says(hearth_session_create(context, &create, &other),
                     "hearth_session_create: info->program is null");
        context_says(hearth_program_load(context, nullptr, nullptr),
                     "hearth_program_load: info is null");
        hearth_program_load_info load = hearth_program_load_info_default();
        hearth_program* program = nullptr;
        context_says(hearth_program_load(context, &load, &program),
                     "hearth_program_load: info->bytes is null");
    });
    hearth_messages report{};
    hearth_context* context = nullptr;
    const hearth_context_create_info host = device().host_info();
    EXPECT_EQ(hearth_context_create(nullptr, &context, &report), kInvalid);
    EXPECT_STREQ(report.text, "hearth_context_create: info is null");
    EXPECT_EQ(hearth_context_create(&host, nullptr, &report), kInvalid);
    EXPECT_STREQ(report.text, "hearth_context_create: out is null");
}

TEST_F(Arguments, AProgramOfAnotherContextIsNamedAsThat) {
    const auto rig = make_rig(), other = make_rig();
    ASSERT_TRUE(rig && other);
    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = other->program.handle();
    hearth_session* session = nullptr;
    EXPECT_EQ(hearth_session_create(rig->context.handle(), &create, &session), kInvalid);
    EXPECT_EQ(
        rig->context.error(),
        "hearth_session_create: info->program is of another context; expected one of this context");
    hearth_memory_requirements needs = hearth_memory_requirements_default();
    EXPECT_EQ(hearth_session_get_memory_requirements(rig->context.handle(), &create, &needs),
              kInvalid);
    EXPECT_EQ(rig->context.error(),
              "hearth_session_get_memory_requirements: info->program is of another context; "
              "expected one of this context");
}

TEST_F(Arguments, AHandleOfAnotherKindIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        auto* const wild = reinterpret_cast<hearth_session*>(rig->context.handle());
        EXPECT_EQ(hearth_record_initialize(wild, commands), kInvalid);
        EXPECT_STREQ(hearth_session_error(wild), "");
        auto* const program = reinterpret_cast<hearth_program*>(rig->session.handle());
        uint32_t index = 0;
        EXPECT_EQ(hearth_program_find_entry(program, "act", &index), kInvalid);
        auto* const context = reinterpret_cast<hearth_context*>(rig->program.handle());
        EXPECT_EQ(hearth_begin_frame(context, 100, 1), kInvalid);
        EXPECT_STREQ(hearth_context_error(context), "");
    });
}

TEST_F(Arguments, AStructOfAnotherTypeOrANewerHeaderIsRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        struct {
            hearth_record_info info;
            uint64_t added;
        } newer{rig->act_info(commands, 1, bounds), 1};
        newer.info.size = sizeof newer;
        EXPECT_EQ(hearth_record(rig->session.handle(), &newer.info, nullptr),
                  HEARTH_ERROR_VERSION_MISMATCH);
        EXPECT_EQ(rig->session.error(), "hearth_record: info->size is " +
                                            std::to_string(sizeof newer) +
                                            ", this library's hearth_record_info has " +
                                            std::to_string(sizeof(hearth_record_info)) +
                                            ": hearth.h is newer than the library; use the header "
                                            "and the library of one version");
        hearth_record_info older = rig->act_info(commands, 1, bounds);
        older.size = offsetof(hearth_record_info, max_flops);  // what is left out is as by default
        EXPECT_EQ(hearth_record(rig->session.handle(), &older, nullptr), HEARTH_OK);
        hearth_record_info other = older;
        other.type = HEARTH_STRUCT_READBACK_INFO;
        EXPECT_EQ(hearth_record(rig->session.handle(), &other, nullptr), kInvalid);
        EXPECT_EQ(rig->session.error(),
                  "hearth_record: info->type is 14, expected 13; make it with "
                  "hearth_record_info_default()");
        // Written by Hearth, it would have fields that stay as they were.
        struct {
            hearth_session_status status;
            uint64_t added;
        } status{hearth_session_status_default(), 1};
        status.status.size = sizeof status;
        EXPECT_EQ(hearth_session_get_status(rig->session.handle(), &status.status),
                  HEARTH_ERROR_VERSION_MISMATCH);
    });
    struct {
        hearth_context_create_info info;
        uint64_t added;
    } host{device().host_info(), 1};
    host.info.size = sizeof host;
    hearth_context* context = nullptr;
    hearth_messages report{};
    EXPECT_EQ(hearth_context_create(&host.info, &context, &report), HEARTH_ERROR_VERSION_MISMATCH);
    EXPECT_NE(std::string_view(report.text)
                  .find("hearth.h is newer than the library; use the header and the library of one "
                        "version"),
              std::string_view::npos)
        << report.text;
}

TEST(Handles, AStructThatWasNotMadeIsRefused) {
    hearth_requirements requirements{};
    EXPECT_EQ(hearth_get_instance_requirements(nullptr), kInvalid);
    EXPECT_EQ(hearth_get_instance_requirements(&requirements), kInvalid);
    EXPECT_EQ(requirements.min_api_version, 0u);
    const hearth_device_requirements_info zero_query{},
        no_device = hearth_device_requirements_info_default();
    hearth_device_caps caps = hearth_device_caps_default(), zero_caps{};
    EXPECT_EQ(hearth_get_device_caps(nullptr, 0, &caps), kInvalid);
    EXPECT_EQ(hearth_get_device_caps(&zero_query, 0, &caps), kInvalid);
    EXPECT_EQ(hearth_get_device_caps(&no_device, 0, &caps), kInvalid);
    EXPECT_EQ(hearth_get_device_caps(&no_device, 0, nullptr), kInvalid);
    EXPECT_EQ(hearth_get_device_caps(&no_device, 0, &zero_caps), kInvalid);
    VkPhysicalDeviceFeatures2 chain{};
    size_t bytes = 0;
    EXPECT_EQ(hearth_enable_features(0, VK_API_VERSION_1_2, nullptr, nullptr, nullptr), kInvalid);
    EXPECT_EQ(hearth_enable_features(0, VK_API_VERSION_1_2, &chain, nullptr, &bytes), kInvalid);
    chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    EXPECT_EQ(hearth_enable_features(0, VK_API_VERSION_1_2, &chain, nullptr, nullptr), kInvalid);
    EXPECT_EQ(hearth_enable_features(0, VK_API_VERSION_1_2, &chain, nullptr, &bytes), HEARTH_OK);
}

TEST(Handles, AProgramThatIsNoneIsRefusedWhateverElseIsGiven) {
    const std::array<uint64_t, 512> zeros{};
    const auto* const program = reinterpret_cast<const hearth_program*>(zeros.data());
    hearth_program_info info = hearth_program_info_default();
    hearth_entry_info entry = hearth_entry_info_default();
    hearth_command_info step = hearth_command_info_default();
    hearth_binding_info binding = hearth_binding_info_default();
    hearth_variable_info slot = hearth_variable_info_default();
    uint32_t index = 0;
    const char* name = nullptr;
    const void* agents = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(hearth_program_get_info(program, &info), kInvalid);
    EXPECT_EQ(hearth_program_get_entry(program, 0, &entry), kInvalid);
    EXPECT_EQ(hearth_program_get_command(program, 0, 0, &step), kInvalid);
    EXPECT_EQ(hearth_program_get_mutated_variables(program, 0, nullptr, &index), kInvalid);
    EXPECT_EQ(hearth_program_get_binding(program, 0, &binding), kInvalid);
    EXPECT_EQ(hearth_program_get_variable(program, 0, &slot), kInvalid);
    EXPECT_EQ(hearth_program_find_entry(program, "act", &index), kInvalid);
    EXPECT_EQ(hearth_program_find_binding(program, 0, "x", &index), kInvalid);
    EXPECT_EQ(hearth_program_find_variable(program, "state", &index), kInvalid);
    EXPECT_EQ(hearth_program_get_scalar(program, 0, 0, &name), kInvalid);
    EXPECT_EQ(hearth_program_find_scalar(program, 0, "left", &index), kInvalid);
    EXPECT_EQ(hearth_program_get_agent_manifest(program, &agents, &bytes), kInvalid);
}

TEST(Handles, AHashOfWhatIsNotThereIsNotWritten) {
    const std::array<uint8_t, 32> before{1, 2, 3};
    std::array<uint8_t, 32> hash = before;
    hearth_sha256(nullptr, 4, hash.data());
    EXPECT_EQ(hash, before);
    hearth_sha256(&before, uint64_t{SIZE_MAX / 2} + 1, hash.data());
    EXPECT_EQ(hash, before);
    hearth_sha256(&before, 4, nullptr);
    hearth_sha256(nullptr, 0, hash.data());  // of nothing
    EXPECT_EQ(hash[0], 0xe3);
}

TEST_F(Arguments, MoreBytesThanThereAreAddressesAreRefused) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    hearth_context* const context = rig->context.handle();
    const uint64_t word = 0;
    hearth_program* out = nullptr;
    for (const uint64_t count : {uint64_t{SIZE_MAX / 2} + 1, UINT64_MAX}) {
        hearth_program_load_info program = hearth_program_load_info_default();
        program.bytes = &word;
        program.byte_count = count;
        EXPECT_EQ(hearth_program_load(context, &program, &out), kInvalid);
        EXPECT_EQ(rig->context.error(),
                  "hearth_program_load: info->byte_count exceeds the address space");
        hearth_package_load_info package = hearth_package_load_info_default();
        package.bytes = &word;
        package.byte_count = count;
        EXPECT_EQ(hearth_package_load(context, &package, &out), kInvalid);
        EXPECT_EQ(rig->context.error(),
                  "hearth_package_load: info->byte_count exceeds the address space");
    }
}

TEST_F(Arguments, ALostDeviceIsToldBeforeTheArgumentsAreRead) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->finish();
    hearth_context* const context = rig->context.handle();
    hearth_context_notify_device_lost(context);
    EXPECT_EQ(hearth_program_load(context, nullptr, nullptr), HEARTH_ERROR_DEVICE_LOST);
    EXPECT_EQ(hearth_package_load(context, nullptr, nullptr), HEARTH_ERROR_DEVICE_LOST);
    EXPECT_EQ(hearth_session_create(context, nullptr, nullptr), HEARTH_ERROR_DEVICE_LOST);
}

TEST_F(Arguments, EntriesAndStepsBehindTheLastAreNotFound) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const hearth_program* const program = rig->program.handle();
    hearth_command_info step = hearth_command_info_default();
    uint32_t slots[4], count = 4, step_count = 0;
    while (step_count < 100 &&
           hearth_program_get_command(program, kAct, step_count, &step) == HEARTH_OK)
        ++step_count;
    EXPECT_GT(step_count, 0u);
    EXPECT_LT(step_count, 100u);
    EXPECT_EQ(hearth_program_get_command(program, kAct, ~0u, &step), HEARTH_ERROR_NOT_FOUND);
    for (const uint32_t behind : {2u, ~0u}) {
        EXPECT_EQ(hearth_program_get_command(program, behind, 0, &step), HEARTH_ERROR_NOT_FOUND);
        EXPECT_EQ(hearth_program_get_mutated_variables(program, behind, slots, &count),
                  HEARTH_ERROR_NOT_FOUND);
    }
    EXPECT_EQ(hearth_program_get_mutated_variables(program, kAct, slots, nullptr), kInvalid);
    const void* agents = nullptr;
    uint64_t bytes = 0;
    EXPECT_EQ(hearth_program_get_agent_manifest(program, &agents, &bytes), HEARTH_ERROR_NOT_FOUND);
}

TEST_F(Arguments, ADestroyedConverterIsRefusedFromTheSameFrameOn) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    hearth_image_converter_create_info create = hearth_image_converter_create_info_default();
    create.format = VK_FORMAT_R32_SFLOAT;
    hearth_image_converter* converter = nullptr;
    ASSERT_EQ(hearth_image_converter_create(rig->context.handle(), &create, &converter), HEARTH_OK);
    rig->frame([&](VkCommandBuffer) {
        hearth_image_converter_destroy(converter);
        const hearth_image_conversion_info info = hearth_image_conversion_info_default();
        EXPECT_EQ(hearth_record_convert_image(converter, &info), kInvalid);
    });
}

TEST_F(Arguments, AnUnknownNameIsAnsweredWithThoseThereAre) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const auto message = [](const auto& result) { return std::string(result.status().message()); };
    EXPECT_EQ(message(rig->program.find_entry("dance")),
              "HEARTH_ERROR_NOT_FOUND: no entry is named 'dance'; there are: learn, act");
    EXPECT_EQ(message(rig->program.find_binding(kAct, "rate")),
              "HEARTH_ERROR_NOT_FOUND: no binding of entry act is named 'rate'; there are: x, y");
    EXPECT_EQ(message(rig->program.find_variable("weights")),
              "HEARTH_ERROR_NOT_FOUND: no slot is named 'weights'; there are: state, zero");
    EXPECT_EQ(message(rig->program.find_binding(7, "x")),
              "HEARTH_ERROR_NOT_FOUND: entry is 7, expected less than 2");
    EXPECT_EQ(message(rig->program.entry(2)),
              "HEARTH_ERROR_NOT_FOUND: entry is 2, expected less than 2");
    EXPECT_EQ(message(rig->program.binding(5)),
              "HEARTH_ERROR_NOT_FOUND: binding is 5, expected less than 5");
    EXPECT_EQ(message(rig->program.variable(2)),
              "HEARTH_ERROR_NOT_FOUND: variable is 2, expected less than 2");
    EXPECT_EQ(message(rig->program.find_entry(nullptr)),
              "HEARTH_ERROR_INVALID_ARGUMENT: hearth_program_find_entry: name is null");
    // A message stays bounded, whatever the name.
    const std::string control = "a\nb" + std::string(10000, 'x');
    const std::string answer = message(rig->program.find_variable(control.c_str()));
    EXPECT_LT(answer.size(), 600u);
    EXPECT_EQ(answer.find('\n'), std::string::npos);
    EXPECT_NE(answer.find("there are: state, zero"), std::string::npos) << answer;
}

TEST_F(Arguments, AWrongBindingIsNamedAndNotTheOneThatItReplaces) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const auto refusal = [&](const auto& change) {
            hearth_record_info info = rig->act_info(commands, 1, bounds);
            change(info);
            EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), kInvalid);
            return std::string(rig->session.error());
        };
        EXPECT_EQ(refusal([&](hearth_record_info&) { bounds[1].binding = 77; }),
                  "entry act: bindings[1].binding is 77, which is not a binding of this entry; "
                  "expected x (3), y (4)");
        EXPECT_EQ(refusal([&](hearth_record_info&) { bounds[1].binding = kLearnRate; }),
                  "entry act: bindings[1].binding is 1, which is not a binding of this entry; "
                  "expected x (3), y (4)");
        EXPECT_EQ(refusal([&](hearth_record_info&) { bounds[1] = bounds[0]; }),
                  "entry act: binding x (3) is given twice; give it once");
        EXPECT_EQ(refusal([&](hearth_record_info& info) { info.bindings = nullptr; }),
                  "entry act: bindings is null");
        EXPECT_EQ(refusal([&](hearth_record_info& info) {
                      info.barriers = static_cast<hearth_barriers>(7);
                  }),
                  "entry act: barriers is 7, expected 0 or 1");
    });
}

TEST_F(Arguments, ClaimsOfABufferAreCheckedOnRequest) {
    for (const bool is_checked : {false, true}) {
        RigOptions options;
        options.session = [&](hearth_session_create_info& info) {
            if (is_checked) info.flags = HEARTH_SESSION_VALIDATE_BINDINGS;
        };
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        const standalone::Buffer both = make_buffer(2048, standalone::MemoryKind::kDevice);
        const auto act = [&](const auto& change) {
            hearth_result result = HEARTH_OK;
            // Never submitted: without the check the GPU would do what the host claims.
            (void)rig->drop([&](VkCommandBuffer commands) {
                std::array<hearth_tensor_binding, 2> bounds;
                hearth_record_info info = rig->act_info(commands, 2, bounds);
                bounds = {rig->bind(kActX, both, 768), rig->bind(kActY, both, 768)};
                bounds[1].offset = 1024;
                change(info, bounds);
                result = hearth_record(rig->session.handle(), &info, nullptr);
            });
            (void)take_messages();  // the layers see some of it, too
            return result == HEARTH_OK ? std::string("ok") : std::string(rig->session.error());
        };
        using Bounds = std::array<hearth_tensor_binding, 2>;
        EXPECT_EQ(act([](hearth_record_info&, Bounds&) {}), "ok");
        EXPECT_EQ(act([](hearth_record_info&, Bounds& bounds) { bounds[1].offset = 768; }), "ok");
        EXPECT_EQ(act([&](hearth_record_info&, Bounds& bounds) {
                      bounds[0].device_address = both.address();
                  }),
                  "ok");
        // What needs no question to Vulkan is always checked.
        EXPECT_EQ(act([](hearth_record_info&, Bounds& bounds) { bounds[1].offset = 512; }),
                  "bindings x and y share bytes of a VkBuffer, [0, +768) and [512, +768), and y is "
                  "an output; give each binding bytes of its own, or make it one in-out binding by "
                  "assigning the input in the graph");
        EXPECT_TRUE(act([](hearth_record_info&, Bounds& bounds) {
                        bounds[1].offset = 0;
                    }).starts_with("bindings x and y share bytes of a VkBuffer, [0, +768) and [0"));
        EXPECT_EQ(act([&](hearth_record_info& info, Bounds& bounds) {
                      static hearth_tensor_binding run;
                      run = rig->bind(0, both, 16);
                      run.offset = bounds[1].offset + 256;
                      info.indirect_batch_buffer = &run;
                  }),
                  "binding y is an output and shares bytes with indirect_batch_buffer; give it "
                  "bytes of its own");
        if (!is_checked) {
            EXPECT_EQ(act([](hearth_record_info&, Bounds& bounds) { bounds[0].bytes = 1 << 20; }),
                      "ok");
            continue;
        }
        const std::string beyond =
            act([](hearth_record_info&, Bounds& bounds) { bounds[0].bytes = 1 << 20; });
        EXPECT_TRUE(beyond.starts_with(
            "binding x: [0, +1048576) exceeds its VkBuffer, which has at most 2"))
            << beyond;
        EXPECT_NE(act([](hearth_record_info&, Bounds& bounds) { bounds[1].offset = 4096; }), "ok");
        EXPECT_NE(
            act([](hearth_record_info&, Bounds& bounds) { bounds[1].offset = ~uint64_t{0} - 255; }),
            "ok");
        if (both.address() != 0) {
            EXPECT_NE(act([&](hearth_record_info&, Bounds& bounds) {
                          bounds[0].device_address = both.address() + 256;
                      }).find("binding x: device_address is "),
                      std::string::npos);
        }
        const std::vector<float> x = test_values(kWidth, 1);
        EXPECT_EQ(rig->act(x), TestReference().act(x));
    }
}

TEST_F(Arguments, AllProblemsOfAHandshakeComeAtOnceWhateverIsNull) {
    const auto problems = [](const hearth_context_create_info& info) {
        hearth_context* context = nullptr;
        hearth_messages report{};
        EXPECT_LT(hearth_context_create(&info, &context, &report), 0);
        return std::string(report.text);
    };
    hearth_context_create_info info = device().host_info();
    VkAllocationCallbacks callbacks{};
    info.device = VK_NULL_HANDLE;
    info.api_version = VK_API_VERSION_1_0;
    info.allocation_callbacks = &callbacks;
    info.queue_family_index = 77;
    info.features |= uint64_t{1} << 40;
    const std::string text = problems(info);
    for (const char* expected :
         {"hearth_context_create_info::device is null", "Vulkan 1.1 or newer is required",
          "allocation_callbacks->pfnAllocation is null", "queue_family_index is 77",
          "features has bits unknown to this version"})
        EXPECT_NE(text.find(expected), std::string::npos) << expected << " in:\n" << text;

    info = device().host_info();
    info.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    info.physical_device = VK_NULL_HANDLE;
    info.features = 0;
    info.device_extensions = nullptr;
    info.device_extension_count = 3;
    info.get_device_proc_addr = [](VkDevice, const char*) -> hearth_void_function {
        return nullptr;
    };
    const std::string without_device = problems(info);
    for (const char* expected :
         {"hearth_context_create_info::physical_device is null", "device_extensions is null",
          "feature bufferDeviceAddress is required", "get_device_proc_addr: no vkAllocateMemory"})
        EXPECT_NE(without_device.find(expected), std::string::npos) << expected << " in:\n"
                                                                    << without_device;
}

}  // namespace
}  // namespace hearth::test
