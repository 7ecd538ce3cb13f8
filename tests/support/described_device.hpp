// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A device that is described, and not there: the functions by which the runtime adopts it and
// chooses a package's profile for it.  Whatever else is called does nothing.

#pragma once

#include "device/vulkan/requirements.hpp"

#include <hearth/hearth_runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace hearth::test {

struct DeviceDescription {
    const char* name = "";
    uint32_t shared_kib = 16;
    /// What pipelines have unless they ask, and the range that they may ask for (0: none).
    uint32_t subgroup_size = 32, min_subgroup_size = 0, max_subgroup_size = 0;
    MatrixShape matrix{0, 0, 0};  ///< by VK_KHR_cooperative_matrix; 0: none
    bool has_f16 = true;          ///< arithmetic and storage, and storage of 8 bits
    uint64_t buffer_mib = 1024;
    uint32_t push_constant_bytes = 128;
    uint32_t api_version = VK_API_VERSION_1_3;
    bool is_software = false;
    bool is_integrated = false;
    uint32_t compute_units = 0;  ///< by the extension of NVIDIA or AMD; 0: the driver does not tell

    uint32_t workgroup_size() const { return shared_kib > 16 ? 1024 : 256; }

    hearth_features features() const {
        hearth_features bits = HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS;
        if (has_f16)
            bits |= HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS |
                    HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS;
        if (matrix.m != 0)
            bits |= HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR | HEARTH_FEATURE_VULKAN_MEMORY_MODEL;
        if (max_subgroup_size != 0)
            bits |= HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL | HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS;
        return bits;
    }
    /// Those that its version needs for its features.
    std::vector<const char*> extensions() const {
        std::vector<const char*> names;
        for (const gpu::Feature& feature : gpu::all_features())
            if ((features() & feature.bit) != 0 && api_version < feature.core_version &&
                feature.extension != nullptr)
                names.push_back(feature.extension);
        return names;
    }
    DeviceCaps caps() const {
        DeviceCaps caps;
        caps.name = name;
        caps.subgroup_size = subgroup_size;
        caps.max_compute_shared_memory_size = shared_kib << 10;
        caps.max_storage_buffer_range = buffer_mib << 20;
        caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x =
            workgroup_size();
        caps.max_push_constants_size = push_constant_bytes;
        caps.shader_float16 = caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access =
            has_f16;
        caps.cooperative_matrix_shape = matrix;
        if (matrix.m != 0) caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
        caps.device_type = is_software     ? DeviceType::kCpu
                           : is_integrated ? DeviceType::kIntegratedGpu
                                           : DeviceType::kOther;
        caps.compute_units = compute_units;
        caps.spirv_version = gpu::newest_spirv(api_version);
        return caps;
    }
};

/// A host with such a device; one at a time, because Vulkan's functions have no user data.
class DescribedHost {
  public:
    explicit DescribedHost(const DeviceDescription& device) : extensions_(device.extensions()) {
        device_ = &device;
    }

    Result<Context> make_context() const {
        hearth_context_create_info info = hearth_context_create_info_default();
        info.instance = handle<VkInstance>();
        info.physical_device = handle<VkPhysicalDevice>();
        info.device = handle<VkDevice>();
        info.pipeline_cache = handle<VkPipelineCache>();
        info.get_instance_proc_addr = instance_proc;
        info.get_device_proc_addr = device_proc;
        info.api_version = device_->api_version;
        info.features = device_->features();
        info.device_extensions = extensions_.data();
        info.device_extension_count = static_cast<uint32_t>(extensions_.size());
        return Context::create(info);
    }

  private:
    static inline const DeviceDescription* device_ = nullptr;
    std::vector<const char*> extensions_;

    template <class Handle>
    static Handle handle() {
        static int thing;
        return reinterpret_cast<Handle>(&thing);
    }

