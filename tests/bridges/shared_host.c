/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* One device for all networks of a process, in C: shared_host PACKAGE DEVICE.  Threads that know
 * nothing of each other share a host, run the package's entry `act` on it and release it. */

#include <hearth_workbench.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, FRAMES = 50 };

static const char* device;
static void* package;
static uint64_t package_bytes;

static void must(int is_so, const char* what, const char* why) {
    if (is_so) return;
    printf("failed: %s: %s\n", what, why);
    exit(1);
}

/* Runs `act` with zeros; its outputs are finite. */
static void run(hearth_headless* host, hearth_program* program, hearth_session* session,
                int is_first) {
    hearth_record_info record = hearth_record_info_default();
    hearth_entry_info entry = hearth_entry_info_default();
    hearth_tensor_binding bindings[8];
    hearth_headless_buffer buffers[8];
    must(hearth_program_find_entry(program, "act", &record.entry) == HEARTH_OK, "act", "no entry");
    hearth_program_get_entry(program, record.entry, &entry);
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info info = hearth_binding_info_default();
        hearth_program_get_binding(program, entry.bindings[i], &info);
        const uint64_t bytes = info.bytes_fixed + info.bytes_per_item;
        must(hearth_headless_buffer_create(host, bytes, HEARTH_HEADLESS_READBACK, &buffers[i]) ==
                 HEARTH_OK,
             "buffer", hearth_headless_error(host));
        memset(buffers[i].data, 0, bytes);
        bindings[i] =
            hearth_bind_buffer(entry.bindings[i], buffers[i].buffer, 0, bytes, buffers[i].usage);
    }
    record.bindings = bindings;
    record.binding_count = entry.binding_count;
    record.batch_size = 1;
    must(hearth_headless_begin(host, &record.command_buffer) == HEARTH_OK, "begin",
         hearth_headless_error(host));
    if (is_first) hearth_record_initialize(session, record.command_buffer);
    must(hearth_record(session, &record, NULL) == HEARTH_OK, "record",
         hearth_session_error(session));
    must(hearth_headless_submit(host) == HEARTH_OK, "submit", hearth_headless_error(host));
    for (uint32_t i = 0; i < entry.binding_count; ++i)
        hearth_headless_buffer_destroy(host, &buffers[i]);
}

static void* play(void* out) {
    hearth_messages messages;
    hearth_headless* host = NULL;
    hearth_program* program = NULL;
    hearth_session* session = NULL;
    hearth_session_create_info create = hearth_session_create_info_default();
    must(hearth_headless_share(device, &host, &messages) == HEARTH_OK, "share", messages.text);
    hearth_headless_lock(host);
    must(hearth_headless_load_package(host, package, package_bytes, NULL, 0, &program) == HEARTH_OK,
         "load", hearth_headless_error(host));
    create.program = program;
    must(hearth_session_create(hearth_headless_context(host), &create, &session) == HEARTH_OK,
         "session", hearth_context_error(hearth_headless_context(host)));
    must(hearth_session_create_pipelines(session, 0) == HEARTH_OK, "pipelines",
         hearth_session_error(session));
    hearth_headless_unlock(host);
    for (int frame = 0; frame < FRAMES; ++frame) {
        hearth_headless_lock(host);
        run(host, program, session, frame == 0);
        hearth_headless_unlock(host);
    }
    hearth_headless_lock(host);
    hearth_session_destroy(session);
    hearth_program_destroy(program);
    hearth_headless_unlock(host);
    must(hearth_headless_destroy(host) == HEARTH_OK, "destroy", "a shared host");
    *(hearth_headless**)out = host;
    return NULL;
}

int main(int argc, char** argv) {
    hearth_messages messages;
    hearth_headless *first = NULL, *again = NULL, *other = NULL;
    hearth_headless* hosts[THREADS];
    pthread_t threads[THREADS];
    FILE* file;
    must(argc == 3, "usage", "shared_host PACKAGE DEVICE");
    device = argv[2];
    file = fopen(argv[1], "rb");
    must(file != NULL, argv[1], "cannot be opened");
    fseek(file, 0, SEEK_END);
    package_bytes = (uint64_t)ftell(file);
    rewind(file);
    package = malloc(package_bytes);
    must(fread(package, 1, package_bytes, file) == package_bytes, argv[1], "cannot be read");
    fclose(file);

    must(hearth_headless_share(device, &first, &messages) == HEARTH_OK, "share", messages.text);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, play, &hosts[i]);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        must(hosts[i] == first, "share", "another host for the same device");
    }

    /* A name that no device has, and a lost device. */
    must(hearth_headless_share("no such device", &other, &messages) == HEARTH_ERROR_NOT_FOUND,
         "share", "a device that does not exist");
    must(hearth_headless_share(device, &again, NULL) == HEARTH_OK && again == first, "share",
         "it was forgotten");
    must(hearth_headless_destroy(again) == HEARTH_OK, "destroy", "one of two");
    hearth_context_notify_device_lost(hearth_headless_context(first));
    VkCommandBuffer commands;
    hearth_headless_begin(first, &commands);
    must(hearth_headless_submit(first) == HEARTH_ERROR_DEVICE_LOST, "submit", "to a lost device");
    must(hearth_headless_share(device, &again, &messages) == HEARTH_OK && again != first, "share",
         "a lost device");
    must(hearth_headless_destroy(first) == HEARTH_OK && hearth_headless_destroy(again) == HEARTH_OK,
         "destroy", "both");
    free(package);
    printf("%d threads shared a device: ok\n", THREADS);
    return 0;
}
