// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Queues, pools and submissions of CPU devices, as Vulkan functions.

#include "native_functions.hpp"

#include "device/native/device.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace hearth::standalone {

namespace {

native::Device& device_of(VkDevice handle) {
    return *reinterpret_cast<native::Device*>(handle);
}

/// vkQueueSubmit completes the work before it returns: there is nothing to wait for.
VkResult VKAPI_PTR DeviceWaitIdle(VkDevice) {
    return VK_SUCCESS;
}
VkResult VKAPI_PTR QueueWaitIdle(VkQueue) {
    return VK_SUCCESS;
}

// All these handles are the device, which the instance owns.
void VKAPI_PTR DestroyInstance(VkInstance, const VkAllocationCallbacks*) {}
void VKAPI_PTR DestroyDevice(VkDevice, const VkAllocationCallbacks*) {}

VkResult VKAPI_PTR EnumeratePhysicalDevices(VkInstance instance, uint32_t* count,
                                            VkPhysicalDevice* out) {
    if (out != nullptr && *count > 0) *out = reinterpret_cast<VkPhysicalDevice>(instance);
    *count = 1;
    return VK_SUCCESS;
}

VkResult VKAPI_PTR CreateDevice(VkPhysicalDevice physical_device, const VkDeviceCreateInfo*,
                                const VkAllocationCallbacks*, VkDevice* out) {
    *out = reinterpret_cast<VkDevice>(physical_device);
    return VK_SUCCESS;
}
void VKAPI_PTR GetDeviceQueue(VkDevice device, uint32_t, uint32_t, VkQueue* out) {
    *out = reinterpret_cast<VkQueue>(device);
}

// ------------------------------------------------------------------------ command buffers

/// A VkCommandPool.
struct Pool {
    std::vector<VkCommandBuffer> commands;
};

template <class Handle>
Pool& pool_of(Handle handle) {
    return *reinterpret_cast<Pool*>(handle);
}

VkResult VKAPI_PTR CreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*,
                                     const VkAllocationCallbacks*, VkCommandPool* out) {
    *out = reinterpret_cast<VkCommandPool>(new Pool);
    return VK_SUCCESS;
}
void VKAPI_PTR DestroyCommandPool(VkDevice, VkCommandPool handle, const VkAllocationCallbacks*) {
    if (handle == VK_NULL_HANDLE) return;
    for (VkCommandBuffer commands : pool_of(handle).commands) native::destroy_commands(commands);
    delete &pool_of(handle);
}
VkResult VKAPI_PTR ResetCommandPool(VkDevice, VkCommandPool handle, VkCommandPoolResetFlags) {
    for (VkCommandBuffer commands : pool_of(handle).commands) native::reset_commands(commands);
    return VK_SUCCESS;
}

VkResult VKAPI_PTR AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* info,
                                          VkCommandBuffer* out) {
    Pool& pool = pool_of(info->commandPool);
    for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
        out[i] = native::create_commands(device_of(device), nullptr);
        if (out[i] == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
        pool.commands.push_back(out[i]);
    }
    return VK_SUCCESS;
}
void VKAPI_PTR FreeCommandBuffers(VkDevice, VkCommandPool handle, uint32_t count,
                                  const VkCommandBuffer* list) {
    for (uint32_t i = 0; i < count; ++i) {
        std::erase(pool_of(handle).commands, list[i]);
        native::destroy_commands(list[i]);
    }
}

VkResult VKAPI_PTR BeginCommandBuffer(VkCommandBuffer commands, const VkCommandBufferBeginInfo*) {
    native::reset_commands(commands);
    return VK_SUCCESS;
}
VkResult VKAPI_PTR EndCommandBuffer(VkCommandBuffer) {
    return VK_SUCCESS;
}
VkResult VKAPI_PTR ResetCommandBuffer(VkCommandBuffer commands, VkCommandBufferResetFlags) {
    native::reset_commands(commands);
    return VK_SUCCESS;
}

// ------------------------------------------------------------------------ submissions

VkResult VKAPI_PTR CreateFence(VkDevice, const VkFenceCreateInfo* info,
                               const VkAllocationCallbacks*, VkFence* out) {
    *out = reinterpret_cast<VkFence>(new bool((info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0));
    return VK_SUCCESS;
}
void VKAPI_PTR DestroyFence(VkDevice, VkFence fence, const VkAllocationCallbacks*) {
    delete reinterpret_cast<bool*>(fence);
}
VkResult VKAPI_PTR ResetFences(VkDevice, uint32_t count, const VkFence* fences) {
    for (uint32_t i = 0; i < count; ++i) *reinterpret_cast<bool*>(fences[i]) = false;
    return VK_SUCCESS;
}
VkResult VKAPI_PTR WaitForFences(VkDevice, uint32_t count, const VkFence* fences, VkBool32 all,
                                 uint64_t) {
    const auto is_signaled = [](VkFence fence) { return *reinterpret_cast<bool*>(fence); };
    const bool done = all == VK_TRUE ? std::all_of(fences, fences + count, is_signaled)
                                     : std::any_of(fences, fences + count, is_signaled);
    return done ? VK_SUCCESS : VK_TIMEOUT;
}

VkResult VKAPI_PTR QueueSubmit(VkQueue, uint32_t count, const VkSubmitInfo* submits,
                               VkFence fence) {
    for (const VkSubmitInfo& submit : std::span(submits, count))
        for (uint32_t i = 0; i < submit.commandBufferCount; ++i)
            if (const VkResult result = native::execute(submit.pCommandBuffers[i]);
                result != VK_SUCCESS)
                return result;
    if (fence != VK_NULL_HANDLE) *reinterpret_cast<bool*>(fence) = true;
    return VK_SUCCESS;
}

PFN_vkVoidFunction VKAPI_PTR GetDeviceProcAddr(VkDevice, const char* name) {
    return native_instance_proc(VK_NULL_HANDLE, name);
}

struct Named {
    const char* name;
    PFN_vkVoidFunction function;
};

}  // namespace

PFN_vkVoidFunction VKAPI_PTR native_instance_proc(VkInstance instance, const char* name) {
    // clang-format off
#define NAMED(function) {"vk" #function, reinterpret_cast<PFN_vkVoidFunction>(function)},
    static const Named kFunctions[] = {
        NAMED(DestroyInstance) NAMED(EnumeratePhysicalDevices) NAMED(CreateDevice) NAMED(DestroyDevice)
        NAMED(GetDeviceProcAddr) NAMED(GetDeviceQueue) NAMED(DeviceWaitIdle) NAMED(QueueWaitIdle)
        NAMED(CreateCommandPool) NAMED(DestroyCommandPool) NAMED(ResetCommandPool)
        NAMED(AllocateCommandBuffers) NAMED(FreeCommandBuffers) NAMED(BeginCommandBuffer)
        NAMED(EndCommandBuffer) NAMED(ResetCommandBuffer) NAMED(CreateFence) NAMED(DestroyFence)
        NAMED(ResetFences) NAMED(WaitForFences) NAMED(QueueSubmit)
    };
#undef NAMED
    // clang-format on
    for (const Named& known : kFunctions)
        if (std::strcmp(known.name, name) == 0) return known.function;
    return native::get_instance_proc(instance, name);
}

}  // namespace hearth::standalone
