// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Objects behind the handles of a CPU device.

#pragma once

#include "core/portable.hpp"
#include "device/native/device.hpp"

#include <cstring>
#include <new>

namespace hearth::native {

/// Allocations start at a cache line.
inline constexpr size_t kMemoryAlignment = 64;

struct Memory {
    std::byte* data = nullptr;
    void* block = nullptr;  ///< as allocated
};

struct Buffer {
    std::byte* data = nullptr;
    uint64_t bytes = 0;
};

/// A shader module: the hash of its kernel.
struct Module {
    uint64_t hash = 0;
};

struct Pipeline {
    Function* function = nullptr;
};

/// A push-constant layout.
struct Layout {
    uint32_t push_bytes = 0;
};

/// Timestamps in nanoseconds.
struct QueryPool {
    uint64_t* values = nullptr;
    bool* are_written = nullptr;
};

/// Allocates as Vulkan's functions do: with the caller's callbacks, or else the C library.
inline void* allocate(const VkAllocationCallbacks* callbacks, size_t bytes, size_t alignment) {
    return callbacks != nullptr ? callbacks->pfnAllocation(callbacks->pUserData, bytes, alignment,
                                                           VK_SYSTEM_ALLOCATION_SCOPE_OBJECT)
                                : allocate_aligned(bytes, alignment);
}
inline void free(const VkAllocationCallbacks* callbacks, void* memory) {
    if (callbacks == nullptr) return free_aligned(memory);
    if (memory != nullptr) callbacks->pfnFree(callbacks->pUserData, memory);
}

/// Handles are pointers on 64-bit platforms and integers on others.
template <class Handle, class T>
Handle to_handle(T* object) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(object);
    else
        return reinterpret_cast<uintptr_t>(object);
}
template <class T, class Handle>
T* to_object(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<T*>(handle);
    else
        return reinterpret_cast<T*>(static_cast<uintptr_t>(handle));
}

template <class T, class Handle>
VkResult create(const VkAllocationCallbacks* callbacks, Handle* out, const T& value) {
    void* const memory = allocate(callbacks, sizeof(T), alignof(T));
    if (memory == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
    *out = to_handle<Handle>(new (memory) T(value));
    return VK_SUCCESS;
}
template <class T, class Handle>
void destroy(const VkAllocationCallbacks* callbacks, Handle handle) {
    if (handle == VK_NULL_HANDLE) return;
    T* const object = to_object<T>(handle);
    object->~T();
    free(callbacks, object);
}

/// Returns the recording function (vkCmd*) of this name, or null.
PFN_vkVoidFunction find_recording_function(const char* name);

}  // namespace hearth::native
