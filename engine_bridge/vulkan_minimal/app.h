/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The Vulkan code that any application already has: a device, command buffers, reading a file.
 * Errors end the program with a message. */

#ifndef VULKAN_MINIMAL_APP_H_
#define VULKAN_MINIMAL_APP_H_

#include <hearth/hearth.h>

#include <stdint.h>
#if defined(APP_USES_VOLK)
#include <volk.h>
#else
#include <vulkan/vulkan.h>
#endif
#if defined(APP_USES_VMA)
#include "vma/hearth_vma.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern VkDevice app_device;

/* A buffer that both the CPU and kernels can reach. */
typedef struct app_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t usage;
    uint64_t bytes;
    void* data;
} app_buffer;

void app_fail(const char* what, const char* detail);
void app_check_vk(VkResult result, const char* what);
/* detail: hearth_context_error, hearth_session_error, ... */
void app_check(hearth_result result, const char* what, const char* detail);

/* Creates the first device that Hearth can use, with the required features and one queue. */
void app_make_device(void);
void app_destroy_device(void);
/* Returns the description of the device that Hearth needs. */
hearth_context_create_info app_host_info(void);
/* Creates a Hearth context on the device. */
hearth_context* app_adopt_device(void);

app_buffer app_make_buffer(uint64_t bytes);
void app_destroy_buffer(const app_buffer* buffer);

VkCommandBuffer app_begin_commands(void);
void app_submit_and_wait(VkCommandBuffer commands);

/* Loads a program, or this device target of a package; NULL: the first that the device can run. */
hearth_program* app_load(hearth_context* context, const char* path, const char* device_target);

#ifdef __cplusplus
}
#endif

#endif
