// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part that Vulkan layers of tests share: they call the next layer through the loader's
// interface, version 2 (vk_layer.h).

#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

namespace hearth::test {

/// Functions by which the next layer gives its others.
struct NextLayer {
    VkInstance instance = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr instance_proc = nullptr;
    PFN_vkGetDeviceProcAddr device_proc = nullptr;
};

/// The loader's link for the next layer in the chain of a create info; null: there is none.
template <class Link, class Info>
Link* link_of(const Info* info, VkStructureType type) {
    for (auto* s = static_cast<const VkBaseInStructure*>(info->pNext); s != nullptr; s = s->pNext) {
        auto* const link = const_cast<Link*>(reinterpret_cast<const Link*>(s));
        if (s->sType == type && link->function == VK_LAYER_LINK_INFO) return link;
    }
    return nullptr;
}

/// vkCreateInstance of the next layer, which `next` receives.
inline VkResult create_next_instance(const VkInstanceCreateInfo* info,
                                     const VkAllocationCallbacks* callbacks, VkInstance* out,
                                     NextLayer& next) {
    auto* const link =
        link_of<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(
        next.instance_proc(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, callbacks, out);
    if (result == VK_SUCCESS) next.instance = *out;
    return result;
}

/// vkCreateDevice of the next layer; `next` receives its device_proc.
inline VkResult create_next_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                   const VkAllocationCallbacks* callbacks, VkDevice* out,
                                   NextLayer& next) {
    auto* const link =
        link_of<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr(next.instance, "vkCreateDevice"));
    next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return create(physical_device, info, callbacks, out);
}

/// Answers vkNegotiateLoaderLayerInterfaceVersion.
inline VkResult negotiate(VkNegotiateLayerInterface* negotiated,
                          PFN_vkGetInstanceProcAddr instance_proc,
                          PFN_vkGetDeviceProcAddr device_proc) {
    if (negotiated->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
    negotiated->loaderLayerInterfaceVersion = 2;
    negotiated->pfnGetInstanceProcAddr = instance_proc;
    negotiated->pfnGetDeviceProcAddr = device_proc;
    negotiated->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}

}  // namespace hearth::test
