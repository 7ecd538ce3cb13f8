/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Submits what Hearth records, for an application without a command buffer of its own for it:
 * agents that learn on a separate thread, or a tool. C and C++; compiled in the game, against its
 * vulkan.h. Hearth itself submits nothing: this calls Vulkan on behalf of the application, under
 * its lock, or through its submit callback.
 *
 *     hearth_submitter submitter;
 *     hearth_submitter_create(&submitter, &access);
 *     ...
 *     result = hearth_submitter_begin(&submitter, &commands, &frame_number, &completed);
 *                                                     // VK_NOT_READY: too many in flight
 *     hearth_begin_frame(context, frame_number, completed);
 *     hearth_record(session, ...commands...);
 *     if (hearth_submitter_end(&submitter, NULL) != VK_SUCCESS)
 *         hearth_discard_frame(context, frame_number, NULL);
 *
 * It provides the context's frame numbers, so all recordings of a context go through one submitter.
 * begin and end never block; hearth_submitter_wait does. Threads: externally synchronized on the
 * submitter; the lock callbacks protect the queue. */

#ifndef HEARTH_SUBMIT_H_
#define HEARTH_SUBMIT_H_

#include <stdint.h>
#include <string.h>
#include <vulkan/vulkan.h>

#if defined(__cplusplus)
#define HEARTH_SUBMIT_INLINE inline
#define HEARTH_SUBMIT_CAST(type, value) reinterpret_cast<type>(value)
#else
#define HEARTH_SUBMIT_INLINE static inline
#define HEARTH_SUBMIT_CAST(type, value) ((type)(value))
#endif

/* A queue that is shared with others. */
typedef struct hearth_queue_access {
    VkDevice device;
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
    VkQueue queue;
    uint32_t family, index; /* passed to the callbacks below */
    /* Called around each submission only. */
    void (*lock)(void* user_data, uint32_t family, uint32_t index);
    void (*unlock)(void* user_data, uint32_t family, uint32_t index);
    /* Alternatively the application submits, immediately or later, in the order of the calls.
     * *submit is valid during the call. */
    VkResult (*submit)(void* user_data, uint32_t family, uint32_t index, const VkSubmitInfo* submit,
                       VkFence fence);
    void* user_data;
} hearth_queue_access;

#define HEARTH_SUBMITTER_FRAMES 3 /* submissions in flight */

typedef struct hearth_submitter {
    hearth_queue_access access;
    VkCommandPool pool;
    VkCommandBuffer commands[HEARTH_SUBMITTER_FRAMES];
    VkFence fences[HEARTH_SUBMITTER_FRAMES];
    uint64_t submitted, completed; /* frame numbers: 1, 2, ... */
    PFN_vkDestroyCommandPool destroy_pool;
    PFN_vkDestroyFence destroy_fence;
    PFN_vkGetFenceStatus fence_status;
    PFN_vkWaitForFences wait_for_fences;
    PFN_vkResetFences reset_fences;
    PFN_vkBeginCommandBuffer begin_commands;
    PFN_vkEndCommandBuffer end_commands;
    PFN_vkQueueSubmit queue_submit;
} hearth_submitter;

