/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Imports memory of another device, API or process as a buffer on Hearth's device, to be bound as
 * an input or output of an entry: a file descriptor exported by Vulkan (VK_KHR_external_memory_fd),
 * a Windows handle of Vulkan or Direct3D 12 (VK_KHR_external_memory_win32), or host pages
 * (VK_EXT_external_memory_host). C and C++; compiled in the game, against its vulkan.h. Independent
 * of Hearth: the result is a VkBuffer.
 *
 *     hearth_import import = {device, vkGetDeviceProcAddr, usage, HEARTH_IMPORT_ADDRESS};
 *     hearth_imported x;
 *     // Vulkan owns the fd from here on.
 *     hearth_import_fd(&import, fd, allocation_bytes, memory_type, bytes, &x);
 *     bindings[0] = hearth_bind_buffer(binding, x.buffer, 0, bytes, usage);
 *     ...
 *     hearth_imported_destroy(&import, &x);        // once no recording that uses it is in flight
 *
 * The application synchronizes accesses: with a semaphore that both sides share, or by waiting in
 * between. The functions for Windows exist if VK_USE_PLATFORM_WIN32_KHR is defined before vulkan.h
 * is included. */

#ifndef HEARTH_EXTERNAL_MEMORY_H_
#define HEARTH_EXTERNAL_MEMORY_H_

#include <stdint.h>
#include <string.h>
#include <vulkan/vulkan.h>

#if defined(__cplusplus)
#define HEARTH_EXTERNAL_INLINE inline
#define HEARTH_EXTERNAL_CAST(type, value) reinterpret_cast<type>(value)
#else
#define HEARTH_EXTERNAL_INLINE static inline
#define HEARTH_EXTERNAL_CAST(type, value) ((type)(value))
#endif

#define HEARTH_IMPORT_ADDRESS \
    0x1u /* the buffer's address is used: programs with device addresses */

typedef struct hearth_import {
    VkDevice device; /* with the extension enabled */
    PFN_vkGetDeviceProcAddr get_device_proc_addr;
    VkBufferUsageFlags usage;
    uint32_t flags;
} hearth_import;

typedef struct hearth_imported {
    VkBuffer buffer;
    VkDeviceMemory memory;
} hearth_imported;

