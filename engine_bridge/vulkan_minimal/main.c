/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The smallest host: makes a device, runs each entry of a program once, prints the outputs.
 *
 *   vulkan_minimal PROGRAM [ROWS]
 *
 * Inputs are filled with 0.01, 0.02, ... (floats) or 0, 1, ... (integers).  Read main() from the
 * end: everything above it is what any Vulkan application has anyway. */

#include <hearth/hearth.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define MAX_BINDINGS 64

static void fail(const char* what, const char* detail) {
    fprintf(stderr, "vulkan_minimal: %s: %s\n", what, detail);
    exit(1);
}

static void check_vk(VkResult result, const char* what) {
    if (result != VK_SUCCESS) fail(what, "Vulkan error");
}

static void check(hearth_result result, const char* what, const char* detail) {
    if (result < 0) {
        fprintf(stderr, "vulkan_minimal: %s: %s: %s\n", what, hearth_result_name(result), detail);
        exit(1);
    }
}

/* ---- a Vulkan application ------------------------------------------------------------------- */

static VkInstance instance;
static VkPhysicalDevice physical_device;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static uint32_t queue_family;
static const uint32_t api_version = VK_API_VERSION_1_2;
static hearth_requirements requirements;

/* A queue family that computes, on the first device that Hearth can use. */
static void pick_device(void) {
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    hearth_report report;
    memset(&report, 0, sizeof report);
    vkEnumeratePhysicalDevices(instance, &count, devices);
    for (uint32_t i = 0; i < count; ++i) {
        hearth_device_query query = hearth_device_query_default();
        query.instance = instance;
        query.physical_device = devices[i];
        query.get_instance_proc_addr = vkGetInstanceProcAddr;
        query.api_version = api_version;
        requirements = hearth_requirements_default();
        if (hearth_query_device(&query, &requirements, &report) != HEARTH_OK) continue;

        VkQueueFamilyProperties families[32];
        uint32_t family_count = 32;
        vkGetPhysicalDeviceQueueFamilyProperties(devices[i], &family_count, families);
        for (uint32_t f = 0; f < family_count; ++f) {
            if (!(families[f].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
            physical_device = devices[i];
            queue_family = f;
            return;
        }
    }
    fail("no suitable Vulkan device", report.text);
}

static void make_device(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = api_version};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &application};
    check_vk(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
    pick_device();

    /* Hearth sets its booleans in the application's own feature chain. */
    uint64_t storage[64];
    size_t storage_bytes = sizeof storage;
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    check(hearth_patch_features(requirements.required_features, api_version, &features, storage,
                                &storage_bytes),
          "hearth_patch_features", "");
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = queue_family,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue_info,
        .enabledExtensionCount = requirements.required_extension_count,
        .ppEnabledExtensionNames = requirements.required_extensions};
    check_vk(vkCreateDevice(physical_device, &device_info, NULL, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, queue_family, 0, &queue);
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = queue_family};
    check_vk(vkCreateCommandPool(device, &pool_info, NULL, &pool), "vkCreateCommandPool");
}

typedef struct mapped_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t usage;
    uint64_t bytes;
    void* data;
} mapped_buffer;

