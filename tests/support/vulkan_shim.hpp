// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stands between Hearth and Vulkan, as a capturing or locking host would: hands out its own
// functions, counts calls, and fails the n-th one on request.  What Hearth asks for and must not
// have (submits, waits, devices) is kept by name.

#pragma once

#include "device/vulkan/vulkan.hpp"

#include <hearth/hearth.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace hearth::test {

enum ShimFunction : int {
#define HEARTH_ID(name) k##name,
    HEARTH_INSTANCE_FUNCTIONS(HEARTH_ID) HEARTH_DEVICE_FUNCTIONS(HEARTH_ID)
        HEARTH_OPTIONAL_DEVICE_FUNCTIONS(HEARTH_ID)
#undef HEARTH_ID
            kShimFunctionCount
};

/// State of the shim; one for the process, because Vulkan's functions have no user data.
struct VulkanShim {
    PFN_vkGetInstanceProcAddr real_instance_proc = nullptr;
    PFN_vkGetDeviceProcAddr real_device_proc = nullptr;
    std::atomic<uint64_t> calls[kShimFunctionCount];
    /// Names asked for that are not in Hearth's table.
    std::set<std::string> unexpected;
    /// Functions that may return VK_ERROR_*: counted down to a failure.  Negative: never.
    std::atomic<int64_t> fallible_calls_left{-1};
    VkResult failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    std::atomic<int> failed{-1};  ///< the function that failed last
    /// Whether the calling thread is inside the driver, where allocations are not Hearth's.
    static bool& in_driver() {
        thread_local bool inside = false;
        return inside;
    }

    static VulkanShim& get() {
        static VulkanShim shim;
        return shim;
    }
    void reset() {
        for (auto& count : calls) count = 0;
        unexpected.clear();
        fallible_calls_left = -1;
        failed = -1;
        failure = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    static const char* name_of(int function) {
        static constexpr const char* kNames[] = {
#define HEARTH_NAME(name) "vk" #name,
            HEARTH_INSTANCE_FUNCTIONS(HEARTH_NAME) HEARTH_DEVICE_FUNCTIONS(HEARTH_NAME)
                HEARTH_OPTIONAL_DEVICE_FUNCTIONS(HEARTH_NAME)
#undef HEARTH_NAME
        };
        return function >= 0 && function < kShimFunctionCount ? kNames[function] : "none";
    }
    uint64_t total_calls() const {
        uint64_t total = 0;
        for (const auto& count : calls) total += count;
        return total;
    }
    uint64_t command_calls() const {
        return calls[kCmdBindPipeline] + calls[kCmdPushConstants] + calls[kCmdDispatch] +
               calls[kCmdDispatchBase] + calls[kCmdCopyBuffer] + calls[kCmdFillBuffer] +
               calls[kCmdPipelineBarrier] + calls[kCmdPipelineBarrier2] +
               calls[kCmdWriteTimestamp] + calls[kCmdResetQueryPool] +
               calls[kCmdPushDescriptorSetKHR] + calls[kCmdBindDescriptorSets] +
               calls[kCmdBeginDebugUtilsLabelEXT] + calls[kCmdEndDebugUtilsLabelEXT];
    }
    /// Calls that create or destroy something.
    uint64_t object_calls() const {
        return calls[kAllocateMemory] + calls[kFreeMemory] + calls[kMapMemory] +
               calls[kCreateBuffer] + calls[kDestroyBuffer] + calls[kCreateShaderModule] +
               calls[kCreatePipelineLayout] + calls[kCreateComputePipelines] +
               calls[kDestroyPipeline] + calls[kCreateQueryPool] + calls[kDestroyQueryPool] +
               calls[kCreateDescriptorSetLayout] + calls[kCreateDescriptorPool] +
               calls[kAllocateDescriptorSets];
    }

    /// Puts the shim in front of what the host would have passed.
    void intercept(hearth_context_create_info& info) {
        real_instance_proc = info.get_instance_proc_addr;
        real_device_proc = info.get_device_proc_addr;
        info.get_instance_proc_addr = instance_proc;
        info.get_device_proc_addr = device_proc;
    }

    static PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance instance, const char* name);
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice device, const char* name);
};

