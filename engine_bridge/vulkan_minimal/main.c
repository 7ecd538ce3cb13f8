/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The smallest application: creates a device, runs each entry of a program once, prints the
 * outputs.
 *
 *   vulkan_minimal PROGRAM_OR_PACKAGE [BATCH_SIZE]
 *
 * Inputs are filled with 0.01, 0.02, ... (floats) or 0, 1, ... (integers). Read it from the end;
 * app.c is Vulkan code that any application already has. */

#include "vulkan_minimal/app.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_BINDINGS 64

static void fill_input(const hearth_binding_info* binding, app_buffer* buffer) {
    for (uint64_t i = 0; i < buffer->bytes / 4; ++i) {
        if (binding->device_dtype == HEARTH_F32)
            ((float*)buffer->data)[i] = 0.01f * (float)(i + 1);
        else
            ((uint32_t*)buffer->data)[i] = (uint32_t)i;
    }
}

static void print_values(const char* name, hearth_dtype dtype, const void* data, uint64_t bytes) {
    printf("  %s:", name);
    for (uint64_t i = 0; i < bytes / 4 && i < 8; ++i) {
        if (dtype == HEARTH_F32)
            printf(" %g", (double)((const float*)data)[i]);
        else
            printf(" %d", ((const int32_t*)data)[i]);
    }
    printf("%s\n", bytes > 32 ? " ..." : "");
}

static void run_entry(hearth_context* context, hearth_program* program, hearth_session* session,
                      uint32_t entry, uint64_t batch_size, uint64_t frame_number) {
    hearth_entry_info info = hearth_entry_info_default();
    app_check(hearth_program_get_entry(program, entry, &info), "hearth_program_get_entry", "");
    if (info.binding_count > MAX_BINDINGS) app_fail("too many bindings", info.name);
    printf("%s: %u dispatches, %u barriers\n", info.name, info.dispatch_count, info.barrier_count);

    hearth_binding_info bindings[MAX_BINDINGS];
    app_buffer buffers[MAX_BINDINGS];
    hearth_tensor_binding tensors[MAX_BINDINGS];
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        bindings[i] = hearth_binding_info_default();
        app_check(hearth_program_get_binding(program, info.bindings[i], &bindings[i]), "binding",
                  "");
        const uint64_t bytes = bindings[i].bytes_fixed + bindings[i].bytes_per_item * batch_size;
        buffers[i] = app_make_buffer(bytes > 16 ? bytes : 16);
        if (!bindings[i].is_output) fill_input(&bindings[i], &buffers[i]);
        tensors[i] = hearth_bind_buffer(info.bindings[i], buffers[i].buffer, 0, buffers[i].bytes,
                                        buffers[i].usage);
        /* A copy reads the outputs afterwards. */
        tensors[i].release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    }

    app_check(hearth_begin_frame(context, frame_number, frame_number - 1), "hearth_begin_frame",
              hearth_context_error(context));
    VkCommandBuffer commands = app_begin_commands();
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = commands;
    record.entry = entry;
    record.bindings = tensors;
    record.binding_count = info.binding_count;
    record.batch_size = batch_size;
    app_check(hearth_record(session, &record, NULL), "hearth_record",
              hearth_session_error(session));
    hearth_readback readbacks[MAX_BINDINGS] = {0};
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        if (!bindings[i].is_output) continue;
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        read.buffer = buffers[i].buffer;
        read.byte_count = buffers[i].bytes;
        app_check(hearth_record_readback(session, &read, &readbacks[i]), "hearth_record_readback",
                  hearth_session_error(session));
    }
    app_submit_and_wait(commands);

    app_check(hearth_begin_frame(context, frame_number + 1, frame_number), "hearth_begin_frame",
              hearth_context_error(context));
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        const void* data;
        uint64_t bytes, recorded_in;
        if (readbacks[i] &&
            hearth_readback_poll(session, readbacks[i], &data, &bytes, &recorded_in) == HEARTH_OK)
            print_values(bindings[i].name, bindings[i].device_dtype, data, bytes);
        hearth_readback_release(session, readbacks[i]);
        app_destroy_buffer(&buffers[i]);
    }
}

int main(int argc, char** argv) {
    if (argc < 2) app_fail("usage", "vulkan_minimal PROGRAM_OR_PACKAGE [BATCH_SIZE]");
    app_make_device();
    hearth_context* context = app_adopt_device();

    hearth_program* program = app_load(context, argv[1], NULL);
    hearth_program_info info = hearth_program_info_default();
    app_check(hearth_program_get_info(program, &info), "hearth_program_get_info", "");

    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    hearth_session* session;
    app_check(hearth_session_create(context, &create, &session), "hearth_session_create",
              hearth_context_error(context));
    app_check(hearth_session_create_pipelines(session, 0), "hearth_session_create_pipelines",
              hearth_session_error(session));

    /* Frame 1 uploads the initial weights; each entry then runs in frames of its own. */
    app_check(hearth_begin_frame(context, 1, 0), "hearth_begin_frame",
              hearth_context_error(context));
    VkCommandBuffer commands = app_begin_commands();
    app_check(hearth_record_initialize(session, commands), "hearth_record_initialize",
              hearth_session_error(session));
    app_submit_and_wait(commands);
    const uint64_t batch_size = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint32_t entry = 0; entry < info.entry_count; ++entry)
        run_entry(context, program, session, entry, batch_size, 2 + 2 * entry);

    hearth_session_destroy(session);
    hearth_program_destroy(program);
    app_check(hearth_context_destroy(context), "hearth_context_destroy", "");
    app_destroy_device();
    return 0;
}
