/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Allocates Hearth's device memory with the game's Vulkan Memory Allocator (VMA 3.0 and later). C
 * and C++; compiled in the game, against its own vk_mem_alloc.h:
 *
 *     hearth_device_memory_callbacks callbacks = hearth_vma_callbacks(allocator);
 *     info.device_memory_callbacks = &callbacks;     // of hearth_context_create_info; copied
 *
 * The allocator must outlive the context. Create it with
 * VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT if the context's programs use addresses
 * (HEARTH_BINDING_DEVICE_ADDRESS), and without VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT
 * unless contexts and the game take turns. Each of Hearth's buffers is one allocation with its
 * name, sub-allocated or dedicated as VMA decides. */

#ifndef HEARTH_VMA_H_
#define HEARTH_VMA_H_

#include <hearth/hearth.h>

#include <string.h>
#include <vk_mem_alloc.h>

#if defined(__cplusplus)
#define HEARTH_VMA_INLINE inline
#define HEARTH_VMA_CAST(type, value) reinterpret_cast<type>(value)
#else
#define HEARTH_VMA_INLINE static inline
#define HEARTH_VMA_CAST(type, value) ((type)(value))
#endif

/* Implements hearth_device_memory_callbacks::allocate; user_data is the VmaAllocator. */
HEARTH_VMA_INLINE hearth_result hearth_vma_allocate(
    void* user_data, const hearth_device_memory_allocate_info* request, hearth_memory_block* out) {
    VmaAllocator allocator = HEARTH_VMA_CAST(VmaAllocator, user_data);
    VkMemoryRequirements needs;
    VmaAllocationCreateInfo create;
    VmaAllocation allocation;
    VmaAllocationInfo info;
    VkResult result;
    memset(&create, 0, sizeof create);
    needs.size = request->size_bytes;
    needs.alignment = request->alignment;
    needs.memoryTypeBits = request->memory_type_bits;
    create.requiredFlags = request->required_properties;
    create.preferredFlags = request->preferred_properties;
    if ((request->required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0)
        create.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT;
    result = vmaAllocateMemory(allocator, &needs, &create, &allocation, &info);
    if (result == VK_ERROR_DEVICE_LOST) return HEARTH_ERROR_DEVICE_LOST;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY) return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS) return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
    vmaSetAllocationName(allocator, allocation, request->name);
    out->memory = info.deviceMemory;
    out->offset = info.offset;
    out->mapped = info.pMappedData;
    out->user_data = HEARTH_VMA_CAST(uintptr_t, allocation);
    return HEARTH_OK;
}

/* Implements hearth_device_memory_callbacks::free. */
HEARTH_VMA_INLINE void hearth_vma_free(void* user_data, const hearth_memory_block* block) {
    vmaFreeMemory(HEARTH_VMA_CAST(VmaAllocator, user_data),
                  HEARTH_VMA_CAST(VmaAllocation, block->user_data));
}

HEARTH_VMA_INLINE hearth_device_memory_callbacks hearth_vma_callbacks(VmaAllocator allocator) {
    hearth_device_memory_callbacks callbacks;
    callbacks.user_data = allocator;
    callbacks.allocate = hearth_vma_allocate;
    callbacks.free = hearth_vma_free;
    return callbacks;
}

#undef HEARTH_VMA_CAST
#undef HEARTH_VMA_INLINE

#endif
