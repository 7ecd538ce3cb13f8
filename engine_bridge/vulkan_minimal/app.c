/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The Vulkan code that any application already has: instance, device, buffers and submissions. */

#if defined(APP_USES_VOLK)
#define VOLK_IMPLEMENTATION
#endif

#include "vulkan_minimal/app.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void app_fail(const char* what, const char* detail) {
    fprintf(stderr, "%s: %s\n", what, detail);
    exit(1);
}

void app_check_vk(VkResult result, const char* what) {
    if (result != VK_SUCCESS) app_fail(what, "Vulkan error");
}

void app_check(hearth_result result, const char* what, const char* detail) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %s: %s\n", what, hearth_result_name(result), detail);
    exit(1);
}

static VkInstance instance;
static VkPhysicalDevice physical_device;
VkDevice app_device;
static VkQueue queue;
static VkCommandPool pool;
static uint32_t queue_family;
static const uint32_t api_version = VK_API_VERSION_1_2;
static hearth_requirements requirements;
/* Enabled extensions and features, and the binding model of the programs. */
static uint32_t extension_count;
static const char* const* extensions;
static hearth_features enabled_features;
static hearth_binding_model binding_model = HEARTH_BINDING_DEVICE_ADDRESS;

/* Hearth allocates device memory itself, or through VMA (engine_bridge/vma). */
#if defined(APP_USES_VMA)
static VmaAllocator allocator;
static hearth_device_memory_callbacks device_memory_callbacks;

static void make_allocator(void) {
    VmaAllocatorCreateInfo info;
    memset(&info, 0, sizeof info);
    info.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    info.instance = instance;
    info.physicalDevice = physical_device;
    info.device = app_device;
    info.vulkanApiVersion = api_version;
    app_check_vk(vmaCreateAllocator(&info, &allocator), "vmaCreateAllocator");
    device_memory_callbacks = hearth_vma_callbacks(allocator);
}

static void destroy_allocator(void) {
    VmaTotalStatistics now;
    vmaCalculateStatistics(allocator, &now);
    if (now.total.statistics.allocationCount != 0)
        app_fail("VMA", "Hearth did not free all of its memory");
    vmaDestroyAllocator(allocator);
}
#else
static void make_allocator(void) {}
static void destroy_allocator(void) {}
#endif

#if defined(APP_USES_LIBPLACEBO)
#include "libplacebo/device.inc"
#else
/* Vulkan functions come from the linked loader, or from volk (engine_bridge/volk), which opens the
 * loader itself and defines function pointers with the same names. */
#if defined(APP_USES_VOLK)
static void load_functions(void) {
    if (volkInitialize() != VK_SUCCESS) app_fail("volkInitialize", "no Vulkan loader");
}
static void load_instance_functions(VkInstance of) {
    volkLoadInstance(of);
}
static void load_device_functions(VkDevice of) {
    volkLoadDevice(of);
}
#else
static void load_functions(void) {}
static void load_instance_functions(VkInstance of) {
    (void)of;
}
static void load_device_functions(VkDevice of) {
    (void)of;
}
#endif

/* Picks the first device that Hearth can use, and a queue family with compute. */
static void pick_device(void) {
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    hearth_messages messages;
    memset(&messages, 0, sizeof messages);
    vkEnumeratePhysicalDevices(instance, &count, devices);
    for (uint32_t i = 0; i < count; ++i) {
        hearth_device_requirements_info info = hearth_device_requirements_info_default();
        info.instance = instance;
        info.physical_device = devices[i];
        info.get_instance_proc_addr = vkGetInstanceProcAddr;
        info.api_version = api_version;
        requirements = hearth_requirements_default();
        if (hearth_get_device_requirements(&info, &requirements, &messages) != HEARTH_OK) continue;

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
    app_fail("no suitable Vulkan device", messages.text);
}

static void make_device(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = api_version};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &application};
    load_functions();
    app_check_vk(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
    load_instance_functions(instance);
    pick_device();

    /* Hearth sets its required features in the application's own feature chain. */
    uint64_t storage[64];
    size_t storage_bytes = sizeof storage;
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    app_check(hearth_enable_features(requirements.required_features, api_version, &features,
                                     storage, &storage_bytes),
              "hearth_enable_features", "");
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
    app_check_vk(vkCreateDevice(physical_device, &device_info, NULL, &app_device),
                 "vkCreateDevice");
    load_device_functions(app_device);
    extension_count = requirements.required_extension_count;
    extensions = requirements.required_extensions;
    enabled_features = requirements.required_features;
}