    static void VKAPI_PTR properties(VkPhysicalDevice, VkPhysicalDeviceProperties2* out) {
        const DeviceDescription& d = *device_;
        VkPhysicalDeviceProperties p{};
        p.apiVersion = d.api_version;
        p.deviceType = d.is_software     ? VK_PHYSICAL_DEVICE_TYPE_CPU
                       : d.is_integrated ? VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
                                         : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
        std::snprintf(p.deviceName, sizeof p.deviceName, "%s", d.name);
        p.limits.maxComputeSharedMemorySize = d.shared_kib << 10;
        p.limits.maxComputeWorkGroupInvocations = d.workgroup_size();
        for (uint32_t& size : p.limits.maxComputeWorkGroupSize) size = d.workgroup_size();
        for (uint32_t& count : p.limits.maxComputeWorkGroupCount) count = 65535;
        p.limits.maxPushConstantsSize = d.push_constant_bytes;
        p.limits.minStorageBufferOffsetAlignment = 16;
        p.limits.maxStorageBufferRange =
            static_cast<uint32_t>(std::min<uint64_t>(d.buffer_mib << 20, UINT32_MAX));
        out->properties = p;
        for (auto* s = static_cast<VkBaseOutStructure*>(out->pNext); s != nullptr; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
                auto& subgroups = *reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s);
                subgroups.subgroupSize = d.subgroup_size;
                subgroups.supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
                subgroups.supportedOperations =
                    VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
            }
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
                reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(s)
                    ->maxMemoryAllocationSize = d.buffer_mib << 20;
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
                auto& sizes = *reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(s);
                sizes.minSubgroupSize = d.min_subgroup_size;
                sizes.maxSubgroupSize = d.max_subgroup_size;
                sizes.maxComputeWorkgroupSubgroups = d.workgroup_size() / d.min_subgroup_size;
                sizes.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
            }
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD)
                reinterpret_cast<VkPhysicalDeviceShaderCoreProperties2AMD*>(s)
                    ->activeComputeUnitCount = d.compute_units;
        }
    }
    static void VKAPI_PTR features(VkPhysicalDevice, VkPhysicalDeviceFeatures2* out) {
        gpu::set_features(device_->features(), out);
    }
    static void VKAPI_PTR formats(VkPhysicalDevice, VkFormat, VkFormatProperties* out) {
        *out = {};
    }
    static void VKAPI_PTR memory(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* out) {
        *out = {};
    }
    static void VKAPI_PTR queues(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties* out) {
        *count = 1;
        if (out == nullptr) return;
        *out = {};
        out->queueFlags = VK_QUEUE_COMPUTE_BIT;
    }
    static VkResult VKAPI_PTR list_extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                              VkExtensionProperties* out) {
        *count = device_->compute_units != 0 ? 1 : 0;
        if (out != nullptr && *count != 0)
            *out = {VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, 1};
        return VK_SUCCESS;
    }
    static VkResult VKAPI_PTR matrices(VkPhysicalDevice, uint32_t* count,
                                       gpu::KhrCooperativeMatrixProperties* out) {
        *count = device_->matrix.m == 0 ? 0 : 1;
        if (out == nullptr || *count == 0) return VK_SUCCESS;
        out->MSize = device_->matrix.m;
        out->NSize = device_->matrix.n;
        out->KSize = device_->matrix.k;
        out->AType = out->BType = VK_COMPONENT_TYPE_FLOAT16_NV;
        out->CType = out->ResultType = VK_COMPONENT_TYPE_FLOAT32_NV;
        out->scope = VK_SCOPE_SUBGROUP_NV;
        return VK_SUCCESS;
    }
    static void VKAPI_PTR nothing() {}

    template <class Function>
    static PFN_vkVoidFunction untyped(Function* function) {
        return reinterpret_cast<PFN_vkVoidFunction>(function);
    }
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice, const char*) { return nothing; }
    static PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance, const char* name) {
        const std::string_view asked = name;
        if (asked == "vkGetPhysicalDeviceProperties2") return untyped(properties);
        if (asked == "vkGetPhysicalDeviceFeatures2") return untyped(features);
        if (asked == "vkGetPhysicalDeviceFormatProperties") return untyped(formats);
        if (asked == "vkGetPhysicalDeviceMemoryProperties") return untyped(memory);
        if (asked == "vkGetPhysicalDeviceQueueFamilyProperties") return untyped(queues);
        if (asked == "vkEnumerateDeviceExtensionProperties") return untyped(list_extensions);
        if (asked == "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR") return untyped(matrices);
        if (asked == "vkGetDeviceProcAddr") return untyped(device_proc);
        return nullptr;
    }
};

}  // namespace hearth::test
