// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Of Unity's plug-in interface what engine_bridge/unity uses, declared anew by its documentation, so that the bridge is
// compiled and run where there is no editor.  The editor's headers (PluginAPI) take its place in a project; their
// structs have more members, so nothing that was compiled with this one may be loaded by Unity.

#pragma once

#include <stdint.h>
#include <vulkan/vulkan.h>

#define UNITY_INTERFACE_API
#define UNITY_INTERFACE_EXPORT __attribute__((visibility("default")))

enum UnityGfxRenderer { kUnityGfxRendererVulkan = 21 };
enum UnityGfxDeviceEventType {
    kUnityGfxDeviceEventInitialize = 0,
    kUnityGfxDeviceEventShutdown = 1
};
typedef void(UNITY_INTERFACE_API* IUnityGraphicsDeviceEventCallback)(UnityGfxDeviceEventType);
typedef void(UNITY_INTERFACE_API* UnityRenderingEventAndData)(int event, void* data);

struct IUnityGraphics {
    UnityGfxRenderer(UNITY_INTERFACE_API* GetRenderer)();
    void(UNITY_INTERFACE_API* RegisterDeviceEventCallback)(IUnityGraphicsDeviceEventCallback);
    void(UNITY_INTERFACE_API* UnregisterDeviceEventCallback)(IUnityGraphicsDeviceEventCallback);
};

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

struct IUnityGraphicsVulkanV2 {
    void(UNITY_INTERFACE_API* ConfigureEvent)(int event, const UnityVulkanPluginEventConfig*);
    UnityVulkanInstance(UNITY_INTERFACE_API* Instance)();
    bool(UNITY_INTERFACE_API* CommandRecordingState)(UnityVulkanRecordingState*,
                                                     UnityVulkanGraphicsQueueAccess);
    bool(UNITY_INTERFACE_API* AddInterceptInitialization)(UnityVulkanInitCallback, void* userdata,
                                                          int32_t priority);
};

struct IUnityInterfaces {
    IUnityGraphics* graphics;
    IUnityGraphicsVulkanV2* vulkan;
    template <class Interface>
    Interface* Get();
};
template <>
inline IUnityGraphics* IUnityInterfaces::Get() {
    return graphics;
}
template <>
inline IUnityGraphicsVulkanV2* IUnityInterfaces::Get() {
    return vulkan;
}
