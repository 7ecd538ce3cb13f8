// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The one include of Vulkan's headers, and the functions that Hearth calls: all of them, loaded
// through the host's vkGetInstanceProcAddr.  There is no function here that submits or waits.

#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#define HEARTH_INSTANCE_FUNCTIONS(X)          \
    X(GetPhysicalDeviceProperties2)           \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceMemoryProperties)      \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(EnumerateDeviceExtensionProperties)     \
    X(GetDeviceProcAddr)

#define HEARTH_DEVICE_FUNCTIONS(X) \
    X(AllocateMemory)              \
    X(FreeMemory)                  \
    X(MapMemory)                   \
    X(CreateBuffer)                \
    X(DestroyBuffer)               \
    X(GetBufferMemoryRequirements) \
    X(BindBufferMemory)            \
    X(CreateShaderModule)          \
    X(DestroyShaderModule)         \
    X(CreatePipelineLayout)        \
    X(DestroyPipelineLayout)       \
    X(CreateComputePipelines)      \
    X(DestroyPipeline)             \
    X(CreatePipelineCache)         \
    X(DestroyPipelineCache)        \
    X(GetPipelineCacheData)        \
    X(CreateQueryPool)             \
    X(DestroyQueryPool)            \
    X(GetQueryPoolResults)         \
    X(CmdBindPipeline)             \
    X(CmdPushConstants)            \
    X(CmdDispatch)                 \
    X(CmdCopyBuffer)               \
    X(CmdFillBuffer)               \
    X(CmdPipelineBarrier)          \
    X(CmdWriteTimestamp)           \
    X(CmdResetQueryPool)

// Loaded only if what they belong to is in the host's lists of enabled things; null otherwise.
#define HEARTH_OPTIONAL_DEVICE_FUNCTIONS(X) \
    X(GetBufferDeviceAddress)               \
    X(CmdPipelineBarrier2)                  \
    X(ResetQueryPool)                       \
    X(CreateDescriptorSetLayout)            \
    X(DestroyDescriptorSetLayout)           \
    X(CmdPushDescriptorSetKHR)              \
    X(SetDebugUtilsObjectNameEXT)           \
    X(CmdBeginDebugUtilsLabelEXT)           \
    X(CmdEndDebugUtilsLabelEXT)

namespace hearth::gpu {

#define HEARTH_FUNCTION_POINTER(name) PFN_vk##name name = nullptr;

struct InstanceFunctions {
    HEARTH_INSTANCE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
};

struct DeviceFunctions {
    HEARTH_DEVICE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
    HEARTH_OPTIONAL_DEVICE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
};

#undef HEARTH_FUNCTION_POINTER

}  // namespace hearth::gpu
