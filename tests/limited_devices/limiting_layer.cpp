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

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

PFN_vkGetInstanceProcAddr g_next_proc = nullptr;
PFN_vkGetDeviceProcAddr g_next_device_proc = nullptr;
VkInstance g_instance = VK_NULL_HANDLE;

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

/// The functions of the next layer.
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

/// The loader's link for the next layer in the chain of a create info.
template <class Link, class Info>
Link* link_of(const Info* info, VkStructureType type) {
    for (auto* s = static_cast<const VkBaseInStructure*>(info->pNext); s != nullptr; s = s->pNext) {
        auto* const link = const_cast<Link*>(reinterpret_cast<const Link*>(s));
        if (s->sType == type && link->function == VK_LAYER_LINK_INFO) return link;
    }
    return nullptr;
}

VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                    const VkAllocationCallbacks* callbacks, VkInstance* out) {
    auto* const link =
        link_of<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    g_next_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(g_next_proc(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, callbacks, out);
    if (result != VK_SUCCESS) return result;
    g_instance = *out;
#define HEARTH_LOAD(function) \
    g_next.function = reinterpret_cast<PFN_vk##function>(g_next_proc(g_instance, "vk" #function));
    HEARTH_LIMITED_FUNCTIONS(HEARTH_LOAD)
    return result;
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* out) {
    auto* const link =
        link_of<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr(g_instance, "vkCreateDevice"));
    g_next_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return create(physical_device, info, callbacks, out);
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
    return g_next_device_proc(device, name);
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
    return g_next_proc != nullptr ? g_next_proc(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* negotiated) {
    if (negotiated->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
    negotiated->loaderLayerInterfaceVersion = 2;
    negotiated->pfnGetInstanceProcAddr = instance_proc;
    negotiated->pfnGetDeviceProcAddr = device_proc;
    negotiated->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}