#define HEARTH_EXTERNAL_LOAD(name) \
    HEARTH_EXTERNAL_CAST(PFN_##name, import->get_device_proc_addr(import->device, #name))

HEARTH_EXTERNAL_INLINE void hearth_imported_destroy(const hearth_import* import,
                                                    hearth_imported* imported) {
    const PFN_vkDestroyBuffer destroy = HEARTH_EXTERNAL_LOAD(vkDestroyBuffer);
    const PFN_vkFreeMemory release = HEARTH_EXTERNAL_LOAD(vkFreeMemory);
    destroy(import->device, imported->buffer, NULL);
    release(import->device, imported->memory, NULL);
    memset(imported, 0, sizeof *imported);
}

/* Creates a buffer over memory that `chain`, a VkImport* structure, describes. memory_type:
 * UINT32_MAX selects the first one that suits the buffer and is in `memory_types`. */
HEARTH_EXTERNAL_INLINE VkResult hearth_import_memory(const hearth_import* import,
                                                     VkExternalMemoryHandleTypeFlagBits handle_type,
                                                     const void* chain, uint64_t allocation_bytes,
                                                     uint32_t memory_type, uint32_t memory_types,
                                                     uint64_t bytes, hearth_imported* out) {
    const PFN_vkCreateBuffer create_buffer = HEARTH_EXTERNAL_LOAD(vkCreateBuffer);
    const PFN_vkGetBufferMemoryRequirements requirements =
        HEARTH_EXTERNAL_LOAD(vkGetBufferMemoryRequirements);
    const PFN_vkAllocateMemory allocate = HEARTH_EXTERNAL_LOAD(vkAllocateMemory);
    const PFN_vkBindBufferMemory bind = HEARTH_EXTERNAL_LOAD(vkBindBufferMemory);
    VkExternalMemoryBufferCreateInfo external;
    VkBufferCreateInfo create;
    VkMemoryRequirements needs;
    VkMemoryDedicatedAllocateInfo dedicated;
    VkMemoryAllocateFlagsInfo flags;
    VkMemoryAllocateInfo info;
    VkResult result;
    memset(out, 0, sizeof *out);
    memset(&external, 0, sizeof external);
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = handle_type;
    memset(&create, 0, sizeof create);
    create.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    create.pNext = &external;
    create.size = bytes;
    create.usage = import->usage;
    result = create_buffer(import->device, &create, NULL, &out->buffer);
    if (result != VK_SUCCESS) return result;
    requirements(import->device, out->buffer, &needs);
    if (memory_type == UINT32_MAX)
        for (memory_type = 0; memory_type < 32; ++memory_type)
            if ((needs.memoryTypeBits & memory_types) >> memory_type & 1u) break;
    /* Direct3D 12 resources require a dedicated allocation. */
    memset(&dedicated, 0, sizeof dedicated);
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.pNext = chain;
    dedicated.buffer = out->buffer;
    if (handle_type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT) chain = &dedicated;
    memset(&flags, 0, sizeof flags);
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.pNext = chain;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = (import->flags & HEARTH_IMPORT_ADDRESS) != 0 ? &flags : chain;
    info.allocationSize = allocation_bytes;
    info.memoryTypeIndex = memory_type;
    if (memory_type >= 32 || (needs.memoryTypeBits >> memory_type & 1u) == 0 ||
        needs.size > allocation_bytes)
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    if (result == VK_SUCCESS) result = allocate(import->device, &info, NULL, &out->memory);
    if (result == VK_SUCCESS) result = bind(import->device, out->buffer, out->memory, 0);
    if (result != VK_SUCCESS) hearth_imported_destroy(import, out);
    return result;
}

/* Imports memory that vkGetMemoryFdKHR exported as VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT on
 * the same physical device and driver.
 * allocation_bytes, memory_type  as allocated
 * bytes  size of the buffer, from the start of the memory
 * VK_SUCCESS: Vulkan owns the descriptor. On failure the caller keeps it;
 * VK_ERROR_INVALID_EXTERNAL_HANDLE includes memory that is too small for the buffer. */
HEARTH_EXTERNAL_INLINE VkResult hearth_import_fd(const hearth_import* import, int fd,
                                                 uint64_t allocation_bytes, uint32_t memory_type,
                                                 uint64_t bytes, hearth_imported* out) {
    VkImportMemoryFdInfoKHR handle;
    memset(&handle, 0, sizeof handle);
    handle.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
    handle.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    handle.fd = fd;
    return hearth_import_memory(import, handle.handleType, &handle, allocation_bytes, memory_type,
                                0, bytes, out);
}

#if defined(VK_USE_PLATFORM_WIN32_KHR)

/* Imports a handle of vkGetMemoryWin32HandleKHR (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT),
 * or of ID3D12Device::CreateSharedHandle for a committed buffer
 * (VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT).
 * memory_type  as allocated; UINT32_MAX for Direct3D's: the driver is queried
 * The caller keeps the handle, and may close it at once. */
HEARTH_EXTERNAL_INLINE VkResult hearth_import_win32(const hearth_import* import, HANDLE shared,
                                                    VkExternalMemoryHandleTypeFlagBits handle_type,
                                                    uint64_t allocation_bytes, uint32_t memory_type,
                                                    uint64_t bytes, hearth_imported* out) {
    const PFN_vkGetMemoryWin32HandlePropertiesKHR properties =
        HEARTH_EXTERNAL_LOAD(vkGetMemoryWin32HandlePropertiesKHR);
    VkMemoryWin32HandlePropertiesKHR types;
    VkImportMemoryWin32HandleInfoKHR handle;
    VkResult result;
    memset(&types, 0, sizeof types);
    types.sType = VK_STRUCTURE_TYPE_MEMORY_WIN32_HANDLE_PROPERTIES_KHR;
    memset(&handle, 0, sizeof handle);
    handle.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR;
    handle.handleType = handle_type;
    handle.handle = shared;
    if (memory_type == UINT32_MAX) {
        if (properties == NULL) return VK_ERROR_EXTENSION_NOT_PRESENT;
        result = properties(import->device, handle_type, shared, &types);
        if (result != VK_SUCCESS) return result;
    }
    return hearth_import_memory(import, handle_type, &handle, allocation_bytes, memory_type,
                                types.memoryTypeBits, bytes, out);
}

/* Makes a Vulkan timeline semaphore stand for an ID3D12Fence that was created with
 * D3D12_FENCE_FLAG_SHARED: each side waits for values that the other signals. The caller keeps the
 * handle. */
HEARTH_EXTERNAL_INLINE VkResult hearth_import_d3d12_fence(const hearth_import* import,
                                                          VkSemaphore semaphore, HANDLE shared) {
    const PFN_vkImportSemaphoreWin32HandleKHR import_semaphore =
        HEARTH_EXTERNAL_LOAD(vkImportSemaphoreWin32HandleKHR);
    VkImportSemaphoreWin32HandleInfoKHR handle;
    memset(&handle, 0, sizeof handle);
    handle.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR;
    handle.semaphore = semaphore;
    handle.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE_BIT;
    handle.handle = shared;
    if (import_semaphore == NULL) return VK_ERROR_EXTENSION_NOT_PRESENT;
    return import_semaphore(import->device, &handle);
}

#endif /* VK_USE_PLATFORM_WIN32_KHR */

/* Imports host pages. pointer and bytes: multiples of minImportedHostPointerAlignment; they must
 * outlive `out`. */
HEARTH_EXTERNAL_INLINE VkResult hearth_import_host_pointer(const hearth_import* import,
                                                           void* pointer, uint64_t bytes,
                                                           hearth_imported* out) {
    const PFN_vkGetMemoryHostPointerPropertiesEXT properties =
        HEARTH_EXTERNAL_LOAD(vkGetMemoryHostPointerPropertiesEXT);
    VkMemoryHostPointerPropertiesEXT types;
    VkImportMemoryHostPointerInfoEXT handle;
    VkResult result;
    memset(&types, 0, sizeof types);
    types.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    memset(&handle, 0, sizeof handle);
    handle.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    handle.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    handle.pHostPointer = pointer;
    if (properties == NULL) return VK_ERROR_EXTENSION_NOT_PRESENT;
    result = properties(import->device, handle.handleType, pointer, &types);
    if (result != VK_SUCCESS) return result;
    return hearth_import_memory(import, handle.handleType, &handle, bytes, UINT32_MAX,
                                types.memoryTypeBits, bytes, out);
}

#undef HEARTH_EXTERNAL_LOAD
#undef HEARTH_EXTERNAL_CAST
#undef HEARTH_EXTERNAL_INLINE

#endif /* HEARTH_EXTERNAL_MEMORY_H_ */
