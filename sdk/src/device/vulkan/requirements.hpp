// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Device requirements: one table of features and extensions that drives the requirement query, the
// feature-chain patcher and the check of the handshake.

#pragma once

#include "core/fixed_text.hpp"
#include "core/portable.hpp"
#include "device/vulkan/vulkan.hpp"

#include <hearth/hearth.h>

#include <span>

namespace hearth::gpu {

/// All problems of a handshake, one per line.
struct Problems {
    uint32_t count = 0;
    FixedText<sizeof(hearth_messages::text)> text;

    HEARTH_PRINTF(2, 3) void add(const char* format, ...);
};

/// Older versions have neither subgroups nor the structs that query features.
inline constexpr uint32_t kMinApiVersion = VK_API_VERSION_1_1;

/// Returns the newest SPIR-V version that every device of this Vulkan version supports, in a module
/// header's encoding.
uint32_t newest_spirv(uint32_t api_version);

/// VkPhysicalDeviceProperties::vendorID of a CPU device, whose deviceID is its hearth_cpu_isa.
inline constexpr uint32_t kNativeVendor = 0x48545248;

/// A boolean feature that an application may enable.
struct Feature {
    hearth_features bit;
    const char* name;           ///< of the member in Vulkan's struct
    bool needed_for_addresses;  ///< required with HEARTH_BINDING_DEVICE_ADDRESS
    const char* extension;      ///< needed below `core_version`; null if none
    uint32_t core_version;
    /// Required to run untrusted programs; otherwise not even optional.
    bool needed_for_untrusted = false;
};

std::span<const Feature> all_features();

/// The features that programs of this binding model require.
hearth_features required_features(hearth_binding_model model);
/// The features that untrusted programs require.
hearth_features untrusted_features();
/// The extension that programs of this binding model require, or null.
const char* required_extension(hearth_binding_model model);

/// Loads the instance functions; a missing one is a problem.
InstanceFunctions load_instance_functions(hearth_get_instance_proc get_proc, VkInstance instance,
                                          Problems& problems);

/// Returns which of all_features() the physical device has, as far as `api_version` and
/// `extensions` (those that may be used) allow to query it.
hearth_features supported_features(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                   uint32_t api_version, std::span<const char* const> extensions);

/// Queried properties of a physical device.
struct DeviceProperties {
    VkPhysicalDeviceProperties device{};
    uint64_t max_allocation_bytes = 0;               ///< per allocation
    uint32_t subgroup_size = 0;                      ///< unless a pipeline requests another
    VkSubgroupFeatureFlags subgroup_operations = 0;  ///< in compute shaders
    /// Subgroup sizes that pipelines may request, and the maximum number of subgroups per workgroup
    /// then. 0: none may be requested.
    uint32_t min_subgroup_size = 0, max_subgroup_size = 0, max_workgroup_subgroups = 0;
};

DeviceProperties query_properties(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                  hearth_features enabled);

/// result: HEARTH_OK, or the error of a failed query.
hearth_device_caps query_caps(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                              uint32_t api_version, hearth_features enabled,
                              hearth_binding_model model, hearth_result& result);

/// Implements hearth_get_device_requirements.
hearth_result query_requirements(const hearth_device_requirements_info& query,
                                 hearth_requirements& out, Problems& problems);

/// Adds a problem for each of `listed` that the device does not have.  Not an error: explicit layers
/// provide extensions that the device does not list.
hearth_result report_unknown_extensions(const InstanceFunctions& vk,
                                        VkPhysicalDevice physical_device,
                                        std::span<const char* const> listed, Problems& problems);

/// Implements hearth_get_enabled_features.
hearth_features read_features(const VkBaseInStructure* chain,
                              const VkPhysicalDeviceFeatures* enabled);

/// Sets each known boolean in the chain to whether it is among `features`.
void set_features(hearth_features features, VkPhysicalDeviceFeatures2* chain);

/// Implements hearth_enable_features.
hearth_result patch_features(hearth_features features, VkBaseOutStructure* chain, void* storage,
                             size_t* storage_bytes);

bool contains(std::span<const char* const> names, const char* name);

}  // namespace hearth::gpu
