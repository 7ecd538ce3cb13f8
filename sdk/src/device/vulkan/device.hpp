// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The application's device: its handles, enabled features, and the functions to call it with.

#pragma once

#include "core/alloc.hpp"
#include "device/vulkan/requirements.hpp"

#include <atomic>
#include <type_traits>

namespace hearth::gpu {

/// Maps a VkResult to HEARTH_OK or the closest error code.
hearth_result to_result(VkResult result);

/// "HEARTH_ERROR_TOO_MANY_IN_FLIGHT".
const char* name_of(hearth_result result);

/// Message of calls that need a device which is lost.
inline constexpr char kDeviceLost[] =
    "the device is lost; destroy the context and create a new one with a new device";

class Device {
  public:
    /// Checks the handshake and loads the functions; a failure leaves every problem in `problems`.
    /// `info` must be complete (see read_struct); its arrays need not outlive the call.
    [[nodiscard]] hearth_result adopt(const hearth_context_create_info& info, Problems& problems);

    const DeviceFunctions& vk() const { return vk_; }
    VkDevice handle() const { return handle_; }
    VkPipelineCache pipeline_cache() const { return pipeline_cache_; }
    void set_pipeline_cache(VkPipelineCache cache) { pipeline_cache_ = cache; }
    /// For driver calls; null if the application gave none.
    const VkAllocationCallbacks* callbacks() const {
        return has_callbacks_ ? &callbacks_ : nullptr;
    }
    const hearth_device_caps& caps() const { return caps_; }
    /// Binding model that the application's buffers are made for.
    hearth_binding_model binding_model() const { return binding_model_; }
    const VkPhysicalDeviceProperties& properties() const { return properties_.device; }
    const VkPhysicalDeviceLimits& limits() const { return properties_.device.limits; }
    const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }
    uint32_t queue_family() const { return queue_family_; }
    uint32_t timestamp_valid_bits() const { return timestamp_valid_bits_; }
    /// VkFormatFeatureFlags of images of `format`, with any tiling.
    VkFormatFeatureFlags image_format_features(VkFormat format) const;
    VkSubgroupFeatureFlags subgroup_operations() const { return properties_.subgroup_operations; }
    /// True if workgroups of this many invocations can have subgroups of `size`, by default or on
    /// request.
    bool can_have_subgroups_of(uint32_t size, uint32_t invocations) const;
    /// True if pipelines may request a subgroup size.
    bool asks_for_subgroup_sizes() const { return properties_.max_subgroup_size != 0; }
    /// The Vulkan version in use.
    uint32_t api_version() const { return api_version_; }
    /// Maximum size of a memory allocation, and so of a buffer.
    uint64_t max_allocation_bytes() const { return properties_.max_allocation_bytes; }

    bool has(hearth_features bits) const { return (features_ & bits) == bits; }
    bool has_push_descriptors() const { return vk_.CmdPushDescriptorSetKHR != nullptr; }
    bool has_debug_utils() const { return vk_.SetDebugUtilsObjectNameEXT != nullptr; }

    bool is_lost() const { return lost_.load(std::memory_order_relaxed); }
    void set_lost() { lost_.store(true, std::memory_order_relaxed); }
    /// Like to_result(), and remembers a lost device.
    hearth_result check(VkResult result);

    /// Names an object for debuggers, if the application enabled debug utils.
    void set_name(VkObjectType type, uint64_t handle, const char* name) const;

  private:
    void check_handles(const hearth_context_create_info& info, Problems& problems);
    /// vk: null if there is no physical device to query.
    void check_features(const hearth_context_create_info& info, const InstanceFunctions* vk,
                        Problems& problems);
    void check_queue(const hearth_context_create_info& info, const InstanceFunctions& vk,
                     Problems& problems);
    void load_functions(const hearth_context_create_info& info, const InstanceFunctions& vk,
                        Problems& problems);

    DeviceFunctions vk_;
    VkDevice handle_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
    PFN_vkGetPhysicalDeviceFormatProperties get_format_properties_ = nullptr;
    VkPipelineCache pipeline_cache_ = VK_NULL_HANDLE;
    VkAllocationCallbacks callbacks_{};
    bool has_callbacks_ = false;
    hearth_features features_ = 0;
    hearth_binding_model binding_model_ = HEARTH_BINDING_DEVICE_ADDRESS;
    uint32_t queue_family_ = 0;
    uint32_t timestamp_valid_bits_ = 0;
    uint32_t api_version_ = 0;
    hearth_device_caps caps_{};
    DeviceProperties properties_;
    VkPhysicalDeviceMemoryProperties memory_{};
    std::atomic<bool> lost_{false};
};

/// Converts a handle for vkSetDebugUtilsObjectNameEXT.
template <class Handle>
uint64_t handle_bits(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)  // on 64-bit platforms; an integer on others
        return reinterpret_cast<uintptr_t>(handle);
    else
        return handle;
}

}  // namespace hearth::gpu
