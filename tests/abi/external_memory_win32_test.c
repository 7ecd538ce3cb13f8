/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* engine_bridge/external_memory on Windows: what a driver is handed for a resource and a fence of Direct3D 12's.  The
 * driver is a table of functions here: there is none under Wine that shares with Direct3D. */

#define VK_USE_PLATFORM_WIN32_KHR
#include "external_memory/hearth_external_memory.h"

#include <stdio.h>

static int failures;
#define CHECK(claim)                                           \
    do {                                                       \
        if (!(claim)) {                                        \
            ++failures;                                        \
            printf("line %d: not so: %s\n", __LINE__, #claim); \
        }                                                      \
    } while (0)

static int target;
#define SHARED ((HANDLE)&target)
static VkExternalMemoryHandleTypeFlags made_for, asked_for;
static VkMemoryAllocateInfo allocated;
static VkMemoryAllocateFlagsInfo flags;
static VkMemoryDedicatedAllocateInfo dedicated;
static VkImportMemoryWin32HandleInfoKHR memory_handle;
static VkImportSemaphoreWin32HandleInfoKHR fence_handle;
static int buffers, memories, bound;

static VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                         const VkAllocationCallbacks* callbacks, VkBuffer* out) {
    (void)device, (void)callbacks;
    made_for = ((const VkExternalMemoryBufferCreateInfo*)info->pNext)->handleTypes;
    *out = (VkBuffer)(uintptr_t)0x1000;
    ++buffers;
    return VK_SUCCESS;
}
static void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                      const VkAllocationCallbacks* callbacks) {
    (void)device, (void)callbacks;
    if (buffer != VK_NULL_HANDLE) --buffers;
}
static void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* out) {
    (void)device, (void)buffer;
    memset(out, 0, sizeof *out);
    out->size = 4096;
    out->memoryTypeBits = 0xc;
}
static VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkDeviceMemory* out) {
    const VkBaseInStructure* at;
    (void)device, (void)callbacks;
    allocated = *info;
    memset(&flags, 0, sizeof flags);
    memset(&dedicated, 0, sizeof dedicated);
    memset(&memory_handle, 0, sizeof memory_handle);
    for (at = (const VkBaseInStructure*)info->pNext; at != NULL; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO)
            memcpy(&flags, at, sizeof flags);
        if (at->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO)
            memcpy(&dedicated, at, sizeof dedicated);
        if (at->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR)
            memcpy(&memory_handle, at, sizeof memory_handle);
    }
    *out = (VkDeviceMemory)(uintptr_t)0x2000;
    ++memories;
    return VK_SUCCESS;
}
static void VKAPI_CALL release(VkDevice device, VkDeviceMemory memory,
                               const VkAllocationCallbacks* callbacks) {
    (void)device, (void)callbacks;
    if (memory != VK_NULL_HANDLE) --memories;
}
static VkResult VKAPI_CALL bind_memory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                       VkDeviceSize offset) {
    (void)device, (void)buffer, (void)memory;
    bound += offset == 0;
    return VK_SUCCESS;
}
static VkResult VKAPI_CALL ask(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                               HANDLE shared, VkMemoryWin32HandlePropertiesKHR* out) {
    (void)device;
    CHECK(shared == SHARED);
    asked_for = type;
    out->memoryTypeBits = 0x8;
    return VK_SUCCESS;
}
static VkResult VKAPI_CALL import_fence(VkDevice device,
                                        const VkImportSemaphoreWin32HandleInfoKHR* info) {
    (void)device;
    fence_handle = *info;
    return VK_SUCCESS;
}

static int has_extensions = 1;
static PFN_vkVoidFunction VKAPI_CALL get_proc(VkDevice device, const char* name) {
    static const struct {
        const char* name;
        PFN_vkVoidFunction function;
        int is_of_extension;
    } table[] = {{"vkCreateBuffer", (PFN_vkVoidFunction)create_buffer, 0},
                 {"vkDestroyBuffer", (PFN_vkVoidFunction)destroy_buffer, 0},
                 {"vkGetBufferMemoryRequirements", (PFN_vkVoidFunction)requirements, 0},
                 {"vkAllocateMemory", (PFN_vkVoidFunction)allocate, 0},
                 {"vkFreeMemory", (PFN_vkVoidFunction)release, 0},
                 {"vkBindBufferMemory", (PFN_vkVoidFunction)bind_memory, 0},
                 {"vkGetMemoryWin32HandlePropertiesKHR", (PFN_vkVoidFunction)ask, 1},
                 {"vkImportSemaphoreWin32HandleKHR", (PFN_vkVoidFunction)import_fence, 1}};
    size_t i;
    (void)device;
    for (i = 0; i < sizeof table / sizeof *table; ++i)
        if (strcmp(table[i].name, name) == 0 && (has_extensions || !table[i].is_of_extension))
            return table[i].function;
    return NULL;
}

int main(void) {
    const hearth_import import = {(VkDevice)(uintptr_t)0x3000, get_proc,
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, HEARTH_IMPORT_ADDRESS};
    const VkSemaphore semaphore = (VkSemaphore)(uintptr_t)0x4000;
    const VkExternalMemoryHandleTypeFlagBits direct3d =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT;
    const VkExternalMemoryHandleTypeFlagBits vulkan =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
    hearth_imported x;

    /* Of Direct3D 12: dedicated to the buffer, of a type that both the buffer and the handle allow. */
    CHECK(hearth_import_win32(&import, SHARED, direct3d, 4096, UINT32_MAX, 4000, &x) == VK_SUCCESS);
    CHECK(made_for == (VkExternalMemoryHandleTypeFlags)direct3d && asked_for == made_for);
    CHECK(allocated.memoryTypeIndex == 3 && allocated.allocationSize == 4096);
    CHECK(flags.flags == VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
    CHECK(dedicated.buffer == x.buffer && dedicated.image == VK_NULL_HANDLE);
    CHECK(memory_handle.handle == SHARED && memory_handle.handleType == direct3d);
    CHECK(bound == 1 && buffers == 1 && memories == 1);
    hearth_imported_destroy(&import, &x);
    CHECK(buffers == 0 && memories == 0);

    /* Of Vulkan's: as it was allocated. */
    asked_for = 0;
    CHECK(hearth_import_win32(&import, SHARED, vulkan, 4096, 2, 4000, &x) == VK_SUCCESS);
    CHECK(asked_for == 0 && allocated.memoryTypeIndex == 2);
    CHECK(dedicated.buffer == VK_NULL_HANDLE && memory_handle.handleType == vulkan);
    hearth_imported_destroy(&import, &x);

    /* What does not fit, or cannot be asked for, leaves nothing behind. */
    CHECK(hearth_import_win32(&import, SHARED, vulkan, 100, 2, 4000, &x) ==
          VK_ERROR_INVALID_EXTERNAL_HANDLE);
    CHECK(hearth_import_d3d12_fence(&import, semaphore, SHARED) == VK_SUCCESS);
    CHECK(fence_handle.semaphore == semaphore && fence_handle.handle == SHARED);
    CHECK(fence_handle.handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE_BIT);
    CHECK(fence_handle.flags == 0);
    has_extensions = 0;
    CHECK(hearth_import_win32(&import, SHARED, direct3d, 4096, UINT32_MAX, 4000, &x) ==
          VK_ERROR_EXTENSION_NOT_PRESENT);
    CHECK(hearth_import_d3d12_fence(&import, semaphore, SHARED) == VK_ERROR_EXTENSION_NOT_PRESENT);
    CHECK(buffers == 0 && memories == 0);

    printf("%d claims failed\n", failures);
    return failures != 0;
}