#define HEARTH_SUBMIT_LOAD(name) \
    HEARTH_SUBMIT_CAST(PFN_##name, access->get_device_proc_addr(access->device, #name))

/* Does not wait: call hearth_submitter_wait first if anything is in flight. */
HEARTH_SUBMIT_INLINE void hearth_submitter_destroy(hearth_submitter* s) {
    for (uint32_t i = 0; i < HEARTH_SUBMITTER_FRAMES; ++i)
        if (s->fences[i] != VK_NULL_HANDLE) s->destroy_fence(s->access.device, s->fences[i], NULL);
    if (s->pool != VK_NULL_HANDLE) s->destroy_pool(s->access.device, s->pool, NULL);
    memset(s, 0, sizeof *s);
}

/* VK_ERROR_INITIALIZATION_FAILED: neither `submit` nor both of `lock` and `unlock` given, or a
 * Vulkan function is missing. */
HEARTH_SUBMIT_INLINE VkResult hearth_submitter_create(hearth_submitter* s,
                                                      const hearth_queue_access* access) {
    const PFN_vkCreateCommandPool create_pool = HEARTH_SUBMIT_LOAD(vkCreateCommandPool);
    const PFN_vkAllocateCommandBuffers allocate = HEARTH_SUBMIT_LOAD(vkAllocateCommandBuffers);
    const PFN_vkCreateFence create_fence = HEARTH_SUBMIT_LOAD(vkCreateFence);
    VkCommandPoolCreateInfo pool;
    VkCommandBufferAllocateInfo buffers;
    VkFenceCreateInfo fence;
    VkResult result;
    memset(s, 0, sizeof *s);
    s->access = *access;
    s->destroy_pool = HEARTH_SUBMIT_LOAD(vkDestroyCommandPool);
    s->destroy_fence = HEARTH_SUBMIT_LOAD(vkDestroyFence);
    s->fence_status = HEARTH_SUBMIT_LOAD(vkGetFenceStatus);
    s->wait_for_fences = HEARTH_SUBMIT_LOAD(vkWaitForFences);
    s->reset_fences = HEARTH_SUBMIT_LOAD(vkResetFences);
    s->begin_commands = HEARTH_SUBMIT_LOAD(vkBeginCommandBuffer);
    s->end_commands = HEARTH_SUBMIT_LOAD(vkEndCommandBuffer);
    s->queue_submit = HEARTH_SUBMIT_LOAD(vkQueueSubmit);
    if (!create_pool || !allocate || !create_fence || !s->destroy_pool || !s->destroy_fence ||
        !s->fence_status || !s->wait_for_fences || !s->reset_fences || !s->begin_commands ||
        !s->end_commands || !s->queue_submit ||
        (!access->submit && (!access->lock || !access->unlock)))
        return VK_ERROR_INITIALIZATION_FAILED;

    memset(&pool, 0, sizeof pool);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = access->family;
    result = create_pool(access->device, &pool, NULL, &s->pool);
    memset(&buffers, 0, sizeof buffers);
    buffers.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    buffers.commandPool = s->pool;
    buffers.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    buffers.commandBufferCount = HEARTH_SUBMITTER_FRAMES;
    if (result == VK_SUCCESS) result = allocate(access->device, &buffers, s->commands);
    memset(&fence, 0, sizeof fence);
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    for (uint32_t i = 0; i < HEARTH_SUBMITTER_FRAMES && result == VK_SUCCESS; ++i)
        result = create_fence(access->device, &fence, NULL, &s->fences[i]);
    if (result != VK_SUCCESS) hearth_submitter_destroy(s);
    return result;
}

/* Updates which submissions have completed; never waits. Returns VK_ERROR_DEVICE_LOST or
 * VK_SUCCESS. */
HEARTH_SUBMIT_INLINE VkResult hearth_submitter_poll(hearth_submitter* s) {
    while (s->completed < s->submitted) {
        const VkResult status =
            s->fence_status(s->access.device, s->fences[s->completed % HEARTH_SUBMITTER_FRAMES]);
        if (status == VK_NOT_READY) return VK_SUCCESS;
        if (status != VK_SUCCESS) return status;
        ++s->completed;
    }
    return VK_SUCCESS;
}

/* Waits until everything submitted has completed, or for the timeout. The only call that waits. */
HEARTH_SUBMIT_INLINE VkResult hearth_submitter_wait(hearth_submitter* s, uint64_t timeout_ns) {
    while (s->completed < s->submitted) {
        const VkResult result = s->wait_for_fences(
            s->access.device, 1, &s->fences[s->completed % HEARTH_SUBMITTER_FRAMES], VK_TRUE,
            timeout_ns);
        if (result != VK_SUCCESS) return result;
        ++s->completed;
    }
    return VK_SUCCESS;
}

/* Returns a command buffer to record into, and the arguments of hearth_begin_frame. VK_NOT_READY:
 * HEARTH_SUBMITTER_FRAMES submissions are in flight. */
HEARTH_SUBMIT_INLINE VkResult hearth_submitter_begin(hearth_submitter* s, VkCommandBuffer* commands,
                                                     uint64_t* frame_number, uint64_t* completed) {
    const uint64_t frame = s->submitted % HEARTH_SUBMITTER_FRAMES;
    VkCommandBufferBeginInfo begin;
    const VkResult result = hearth_submitter_poll(s);
    if (result != VK_SUCCESS) return result;
    if (s->submitted - s->completed == HEARTH_SUBMITTER_FRAMES) return VK_NOT_READY;
    memset(&begin, 0, sizeof begin);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    *commands = s->commands[frame];
    *frame_number = s->submitted + 1;
    *completed = s->completed;
    return s->begin_commands(*commands, &begin);
}

/* Submits what was recorded since begin.
 * with  optional: adds its semaphores and pNext to the submission; its command buffers are ignored
 * On error nothing was submitted: call hearth_discard_frame, and begin again with the same frame
 * number. */
HEARTH_SUBMIT_INLINE VkResult hearth_submitter_end(hearth_submitter* s, const VkSubmitInfo* with) {
    const hearth_queue_access* a = &s->access;
    const uint64_t frame = s->submitted % HEARTH_SUBMITTER_FRAMES;
    VkSubmitInfo submit;
    VkResult result = s->end_commands(s->commands[frame]);
    if (result == VK_SUCCESS) result = s->reset_fences(a->device, 1, &s->fences[frame]);
    if (result != VK_SUCCESS) return result;
    memset(&submit, 0, sizeof submit);
    if (with) submit = *with;
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &s->commands[frame];
    if (a->submit) {
        result = a->submit(a->user_data, a->family, a->index, &submit, s->fences[frame]);
    } else {
        a->lock(a->user_data, a->family, a->index);
        result = s->queue_submit(a->queue, 1, &submit, s->fences[frame]);
        a->unlock(a->user_data, a->family, a->index);
    }
    if (result == VK_SUCCESS) ++s->submitted;
    return result;
}

#undef HEARTH_SUBMIT_LOAD
#undef HEARTH_SUBMIT_CAST
#undef HEARTH_SUBMIT_INLINE

#endif /* HEARTH_SUBMIT_H_ */
