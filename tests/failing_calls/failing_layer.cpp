// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A Vulkan layer that makes the n-th call that can fail fail, in any program:
//
// VK_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_HEARTH_failing_calls HEARTH_FAIL_AT=7 PROGRAM
//
// HEARTH_FAIL_AT    0, 1, ...: which call; not set: none
// HEARTH_FAIL_WITH  a VkResult: -1 (out of host memory) unless set; with -4 every call behind it
// fails, too, as on a
//                   device that was lost
// HEARTH_LIST_CALLS set: it tells each call that can fail
//
// It tells on stderr what it failed.  The layer's interface is that of the loader, version 2
// (vk_layer.h).

#include "support/vulkan_layer.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Functions of a device whose result may be an error.
#define HEARTH_FALLIBLE_FUNCTIONS(X) \
    X(AcquireNextImageKHR)           \
    X(AllocateCommandBuffers)        \
    X(AllocateDescriptorSets)        \
    X(AllocateMemory)                \
    X(BeginCommandBuffer)            \
    X(BindBufferMemory)              \
    X(BindImageMemory)               \
    X(CreateBuffer)                  \
    X(CreateCommandPool)             \
    X(CreateComputePipelines)        \
    X(CreateDescriptorPool)          \
    X(CreateDescriptorSetLayout)     \
    X(CreateFence)                   \
    X(CreateFramebuffer)             \
    X(CreateGraphicsPipelines)       \
    X(CreateImage)                   \
    X(CreateImageView)               \
    X(CreatePipelineCache)           \
    X(CreatePipelineLayout)          \
    X(CreateQueryPool)               \
    X(CreateRenderPass)              \
    X(CreateSampler)                 \
    X(CreateSemaphore)               \
    X(CreateShaderModule)            \
    X(CreateSwapchainKHR)            \
    X(DeviceWaitIdle)                \
    X(EndCommandBuffer)              \
    X(GetFenceStatus)                \
    X(GetPipelineCacheData)          \
    X(GetQueryPoolResults)           \
    X(GetSemaphoreCounterValue)      \
    X(GetSwapchainImagesKHR)         \
    X(MapMemory)                     \
    X(QueuePresentKHR)               \
    X(QueueSubmit)                   \
    X(QueueSubmit2)                  \
    X(QueueWaitIdle)                 \
    X(ResetCommandBuffer)            \
    X(ResetCommandPool)              \
    X(ResetFences)                   \
    X(WaitForFences)                 \
    X(WaitSemaphores)

hearth::test::NextLayer g_layer;
std::atomic<long> g_calls{0};

long setting(const char* name, long otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

/// VK_SUCCESS, or what this call fails with.
VkResult failure_of(const char* function) {
    static const long at = setting("HEARTH_FAIL_AT", -1), with = setting("HEARTH_FAIL_WITH", -1);
    static const bool is_listing = std::getenv("HEARTH_LIST_CALLS") != nullptr;
    const long call = g_calls++;
    if (is_listing) std::fprintf(stderr, "failing_layer: call %ld, %s\n", call, function);
    const bool fails = at >= 0 && (with == VK_ERROR_DEVICE_LOST ? call >= at : call == at);
    if (!fails) return VK_SUCCESS;
    if (call == at) std::fprintf(stderr, "failing_layer: call %ld, %s\n", call, function);
    return static_cast<VkResult>(with);
}

enum Id : int {
#define HEARTH_ID(function) k##function,
    HEARTH_FALLIBLE_FUNCTIONS(HEARTH_ID)
};

/// What waits does so before it fails: who exits then must not leave a software driver's threads at
/// work.
constexpr bool waits(int id) {
    return id == kDeviceWaitIdle || id == kQueueWaitIdle || id == kWaitForFences ||
           id == kWaitSemaphores;
}

template <class Function, int Id>
struct Thunk;
template <class... Args, int Id>
struct Thunk<VkResult(VKAPI_PTR*)(Args...), Id> {
    static inline const char* name = nullptr;
    static inline VkResult(VKAPI_PTR* next)(Args...) = nullptr;
    static VKAPI_ATTR VkResult VKAPI_CALL call(Args... args) {
        const VkResult failure = failure_of(name);
        if (failure == VK_SUCCESS) return next(args...);
        if (waits(Id)) (void)next(args...);
        return failure;
    }
};

PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
    const PFN_vkVoidFunction next = g_layer.device_proc(device, name);
    if (next == nullptr) return nullptr;
#define HEARTH_INTERCEPT(function)                               \
    if (std::strcmp(name, "vk" #function) == 0) {                \
        using Own = Thunk<PFN_vk##function, k##function>;        \
        Own::name = "vk" #function;                              \
        Own::next = reinterpret_cast<PFN_vk##function>(next);    \
        return reinterpret_cast<PFN_vkVoidFunction>(&Own::call); \
    }
    HEARTH_FALLIBLE_FUNCTIONS(HEARTH_INTERCEPT)
    return next;
}

VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkInstance* out) {
    return hearth::test::create_next_instance(info, callbacks, out, g_layer);
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* out) {
    if (const VkResult failure = failure_of("vkCreateDevice"); failure != VK_SUCCESS)
        return failure;
    return hearth::test::create_next_device(physical_device, info, callbacks, out, g_layer);
}

PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetInstanceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(instance_proc);
    if (std::strcmp(name, "vkCreateInstance") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
    if (std::strcmp(name, "vkCreateDevice") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(create_device);
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(device_proc);
    return g_layer.instance_proc != nullptr ? g_layer.instance_proc(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* negotiated) {
    return hearth::test::negotiate(negotiated, instance_proc, device_proc);
}
