// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads Vulkan's functions at run time.

#include "vulkan_api.hpp"

#include "vulkan_loader.hpp"

namespace hearth::standalone {

Result<VulkanApi> open_vulkan() {
    HEARTH_ASSIGN(void* const get_instance_proc_addr, find_get_instance_proc_addr());
    VulkanApi vk;
    vk.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(get_instance_proc_addr);
#define GLOBAL(name) \
    vk.name = reinterpret_cast<PFN_vk##name>(vk.GetInstanceProcAddr(nullptr, "vk" #name));
#define INSTANCE(name)
#define DEVICE(name)
#include "vulkan_functions.inl"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
    if (!vk.EnumerateInstanceVersion) {
        return unsupported("the Vulkan loader knows only Vulkan 1.0; 1.2 is needed");
    }
    return vk;
}

void VulkanApi::load_instance(VkInstance instance) {
#define GLOBAL(name)
#define INSTANCE(name) \
    name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name));
#define DEVICE(name)
#include "vulkan_functions.inl"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
}

void VulkanApi::load_device(VkDevice device) {
#define GLOBAL(name)
#define INSTANCE(name)
#define DEVICE(name) name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(device, "vk" #name));
#include "vulkan_functions.inl"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
    // Extension functions before Vulkan 1.2.
    const auto load_extension = [&](auto& function, const char* name) {
        if (function == nullptr)
            function =
                reinterpret_cast<std::decay_t<decltype(function)>>(GetDeviceProcAddr(device, name));
    };
    load_extension(GetBufferDeviceAddress, "vkGetBufferDeviceAddressKHR");
    load_extension(GetSemaphoreCounterValue, "vkGetSemaphoreCounterValueKHR");
    load_extension(WaitSemaphores, "vkWaitSemaphoresKHR");
    load_extension(ResetQueryPool, "vkResetQueryPoolEXT");
}

std::string result_name(VkResult result) {
#define NAME(value) \
    case value:     \
        return #value
    switch (result) {
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_SUBOPTIMAL_KHR);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_SURFACE_LOST_KHR);
        NAME(VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
        NAME(VK_ERROR_OUT_OF_DATE_KHR);
        default:
            return "VkResult " + std::to_string(static_cast<int>(result));
    }
#undef NAME
}

Status check_vulkan(VkResult result, const char* call) {
    if (result >= 0) return {};
    const std::string text = std::string(call) + " failed: " + result_name(result);
    switch (result) {
        case VK_ERROR_OUT_OF_HOST_MEMORY:
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
            return out_of_range(text);
        case VK_ERROR_LAYER_NOT_PRESENT:
        case VK_ERROR_EXTENSION_NOT_PRESENT:
        case VK_ERROR_FEATURE_NOT_PRESENT:
        case VK_ERROR_INCOMPATIBLE_DRIVER:
        case VK_ERROR_FORMAT_NOT_SUPPORTED:
            return unsupported(text);
        default:
            return internal_error(text);
    }
}

}  // namespace hearth::standalone
