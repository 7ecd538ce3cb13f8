// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth as a native render plug-in for Unity, for players that draw with Vulkan. Compiled with
// vulkan.h before Unity's IUnityGraphicsVulkan.h, linked with hearth_runtime, loaded before the
// device is created ("Load on startup").
//
// Unity lets a plug-in intercept vkGetInstanceProcAddr: there it adds what Hearth requires to the
// device and records what was enabled. Unity's frame numbers are Hearth's.

#include <vulkan/vulkan.h>
// Unity's headers.
#include "unity/hearth_unity.h"

#include <IUnityGraphics.h>
#include <IUnityGraphicsVulkan.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kEvent = 0x4854;  // arbitrary event id of this plug-in

struct Plugin {
    IUnityGraphics* graphics = nullptr;
    IUnityGraphicsVulkanV2* vulkan = nullptr;
    PFN_vkGetInstanceProcAddr real = nullptr;
    VkInstance instance = VK_NULL_HANDLE;
    uint32_t api_version = VK_API_VERSION_1_0;  // requested by the application; then the one in use
    // Enabled extensions and features.
    std::vector<std::string> instance_extensions, device_extensions;
    hearth_features features = 0;
    hearth_binding_model binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    // The part of the feature chain that Hearth adds; Unity's own chain points to it from then on.
    uint64_t feature_storage[64] = {};
    hearth_context* context = nullptr;
    uint64_t frame_number = 0;
    std::string error;
};
Plugin plugin;

template <class Function>
Function load(const char* name) {
    return reinterpret_cast<Function>(plugin.real(plugin.instance, name));
}

std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> result;
    for (const std::string& name : names) result.push_back(name.c_str());
    return result;
}

VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkInstance* out) {
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(plugin.real(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, callbacks, out);
    if (result != VK_SUCCESS) return result;
    plugin.instance = *out;
    if (info->pApplicationInfo != nullptr && info->pApplicationInfo->apiVersion != 0)
        plugin.api_version = info->pApplicationInfo->apiVersion;
    plugin.instance_extensions.assign(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
    return result;
}

/// Finds the requirements of this device: with device addresses, or else with push descriptors.
bool find_requirements(VkPhysicalDevice device, hearth_requirements& requirements) {
    VkPhysicalDeviceProperties properties;
    load<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties")(device, &properties);
    plugin.api_version = std::min(plugin.api_version, properties.apiVersion);
    hearth_device_requirements_info info = hearth_device_requirements_info_default();
    info.instance = plugin.instance;
    info.physical_device = device;
    info.get_instance_proc_addr = plugin.real;
    info.api_version = plugin.api_version;
    plugin.error.clear();
    for (const hearth_binding_model model :
         {HEARTH_BINDING_DEVICE_ADDRESS, HEARTH_BINDING_PUSH_DESCRIPTOR}) {
        hearth_messages messages{};
        info.binding_model = plugin.binding_model = model;
        requirements = hearth_requirements_default();
        if (hearth_get_device_requirements(&info, &requirements, &messages) == HEARTH_OK) {
            plugin.error.clear();
            return true;
        }
        plugin.error += (plugin.error.empty() ? "" : "\n") + std::string(messages.text);
    }
    return false;
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* out) {
    const auto create = load<PFN_vkCreateDevice>("vkCreateDevice");
    hearth_requirements requirements;
    if (!find_requirements(device, requirements)) return create(device, info, callbacks, out);

    VkDeviceCreateInfo changed = *info;
    std::vector<std::string>& extensions = plugin.device_extensions;
    extensions.assign(info->ppEnabledExtensionNames,
                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
    for (uint32_t i = 0; i < requirements.required_extension_count; ++i)
        if (const char* name = requirements.required_extensions[i];
            std::find(extensions.begin(), extensions.end(), name) == extensions.end())
            extensions.push_back(name);
    const std::vector<const char*> names = pointers(extensions);
    changed.enabledExtensionCount = static_cast<uint32_t>(names.size());
    changed.ppEnabledExtensionNames = names.data();

    // Extends Unity's own features struct if it has one, else prepends one.
    VkPhysicalDeviceFeatures2 own{};
    own.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    VkPhysicalDeviceFeatures2* chain = nullptr;
    for (auto* s = static_cast<const VkBaseInStructure*>(info->pNext); s != nullptr; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            chain = reinterpret_cast<VkPhysicalDeviceFeatures2*>(const_cast<VkBaseInStructure*>(s));
    if (chain == nullptr) {
        own.pNext = const_cast<void*>(info->pNext);
        if (info->pEnabledFeatures != nullptr) own.features = *info->pEnabledFeatures;
        changed.pEnabledFeatures = nullptr;
        changed.pNext = chain = &own;
    }
    size_t bytes = sizeof plugin.feature_storage;
    const hearth_result enabled = hearth_enable_features(
        requirements.required_features, plugin.api_version, chain, plugin.feature_storage, &bytes);
    if (enabled != HEARTH_OK) plugin.error = hearth_result_name(enabled);
    const VkResult result = create(device, &changed, callbacks, out);
    plugin.features = hearth_get_enabled_features(changed.pNext, changed.pEnabledFeatures);
    return result;
}

PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkCreateInstance") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(&create_instance);
    if (std::strcmp(name, "vkCreateDevice") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(&create_device);
    return plugin.real(instance, name);
}

PFN_vkGetInstanceProcAddr UNITY_INTERFACE_API intercept(PFN_vkGetInstanceProcAddr real, void*) {
    plugin.real = real;
    return &get_instance_proc;
}

void make_context() {
    if (plugin.graphics->GetRenderer() != kUnityGfxRendererVulkan) return;
    const UnityVulkanInstance unity = plugin.vulkan->Instance();
    const std::vector<const char*> of_instance = pointers(plugin.instance_extensions),
                                   of_device = pointers(plugin.device_extensions);
    hearth_context_create_info info = hearth_context_create_info_default();
    info.instance = unity.instance;
    info.physical_device = unity.physicalDevice;
    info.device = unity.device;
    info.get_instance_proc_addr = unity.getInstanceProcAddr;
    info.api_version = plugin.api_version;
    info.queue_family_index = unity.queueFamilyIndex;
    info.instance_extension_count = static_cast<uint32_t>(of_instance.size());
    info.instance_extensions = of_instance.data();
    info.device_extension_count = static_cast<uint32_t>(of_device.size());
    info.device_extensions = of_device.data();
    info.features = plugin.features;
    info.binding_model = plugin.binding_model;
    hearth_messages messages{};
    if (hearth_context_create(&info, &plugin.context, &messages) != HEARTH_OK)
        plugin.error = messages.text;
    UnityVulkanPluginEventConfig config{};
    config.renderPassPrecondition = kUnityVulkanRenderPass_EnsureOutside;
    config.graphicsQueueAccess = kUnityVulkanGraphicsQueueAccess_DontCare;
    config.flags = kUnityVulkanEventConfigFlag_ModifiesCommandBuffersState;
    plugin.vulkan->ConfigureEvent(kEvent, &config);
}

void UNITY_INTERFACE_API on_device_event(UnityGfxDeviceEventType event) {
    if (event == kUnityGfxDeviceEventInitialize) make_context();
    if (event != kUnityGfxDeviceEventShutdown) return;
    // Managed code has destroyed its sessions by then; any that remain keep the context alive.
    const hearth_result result = hearth_context_destroy(plugin.context);
    if (result < 0) plugin.error = hearth_context_error(plugin.context);
    if (result >= 0) plugin.context = nullptr;
    plugin.frame_number = 0;
}

hearth_result record(const hearth_unity_recording& recording) {
    UnityVulkanRecordingState state{};
    if (plugin.context == nullptr ||
        !plugin.vulkan->CommandRecordingState(&state, kUnityVulkanGraphicsQueueAccess_DontCare))
        return HEARTH_NOT_READY;
    if (state.currentFrameNumber != plugin.frame_number) {
        const hearth_result begun =
            hearth_begin_frame(plugin.context, state.currentFrameNumber, state.safeFrameNumber);
        if (begun < 0) return begun;
        plugin.frame_number = state.currentFrameNumber;
    }
    if (recording.initialize != 0) {
        const hearth_result initialized =
            hearth_record_initialize(recording.session, state.commandBuffer);
        if (initialized < 0) return initialized;
    }
    hearth_record_info info = *recording.info;
    info.command_buffer = state.commandBuffer;
    return hearth_record(recording.session, &info, nullptr);
}

void UNITY_INTERFACE_API on_event(int event, void* data) {
    if (event != kEvent || data == nullptr) return;
    hearth_unity_recording& recording = *static_cast<hearth_unity_recording*>(data);
    recording.result = record(recording);
}

}  // namespace

extern "C" {

UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API UnityPluginLoad(IUnityInterfaces* unity) {
    plugin.graphics = unity->Get<IUnityGraphics>();
    plugin.vulkan = unity->Get<IUnityGraphicsVulkanV2>();
    plugin.graphics->RegisterDeviceEventCallback(&on_device_event);
    if (plugin.vulkan == nullptr ||
        !plugin.vulkan->AddInterceptInitialization(&intercept, nullptr, 0))
        plugin.error =
            "the plug-in was loaded after the device was created, or by a Unity older than 2021";
}

UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API UnityPluginUnload() {
    plugin.graphics->UnregisterDeviceEventCallback(&on_device_event);
}

hearth_context* hearth_unity_context(void) {
    return plugin.context;
}
const char* hearth_unity_error(void) {
    return plugin.error.c_str();
}
void* hearth_unity_record(void) {
    return reinterpret_cast<void*>(&on_event);
}
int hearth_unity_event(void) {
    return kEvent;
}
}