/// The function handed out for Id.
template <class Function, int Id>
struct ShimThunk;

template <class Return, class... Args, int Id>
struct ShimThunk<Return(VKAPI_PTR*)(Args...), Id> {
    static inline Return(VKAPI_PTR* real)(Args...) = nullptr;

    static Return VKAPI_PTR call(Args... args) {
        VulkanShim& shim = VulkanShim::get();
        ++shim.calls[Id];
        if constexpr (std::is_same_v<Return, VkResult> && Id != kSetDebugUtilsObjectNameEXT) {
            if (shim.fallible_calls_left >= 0 && shim.fallible_calls_left-- == 0) {
                shim.failed = Id;
                return shim.failure;
            }
        }
        const bool was_inside = std::exchange(VulkanShim::in_driver(), true);
        struct Leave {
            bool value;
            ~Leave() { VulkanShim::in_driver() = value; }
        } leave{was_inside};
        return real(args...);
    }
};

inline PFN_vkVoidFunction VKAPI_PTR VulkanShim::instance_proc(VkInstance instance,
                                                              const char* name) {
    VulkanShim& shim = get();
#define HEARTH_HAND_OUT(function)                                                                  \
    if (std::strcmp(name, "vk" #function) == 0) {                                                  \
        using Thunk = ShimThunk<PFN_vk##function, k##function>;                                    \
        Thunk::real = reinterpret_cast<PFN_vk##function>(shim.real_instance_proc(instance, name)); \
        return Thunk::real != nullptr ? reinterpret_cast<PFN_vkVoidFunction>(&Thunk::call)         \
                                      : nullptr;                                                   \
    }
    HEARTH_INSTANCE_FUNCTIONS(HEARTH_HAND_OUT)
#undef HEARTH_HAND_OUT
    // Further questions about the physical device make nothing; some are newer than the headers.
    if (!std::string_view(name).starts_with("vkGetPhysicalDevice")) shim.unexpected.insert(name);
    return shim.real_instance_proc(instance, name);
}

inline PFN_vkVoidFunction VKAPI_PTR VulkanShim::device_proc(VkDevice device, const char* name) {
    VulkanShim& shim = get();
    const char* const asked = name;
    // Before they were in the core, extensions had them.
    constexpr const char* kEarlier[][2] = {
        {"vkCmdPipelineBarrier2KHR", "vkCmdPipelineBarrier2"},
        {"vkGetBufferDeviceAddressKHR", "vkGetBufferDeviceAddress"},
        {"vkGetSemaphoreCounterValueKHR", "vkGetSemaphoreCounterValue"},
        {"vkResetQueryPoolEXT", "vkResetQueryPool"},
    };
    for (const auto& [earlier, function] : kEarlier)
        if (std::strcmp(name, earlier) == 0) name = function;
#define HEARTH_HAND_OUT(function)                                                               \
    if (std::strcmp(name, "vk" #function) == 0) {                                               \
        using Thunk = ShimThunk<PFN_vk##function, k##function>;                                 \
        Thunk::real = reinterpret_cast<PFN_vk##function>(shim.real_device_proc(device, asked)); \
        return Thunk::real != nullptr ? reinterpret_cast<PFN_vkVoidFunction>(&Thunk::call)      \
                                      : nullptr;                                                \
    }
    HEARTH_DEVICE_FUNCTIONS(HEARTH_HAND_OUT)
    HEARTH_OPTIONAL_DEVICE_FUNCTIONS(HEARTH_HAND_OUT)
#undef HEARTH_HAND_OUT
    shim.unexpected.insert(asked);
    return shim.real_device_proc(device, asked);
}

}  // namespace hearth::test