static void destroy_device(void) {
    vkDestroyDevice(app_device, NULL);
    vkDestroyInstance(instance, NULL);
}
static void lock_queue(void) {}
static void unlock_queue(void) {}
#endif

void app_make_device(void) {
    make_device();
    make_allocator();
    vkGetDeviceQueue(app_device, queue_family, 0, &queue);
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = queue_family};
    app_check_vk(vkCreateCommandPool(app_device, &pool_info, NULL, &pool), "vkCreateCommandPool");
}

VkCommandBuffer app_begin_commands(void) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    app_check_vk(vkAllocateCommandBuffers(app_device, &info, &commands),
                 "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    app_check_vk(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

void app_submit_and_wait(VkCommandBuffer commands) {
    app_check_vk(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    lock_queue();
    app_check_vk(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    app_check_vk(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    unlock_queue();
    vkFreeCommandBuffers(app_device, pool, 1, &commands);
}

app_buffer app_make_buffer(uint64_t bytes) {
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const int has_addresses = (enabled_features & HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) != 0;
    app_buffer b = {.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    .bytes = bytes};
    if (has_addresses) b.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = b.usage};
    app_check_vk(vkCreateBuffer(app_device, &info, NULL, &b.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(app_device, b.buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_device, &memory);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (memory.memoryTypes[type].propertyFlags & mapped) != mapped)
        if (++type == memory.memoryTypeCount) app_fail("no mapped memory", "");
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = has_addresses ? &flags : NULL,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    app_check_vk(vkAllocateMemory(app_device, &allocate, NULL, &b.memory), "vkAllocateMemory");
    app_check_vk(vkBindBufferMemory(app_device, b.buffer, b.memory, 0), "vkBindBufferMemory");
    app_check_vk(vkMapMemory(app_device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.data), "vkMapMemory");
    return b;
}

void app_destroy_buffer(const app_buffer* buffer) {
    vkDestroyBuffer(app_device, buffer->buffer, NULL);
    vkFreeMemory(app_device, buffer->memory, NULL);
}

static void* read_file(const char* path, uint64_t* size) {
    /* Without O_NONBLOCK, opening a FIFO waits until somebody writes to it. */
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) app_fail("cannot open", path);
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) app_fail("not a regular file", path);
    const size_t end = (size_t)status.st_size;
    char* bytes = malloc(end > 0 ? end : 1);
    if (!bytes) app_fail("no memory for", path);
    for (size_t at = 0; at < end;) {
        const ssize_t count = read(file, bytes + at, end - at);
        if (count <= 0) app_fail("cannot read", path);
        at += (size_t)count;
    }
    close(file);
    *size = end;
    return bytes;
}

hearth_context_create_info app_host_info(void) {
    hearth_context_create_info info = hearth_context_create_info_default();
    info.instance = instance;
    info.physical_device = physical_device;
    info.device = app_device;
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.api_version = api_version;
    info.queue_family_index = queue_family;
    info.device_extension_count = extension_count;
    info.device_extensions = extensions;
    info.features = enabled_features;
    info.binding_model = binding_model;
#if defined(APP_USES_VMA)
    info.device_memory_callbacks = &device_memory_callbacks;
#endif
    return info;
}

hearth_context* app_adopt_device(void) {
    const hearth_context_create_info info = app_host_info();
    hearth_context* context;
    static hearth_messages messages;
    app_check(hearth_context_create(&info, &context, &messages), "hearth_context_create",
              messages.text);
    return context;
}

hearth_program* app_load(hearth_context* context, const char* path, const char* device_target) {
    hearth_program* program;
    hearth_result result;
    uint64_t size;
    void* bytes = read_file(path, &size);
    if (size >= 4 && memcmp(bytes, "HRPK", 4) == 0) {
        hearth_package_load_info load = hearth_package_load_info_default();
        load.device_target = device_target;
        load.bytes = bytes;
        load.byte_count = size;
        result = hearth_package_load(context, &load, &program);
    } else {
        hearth_program_load_info load = hearth_program_load_info_default();
        load.bytes = bytes;
        load.byte_count = size;
        result = hearth_program_load(context, &load, &program);
    }
    free(bytes);
    app_check(result, path, hearth_context_error(context));
    return program;
}

void app_destroy_device(void) {
    destroy_allocator();
    vkDestroyCommandPool(app_device, pool, NULL);
    destroy_device();
}
