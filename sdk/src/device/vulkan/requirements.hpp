// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What Hearth needs of a device: one table of features and extensions, from which the requirement
// query, the feature-chain patcher and the check of the handshake all come.

#pragma once

#include "core/fixed_text.hpp"
#include "core/portable.hpp"
#include "device/vulkan/vulkan.hpp"

#include <hearth/hearth.h>

#include <span>

namespace hearth::gpu {

/// All problems of a handshake, one a line.
struct Problems {
    uint32_t count = 0;
    FixedText<sizeof(hearth_report::text)> text;

    HEARTH_PRINTF(2, 3) void add(const char* format, ...);
};

/// Below, Vulkan has neither subgroups nor the structs in which features are asked for.
inline constexpr uint32_t kMinApiVersion = VK_API_VERSION_1_1;

/// The newest SPIR-V that every device of this version of Vulkan takes, as modules say it.
uint32_t newest_spirv(uint32_t api_version);

/// VkPhysicalDeviceProperties::vendorID of a native device, whose deviceID is its hearth_cpu.
inline constexpr uint32_t kNativeVendor = 0x48545248;

/// One boolean that a host may enable.
struct Feature {
    hearth_features bit;
    const char* name;           ///< of the member in Vulkan's struct
    bool needed_for_addresses;  ///< required with HEARTH_BINDING_DEVICE_ADDRESS
    const char* extension;      ///< needed below `core_version`; null if none
    uint32_t core_version;
    /// Required where foreign programs will be run, and not even optional elsewhere.
    bool needed_for_foreign = false;
};

std::span<const Feature> all_features();

/// The features that programs of this binding model cannot do without.
hearth_features required_features(hearth_binding_model model);
/// The features that foreign programs cannot do without.
hearth_features foreign_features();
/// The extension that programs of this binding model cannot do without, or null.
const char* required_extension(hearth_binding_model model);

/// Loads the functions of a host's instance; a missing one is a problem.
InstanceFunctions load_instance_functions(hearth_get_instance_proc get_proc, VkInstance instance,
                                          Problems& problems);

/// Which of all_features() the physical device has, as far as `api_version` and the extension list
/// let it be asked.  `extensions`: those that may be used.
hearth_features supported_features(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                   uint32_t api_version, std::span<const char* const> extensions);

/// What is asked of a physical device about itself.
struct DeviceProperties {
    VkPhysicalDeviceProperties device{};
    uint64_t max_allocation_bytes = 0;               ///< of one piece of memory
    uint32_t subgroup_size = 0;                      ///< unless a pipeline asks for another
    VkSubgroupFeatureFlags subgroup_operations = 0;  ///< in compute shaders
    /// Sizes that pipelines may ask for, and how many subgroups a workgroup may then have.  0: they may not ask.
    uint32_t min_subgroup_size = 0, max_subgroup_size = 0, max_workgroup_subgroups = 0;
};

DeviceProperties query_properties(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                  hearth_features enabled);

/// result: HEARTH_OK, or what failed in asking.
hearth_device_caps query_caps(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                              uint32_t api_version, hearth_features enabled,
                              hearth_binding_model model, hearth_result& result);

/// hearth_query_device.
hearth_result query_requirements(const hearth_device_query& query, hearth_requirements& out,
                                 Problems& problems);

/// hearth_read_features.
hearth_features read_features(const VkBaseInStructure* chain,
                              const VkPhysicalDeviceFeatures* enabled);

/// Sets each boolean of ours in the chain: whether it is among `features`.
void set_features(hearth_features features, VkPhysicalDeviceFeatures2* chain);

/// hearth_patch_features.
hearth_result patch_features(hearth_features features, VkPhysicalDeviceFeatures2* chain,
                             void* storage, size_t* storage_bytes);

bool contains(std::span<const char* const> names, const char* name);

}  // namespace hearth::gpu