/* A buffer that both the CPU and kernels can reach. */
static mapped_buffer make_buffer(uint64_t bytes) {
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    mapped_buffer b = {.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                       .bytes = bytes};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = b.usage};
    check_vk(vkCreateBuffer(device, &info, NULL, &b.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, b.buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_device, &memory);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (memory.memoryTypes[type].propertyFlags & mapped) != mapped)
        if (++type == memory.memoryTypeCount) fail("no mapped memory", "");
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    check_vk(vkAllocateMemory(device, &allocate, NULL, &b.memory), "vkAllocateMemory");
    check_vk(vkBindBufferMemory(device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    check_vk(vkMapMemory(device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.data), "vkMapMemory");
    return b;
}

static VkCommandBuffer begin_commands(void) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    check_vk(vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check_vk(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

static void submit_and_wait(VkCommandBuffer commands) {
    check_vk(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    check_vk(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check_vk(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
}

static void* read_file(const char* path, uint64_t* size) {
    FILE* file = fopen(path, "rb");
    if (!file) fail("cannot open", path);
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    rewind(file);
    void* bytes = malloc(end > 0 ? (size_t)end : 1);
    if (!bytes || end < 0 || fread(bytes, 1, (size_t)end, file) != (size_t)end)
        fail("cannot read", path);
    fclose(file);
    *size = (uint64_t)end;
    return bytes;
}

/* ---- Hearth --------------------------------------------------------------------------------- */

static hearth_context* adopt_device(void) {
    hearth_host_info info = hearth_host_info_default();
    info.instance = instance;
    info.physical_device = physical_device;
    info.device = device;
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.api_version = api_version;
    info.queue_family_index = queue_family;
    info.device_extension_count = requirements.required_extension_count;
    info.device_extensions = requirements.required_extensions;
    info.features = requirements.required_features;
    hearth_context* context;
    static hearth_report report;
    check(hearth_context_create(&info, &context, &report), "hearth_context_create", report.text);
    return context;
}

static void fill_input(const hearth_binding_info* binding, mapped_buffer* buffer) {
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
                      uint32_t entry, uint64_t rows, uint64_t serial) {
    hearth_entry_info info = hearth_entry_info_default();
    check(hearth_program_get_entry(program, entry, &info), "hearth_program_get_entry", "");
    if (info.binding_count > MAX_BINDINGS) fail("too many bindings", info.name);
    printf("%s: %u dispatches, %u barriers\n", info.name, info.dispatch_count, info.barrier_count);

    hearth_binding_info bindings[MAX_BINDINGS];
    mapped_buffer buffers[MAX_BINDINGS];
    hearth_bound bound[MAX_BINDINGS];
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        bindings[i] = hearth_binding_info_default();
        check(hearth_program_get_binding(program, info.bindings[i], &bindings[i]), "binding", "");
        const uint64_t bytes = bindings[i].bytes_fixed + bindings[i].bytes_per_row * rows;
        buffers[i] = make_buffer(bytes > 16 ? bytes : 16);
        if (!bindings[i].is_output) fill_input(&bindings[i], &buffers[i]);
        bound[i] = hearth_bind_buffer(info.bindings[i], buffers[i].buffer, 0, buffers[i].bytes,
                                      buffers[i].usage);
        /* Outputs are read by a copy afterwards. */
        bound[i].after =
            hearth_make_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    }

    check(hearth_begin_frame(context, serial, serial - 1), "hearth_begin_frame",
          hearth_context_error(context));
    VkCommandBuffer commands = begin_commands();
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = commands;
    record.entry = entry;
    record.bound = bound;
    record.bound_count = info.binding_count;
    record.rows = rows;
    check(hearth_record(session, &record, NULL), "hearth_record", hearth_session_error(session));
    hearth_readback readbacks[MAX_BINDINGS] = {0};
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        if (!bindings[i].is_output) continue;
        hearth_readback_info read = hearth_readback_info_default();
        read.command_buffer = commands;
        read.buffer = buffers[i].buffer;
        read.byte_count = buffers[i].bytes;
        check(hearth_record_readback(session, &read, &readbacks[i]), "hearth_record_readback",
              hearth_session_error(session));
    }
    submit_and_wait(commands);

    check(hearth_begin_frame(context, serial + 1, serial), "hearth_begin_frame",
          hearth_context_error(context));
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        const void* data;
        uint64_t bytes, of_serial;
        if (readbacks[i] &&
            hearth_readback_poll(session, readbacks[i], &data, &bytes, &of_serial) == HEARTH_OK)
            print_values(bindings[i].name, bindings[i].device_dtype, data, bytes);
        hearth_readback_release(session, readbacks[i]);
        vkDestroyBuffer(device, buffers[i].buffer, NULL);
        vkFreeMemory(device, buffers[i].memory, NULL);
    }
}

int main(int argc, char** argv) {
    if (argc < 2) fail("usage", "vulkan_minimal PROGRAM [ROWS]");
    make_device();
    hearth_context* context = adopt_device();

    hearth_program_load_info load = hearth_program_load_info_default();
    void* bytes = read_file(argv[1], &load.byte_count);
    load.bytes = bytes;
    hearth_program* program;
    check(hearth_program_load(context, &load, &program), argv[1], hearth_context_error(context));
    free(bytes);
    hearth_program_info info = hearth_program_info_default();
    check(hearth_program_get_info(program, &info), "hearth_program_get_info", "");

    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    hearth_session* session;
    check(hearth_session_create(context, &create, &session), "hearth_session_create",
          hearth_context_error(context));
    check(hearth_session_build(session, 0), "hearth_session_build", hearth_session_error(session));

    /* Frame 1 uploads the initial weights; each entry then has frames of its own. */
    check(hearth_begin_frame(context, 1, 0), "hearth_begin_frame", hearth_context_error(context));
    VkCommandBuffer commands = begin_commands();
    check(hearth_record_setup(session, commands), "hearth_record_setup",
          hearth_session_error(session));
    submit_and_wait(commands);
    const uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint32_t entry = 0; entry < info.entry_count; ++entry)
        run_entry(context, program, session, entry, rows, 2 + 2 * entry);

    hearth_session_destroy(session);
    hearth_program_destroy(program);
    check(hearth_context_destroy(context), "hearth_context_destroy", "");
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
