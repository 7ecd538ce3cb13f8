/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* A C program without Vulkan's headers calls the shared library: every struct knows its type and
 * size, every function survives null. */

#include <hearth/hearth.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
    if (holds) return;
    printf("failed: %s\n", what);
    ++failures;
}

#define EXPECT(condition) expect(condition, #condition)

#define EXPECT_DEFAULT(name, tag)           \
    do {                                    \
        name value = name##_default();      \
        EXPECT(value.type == tag);          \
        EXPECT(value.size == sizeof(name)); \
    } while (0)

static void structs_know_themselves(void) {
    EXPECT_DEFAULT(hearth_device_requirements_info, HEARTH_STRUCT_DEVICE_REQUIREMENTS_INFO);
    EXPECT_DEFAULT(hearth_requirements, HEARTH_STRUCT_REQUIREMENTS);
    EXPECT_DEFAULT(hearth_device_caps, HEARTH_STRUCT_DEVICE_CAPS);
    EXPECT_DEFAULT(hearth_context_create_info, HEARTH_STRUCT_CONTEXT_CREATE_INFO);
    EXPECT_DEFAULT(hearth_cpu_context_create_info, HEARTH_STRUCT_CPU_CONTEXT_CREATE_INFO);
    EXPECT_DEFAULT(hearth_program_load_info, HEARTH_STRUCT_PROGRAM_LOAD_INFO);
    EXPECT_DEFAULT(hearth_session_create_info, HEARTH_STRUCT_SESSION_CREATE_INFO);
    EXPECT_DEFAULT(hearth_record_info, HEARTH_STRUCT_RECORD_INFO);
    EXPECT_DEFAULT(hearth_readback_info, HEARTH_STRUCT_READBACK_INFO);
    EXPECT_DEFAULT(hearth_dump_info, HEARTH_STRUCT_DUMP_INFO);
    EXPECT_DEFAULT(hearth_session_dump_info, HEARTH_STRUCT_SESSION_DUMP_INFO);
    EXPECT_DEFAULT(hearth_timings, HEARTH_STRUCT_TIMINGS);
}

static void null_is_an_error(void) {
    hearth_context_create_info host = hearth_context_create_info_default();
    hearth_context* context = NULL;
    static hearth_messages report;
    EXPECT(hearth_context_create(NULL, &context, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_context_create(&host, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_context_create(&host, &context, &report) < 0);
    EXPECT(context == NULL);
    EXPECT(report.message_count == 6);
    EXPECT(strstr(report.text, "hearth_context_create_info::physical_device is null\n") != NULL);

    EXPECT(hearth_context_create_cpu(NULL, &context, &report) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_cpu_command_buffer_create(NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_cpu_command_buffer_execute(NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_cpu_buffer_import(NULL, NULL, 0, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);

    EXPECT(hearth_begin_frame(NULL, 1, 0) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_discard_frame(NULL, 1, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(strcmp(hearth_program_error(NULL), "") == 0);
    EXPECT(hearth_program_load(NULL, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_session_create(NULL, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_session_create_pipelines(NULL, 0) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_record(NULL, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_record_initialize(NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_readback_poll(NULL, 0, NULL, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_program_find_entry(NULL, "x", NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_get_device_requirements(NULL, NULL, NULL) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(strcmp(hearth_context_error(NULL), "") == 0);
    hearth_readback_release(NULL, 0);
    hearth_program_destroy(NULL);
    hearth_session_destroy(NULL);
    hearth_context_notify_device_lost(NULL);
    EXPECT(hearth_context_destroy(NULL) == HEARTH_OK);
}

static void names_are_told(void) {
    EXPECT(strcmp(hearth_result_name(HEARTH_ERROR_TOO_MANY_IN_FLIGHT),
                  "HEARTH_ERROR_TOO_MANY_IN_FLIGHT") == 0);
    EXPECT(strcmp(hearth_result_name((hearth_result)-99), "HEARTH_RESULT_UNKNOWN") == 0);
    EXPECT(strcmp(hearth_feature_name(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS),
                  "bufferDeviceAddress") == 0);
    EXPECT(strcmp(hearth_feature_name(3), "") == 0);
    char version[64];
    snprintf(version, sizeof version, "hearth %d.%d.%d ", HEARTH_VERSION_MAJOR,
             HEARTH_VERSION_MINOR, HEARTH_VERSION_PATCH);
    EXPECT(strstr(hearth_build_info(), version) == hearth_build_info());
    EXPECT(strstr(hearth_build_info(), "g++ ") != NULL ||
           strstr(hearth_build_info(), "lang ") != NULL);
    EXPECT(strstr(hearth_build_info(), " release") != NULL ||
           strstr(hearth_build_info(), " debug") != NULL);
    hearth_requirements wish = hearth_requirements_default();
    EXPECT(hearth_get_instance_requirements(&wish) == HEARTH_OK);
    EXPECT(strcmp(wish.optional_extensions[0], "VK_EXT_debug_utils") == 0);
}

int main(void) {
    structs_know_themselves();
    null_is_an_error();
    names_are_told();
    return failures == 0 ? 0 : 1;
}
