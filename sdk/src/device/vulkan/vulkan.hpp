// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Includes Vulkan's headers and lists all Vulkan functions that Hearth calls, loaded through the
// application's vkGetInstanceProcAddr. None of them submits or waits.

#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#define HEARTH_INSTANCE_FUNCTIONS(X)          \
    X(GetPhysicalDeviceProperties2)           \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceFormatProperties)      \
    X(GetPhysicalDeviceMemoryProperties)      \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(EnumerateDeviceExtensionProperties)     \
    X(GetDeviceProcAddr)

// Null where the instance does not know the extension.
#define HEARTH_OPTIONAL_INSTANCE_FUNCTIONS(X)          \
    X(GetPhysicalDeviceCooperativeMatrixPropertiesNV)  \
    X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR) \
    X(GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV)

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
    X(CmdDispatchBase)             \
    X(CmdCopyBuffer)               \
    X(CmdFillBuffer)               \
    X(CmdPipelineBarrier)          \
    X(CreateDescriptorSetLayout)   \
    X(DestroyDescriptorSetLayout)  \
    X(CreateDescriptorPool)        \
    X(DestroyDescriptorPool)       \
    X(AllocateDescriptorSets)      \
    X(UpdateDescriptorSets)        \
    X(CmdBindDescriptorSets)       \
    X(CmdWriteTimestamp)           \
    X(CmdResetQueryPool)

// Loaded only if the application listed their feature or extension as enabled; null otherwise.
#define HEARTH_OPTIONAL_DEVICE_FUNCTIONS(X) \
    X(GetBufferDeviceAddress)               \
    X(CmdPipelineBarrier2)                  \
    X(ResetQueryPool)                       \
    X(GetSemaphoreCounterValue)             \
    X(CmdPushDescriptorSetKHR)              \
    X(SetDebugUtilsObjectNameEXT)           \
    X(CmdBeginDebugUtilsLabelEXT)           \
    X(CmdEndDebugUtilsLabelEXT)

namespace hearth::gpu {

// VK_KHR_cooperative_matrix, which headers before 1.3.255 lack, under names that do not clash with
// newer headers.
inline constexpr char kKhrCooperativeMatrixExtension[] = "VK_KHR_cooperative_matrix";
inline constexpr auto kKhrCooperativeMatrixFeaturesType = static_cast<VkStructureType>(1000506000);
inline constexpr auto kKhrCooperativeMatrixPropertiesType =
    static_cast<VkStructureType>(1000506001);

struct KhrCooperativeMatrixFeatures {
    VkStructureType sType;
    void* pNext;
    VkBool32 cooperativeMatrix;
    VkBool32 cooperativeMatrixRobustBufferAccess;
};

struct KhrCooperativeMatrixProperties {
    VkStructureType sType;
    void* pNext;
    uint32_t MSize, NSize, KSize;
    VkComponentTypeNV AType, BType, CType, ResultType;
    VkBool32 saturatingAccumulation;
    VkScopeNV scope;
};

using PFN_GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, KhrCooperativeMatrixProperties*);

// VK_NV_cooperative_matrix2, which headers before 1.3.300 lack.
inline constexpr char kNvCooperativeMatrix2Extension[] = "VK_NV_cooperative_matrix2";
inline constexpr auto kNvCooperativeMatrix2FeaturesType = static_cast<VkStructureType>(1000593000);
inline constexpr auto kNvFlexibleDimensionsPropertiesType =
    static_cast<VkStructureType>(1000593001);
inline constexpr auto kNvCooperativeMatrix2PropertiesType =
    static_cast<VkStructureType>(1000593002);

struct NvCooperativeMatrix2Features {
    VkStructureType sType;
    void* pNext;
    VkBool32 cooperativeMatrixWorkgroupScope;
    VkBool32 cooperativeMatrixFlexibleDimensions;
    VkBool32 cooperativeMatrixReductions;
    VkBool32 cooperativeMatrixConversions;
    VkBool32 cooperativeMatrixPerElementOperations;
    VkBool32 cooperativeMatrixTensorAddressing;
    VkBool32 cooperativeMatrixBlockLoads;
};

struct NvCooperativeMatrix2Properties {
    VkStructureType sType;
    void* pNext;
    uint32_t cooperativeMatrixWorkgroupScopeMaxWorkgroupSize;
    uint32_t cooperativeMatrixFlexibleDimensionsMaxDimension;
    uint32_t cooperativeMatrixWorkgroupScopeReservedSharedMemory;
};

struct NvFlexibleDimensionsProperties {
    VkStructureType sType;
    void* pNext;
    uint32_t MGranularity, NGranularity, KGranularity;
    VkComponentTypeNV AType, BType, CType, ResultType;
    VkBool32 saturatingAccumulation;
    VkScopeNV scope;
    uint32_t workgroupInvocations;
};

using PFN_GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV =
    VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, NvFlexibleDimensionsProperties*);

// VK_VALVE_shader_mixed_float_dot_product, which headers before 1.4.342 lack.
inline constexpr char kMixedFloatDotProductExtension[] = "VK_VALVE_shader_mixed_float_dot_product";
inline constexpr auto kMixedFloatDotProductFeaturesType = static_cast<VkStructureType>(1000673000);

struct MixedFloatDotProductFeatures {
    VkStructureType sType;
    void* pNext;
    VkBool32 shaderMixedFloatDotProductFloat16AccFloat32;
    VkBool32 shaderMixedFloatDotProductFloat16AccFloat16;
    VkBool32 shaderMixedFloatDotProductBFloat16Acc;
    VkBool32 shaderMixedFloatDotProductFloat8AccFloat32;
};

// VK_NV_compute_occupancy_priority, which Debian 12's headers lack; from the Vulkan specification
// ("Compute Occupancy Priority").
inline constexpr char kNvOccupancyPriorityExtension[] = "VK_NV_compute_occupancy_priority";
inline constexpr auto kNvOccupancyPriorityParametersType = static_cast<VkStructureType>(1000645000);
inline constexpr auto kNvOccupancyPriorityFeaturesType = static_cast<VkStructureType>(1000645001);
/// VK_COMPUTE_OCCUPANCY_PRIORITY_NORMAL_NV, the initial priority of every command buffer.
inline constexpr float kNormalOccupancyPriority = 0.5f;

struct NvOccupancyPriorityFeatures {
    VkStructureType sType;
    void* pNext;
    VkBool32 computeOccupancyPriority;
};

struct NvOccupancyPriorityParameters {
    VkStructureType sType;
    const void* pNext;
    float occupancyPriority, occupancyThrottling;
};

using PFN_CmdSetComputeOccupancyPriorityNV = void(VKAPI_PTR*)(VkCommandBuffer,
                                                              const NvOccupancyPriorityParameters*);

#define HEARTH_FUNCTION_POINTER(name) PFN_vk##name name = nullptr;

struct InstanceFunctions {
    HEARTH_INSTANCE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV
        GetPhysicalDeviceCooperativeMatrixPropertiesNV = nullptr;
    PFN_GetPhysicalDeviceCooperativeMatrixPropertiesKHR
        GetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;
    PFN_GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV
        GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV = nullptr;
};

struct DeviceFunctions {
    HEARTH_DEVICE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
    HEARTH_OPTIONAL_DEVICE_FUNCTIONS(HEARTH_FUNCTION_POINTER)
    PFN_CmdSetComputeOccupancyPriorityNV CmdSetComputeOccupancyPriorityNV = nullptr;
};

#undef HEARTH_FUNCTION_POINTER

}  // namespace hearth::gpu
