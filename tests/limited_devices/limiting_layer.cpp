// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A Vulkan layer that makes a device report less than it has, to any program:
//
// VK_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_HEARTH_limiting HEARTH_LIMITS=addresses PROGRAM
//
// HEARTH_LIMITS is a comma-separated list:
//   addresses    no bufferDeviceAddress
//   invocations  at most 128 invocations in a workgroup, the least that Vulkan allows
//   subgroups    a subgroup size of 0, as some drivers report
//   atoms        nonCoherentAtomSize 256, and no mapped memory type that is cached and coherent
//
// The layer's interface is that of the loader, version 2 (vk_layer.h).

#include "support/vulkan_layer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

hearth::test::NextLayer g_layer;

bool limits(std::string_view what) {
    const char* const text = std::getenv("HEARTH_LIMITS");
    std::string_view rest = text != nullptr ? text : "";
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == what) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

#define HEARTH_LIMITED_FUNCTIONS(X)      \
    X(GetPhysicalDeviceProperties)       \
    X(GetPhysicalDeviceProperties2)      \
    X(GetPhysicalDeviceFeatures2)        \
    X(GetPhysicalDeviceMemoryProperties) \
    X(GetPhysicalDeviceMemoryProperties2)

/// Functions of g_layer.
struct {
#define HEARTH_MEMBER(function) PFN_vk##function function = nullptr;
    HEARTH_LIMITED_FUNCTIONS(HEARTH_MEMBER)
} g_next;

void limit(VkPhysicalDeviceLimits& all) {
    if (limits("invocations")) {
        constexpr uint32_t kLeast[] = {128, 128, 64};  // Vulkan, "Required Limits"
        all.maxComputeWorkGroupInvocations = 128;
        std::copy(std::begin(kLeast), std::end(kLeast), all.maxComputeWorkGroupSize);
    }
    if (limits("atoms")) all.nonCoherentAtomSize = 256;
}

void limit_properties(VkBaseOutStructure* s) {
    for (; s != nullptr; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2)
            limit(reinterpret_cast<VkPhysicalDeviceProperties2*>(s)->properties.limits);
        if (!limits("subgroups")) continue;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s)->subgroupSize = 0;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(s)->subgroupSize = 0;
    }
}

void limit_features(VkBaseOutStructure* s) {
    for (; s != nullptr && limits("addresses"); s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            reinterpret_cast<VkPhysicalDeviceBufferDeviceAddressFeatures*>(s)->bufferDeviceAddress =
                VK_FALSE;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(s)->bufferDeviceAddress = VK_FALSE;
    }
}

/// The memory types of many devices for phones: mapped memory is either cached or coherent.
void limit_memory(VkPhysicalDeviceMemoryProperties& memory) {
    constexpr VkMemoryPropertyFlags kCachedCoherent =
        VK_MEMORY_PROPERTY_HOST_CACHED_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if (!limits("atoms") || memory.memoryTypeCount == VK_MAX_MEMORY_TYPES) return;
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
        if ((memory.memoryTypes[i].propertyFlags & kCachedCoherent) == kCachedCoherent)
            memory.memoryTypes[i].propertyFlags &=
                ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
}

void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties* out) {
    g_next.GetPhysicalDeviceProperties(device, out);
    limit(out->limits);
}
void VKAPI_CALL get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    g_next.GetPhysicalDeviceProperties2(device, out);
    limit_properties(reinterpret_cast<VkBaseOutStructure*>(out));
}
void VKAPI_CALL get_features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
    g_next.GetPhysicalDeviceFeatures2(device, out);
    limit_features(reinterpret_cast<VkBaseOutStructure*>(out));
}
void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* out) {
    g_next.GetPhysicalDeviceMemoryProperties(device, out);
    limit_memory(*out);
}
void VKAPI_CALL get_memory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* out) {
    g_next.GetPhysicalDeviceMemoryProperties2(device, out);
    limit_memory(out->memoryProperties);
}

VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkInstance* out) {
    const VkResult result = hearth::test::create_next_instance(info, callbacks, out, g_layer);
    if (result != VK_SUCCESS) return result;
#define HEARTH_LOAD(function)                             \
    g_next.function = reinterpret_cast<PFN_vk##function>( \
        g_layer.instance_proc(g_layer.instance, "vk" #function));
    HEARTH_LIMITED_FUNCTIONS(HEARTH_LOAD)
    return result;
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* out) {
    return hearth::test::create_next_device(physical_device, info, callbacks, out, g_layer);
}

struct Function {
    const char* name;
    PFN_vkVoidFunction function;
};
template <class F>
PFN_vkVoidFunction erased(F* function) {
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return erased(device_proc);
    return g_layer.device_proc(device, name);
}

PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name) {
    const Function functions[] = {
        {"vkGetInstanceProcAddr", erased(instance_proc)},
        {"vkGetDeviceProcAddr", erased(device_proc)},
        {"vkCreateInstance", erased(create_instance)},
        {"vkCreateDevice", erased(create_device)},
        {"vkGetPhysicalDeviceProperties", erased(get_properties)},
        {"vkGetPhysicalDeviceProperties2", erased(get_properties2)},
        {"vkGetPhysicalDeviceProperties2KHR", erased(get_properties2)},
        {"vkGetPhysicalDeviceFeatures2", erased(get_features2)},
        {"vkGetPhysicalDeviceFeatures2KHR", erased(get_features2)},
        {"vkGetPhysicalDeviceMemoryProperties", erased(get_memory)},
        {"vkGetPhysicalDeviceMemoryProperties2", erased(get_memory2)},
        {"vkGetPhysicalDeviceMemoryProperties2KHR", erased(get_memory2)},
    };
    for (const Function& f : functions)
        if (std::strcmp(name, f.name) == 0) return f.function;
    return g_layer.instance_proc != nullptr ? g_layer.instance_proc(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* negotiated) {
    return hearth::test::negotiate(negotiated, instance_proc, device_proc);
}
