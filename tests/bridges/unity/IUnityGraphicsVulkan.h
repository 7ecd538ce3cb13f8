// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// See IUnityGraphics.h.

#pragma once

#include "IUnityGraphics.h"

#include <vulkan/vulkan.h>

struct UnityVulkanInstance {
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkQueue graphicsQueue;
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    unsigned int queueFamilyIndex;
};
struct UnityVulkanRecordingState {
    VkCommandBuffer commandBuffer;
    unsigned long long currentFrameNumber;
    unsigned long long safeFrameNumber;
};
enum UnityVulkanEventRenderPassPreCondition { kUnityVulkanRenderPass_EnsureOutside = 2 };
enum UnityVulkanGraphicsQueueAccess { kUnityVulkanGraphicsQueueAccess_DontCare = 0 };
enum UnityVulkanEventConfigFlagBits { kUnityVulkanEventConfigFlag_ModifiesCommandBuffersState = 8 };
struct UnityVulkanPluginEventConfig {
    UnityVulkanEventRenderPassPreCondition renderPassPrecondition;
    UnityVulkanGraphicsQueueAccess graphicsQueueAccess;
    uint32_t flags;
};
typedef PFN_vkGetInstanceProcAddr(UNITY_INTERFACE_API* UnityVulkanInitCallback)(
    PFN_vkGetInstanceProcAddr, void* userdata);

struct IUnityGraphicsVulkanV2 : IUnityInterface {
    void(UNITY_INTERFACE_API* ConfigureEvent)(int event, const UnityVulkanPluginEventConfig*);
    UnityVulkanInstance(UNITY_INTERFACE_API* Instance)();
    bool(UNITY_INTERFACE_API* CommandRecordingState)(UnityVulkanRecordingState*,
                                                     UnityVulkanGraphicsQueueAccess);
    bool(UNITY_INTERFACE_API* AddInterceptInitialization)(UnityVulkanInitCallback, void* userdata,
                                                          int32_t priority);
};
template <>
inline UnityInterfaceGUID GetUnityInterfaceGUID<IUnityGraphicsVulkanV2>() {
    return {0, 2};
}
