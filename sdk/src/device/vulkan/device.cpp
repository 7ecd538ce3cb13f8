// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adopts the application's device: checks the handshake and loads the functions.

#include "device/vulkan/device.hpp"

namespace hearth::gpu {

hearth_result to_result(VkResult result) {
    switch (result) {
        case VK_SUCCESS:
            return HEARTH_OK;
        case VK_NOT_READY:
            return HEARTH_NOT_READY;
        case VK_ERROR_OUT_OF_HOST_MEMORY:
            return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        case VK_ERROR_TOO_MANY_OBJECTS:
        case VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS:
            return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
        case VK_ERROR_MEMORY_MAP_FAILED:
            return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
        case VK_ERROR_DEVICE_LOST:
            return HEARTH_ERROR_DEVICE_LOST;
        case VK_ERROR_INVALID_SHADER_NV:
            return HEARTH_ERROR_PIPELINE_CREATION_FAILED;
        default:
            return HEARTH_ERROR_INTERNAL;
    }
}

const char* name_of(hearth_result result) {
    switch (result) {
        case HEARTH_OK:
            return "HEARTH_OK";
        case HEARTH_NOT_READY:
            return "HEARTH_NOT_READY";
        case HEARTH_INCOMPLETE:
            return "HEARTH_INCOMPLETE";
        case HEARTH_ERROR_INVALID_ARGUMENT:
            return "HEARTH_ERROR_INVALID_ARGUMENT";
        case HEARTH_ERROR_NOT_FOUND:
            return "HEARTH_ERROR_NOT_FOUND";
        case HEARTH_ERROR_UNSUPPORTED:
            return "HEARTH_ERROR_UNSUPPORTED";
        case HEARTH_ERROR_CORRUPT_DATA:
            return "HEARTH_ERROR_CORRUPT_DATA";
        case HEARTH_ERROR_VERSION_MISMATCH:
            return "HEARTH_ERROR_VERSION_MISMATCH";
        case HEARTH_ERROR_OUT_OF_RANGE:
            return "HEARTH_ERROR_OUT_OF_RANGE";
        case HEARTH_ERROR_INVALID_STATE:
            return "HEARTH_ERROR_INVALID_STATE";
        case HEARTH_ERROR_TOO_MANY_IN_FLIGHT:
            return "HEARTH_ERROR_TOO_MANY_IN_FLIGHT";
        case HEARTH_ERROR_BUDGET_EXCEEDED:
            return "HEARTH_ERROR_BUDGET_EXCEEDED";
        case HEARTH_ERROR_OUT_OF_HOST_MEMORY:
            return "HEARTH_ERROR_OUT_OF_HOST_MEMORY";
        case HEARTH_ERROR_OUT_OF_DEVICE_MEMORY:
            return "HEARTH_ERROR_OUT_OF_DEVICE_MEMORY";
        case HEARTH_ERROR_PIPELINE_CREATION_FAILED:
            return "HEARTH_ERROR_PIPELINE_CREATION_FAILED";
        case HEARTH_ERROR_DEVICE_LOST:
            return "HEARTH_ERROR_DEVICE_LOST";
        case HEARTH_ERROR_INCOMPATIBLE:
            return "HEARTH_ERROR_INCOMPATIBLE";
        case HEARTH_ERROR_DISCARDED:
            return "HEARTH_ERROR_DISCARDED";
        case HEARTH_ERROR_NON_FINITE:
            return "HEARTH_ERROR_NON_FINITE";
        case HEARTH_ERROR_VERIFICATION_FAILED:
            return "HEARTH_ERROR_VERIFICATION_FAILED";
        case HEARTH_ERROR_INTERNAL:
            return "HEARTH_ERROR_INTERNAL";
        case HEARTH_RESULT_FORCE_32_BITS:
            break;
    }
    return "HEARTH_RESULT_UNKNOWN";
}

bool Device::can_have_subgroups_of(uint32_t size, uint32_t invocations) const {
    if (size == properties_.subgroup_size) return true;
    const DeviceProperties& p = properties_;
    const bool is_power_of_two = (size & (size - 1)) == 0;
    return is_power_of_two && size >= p.min_subgroup_size && size <= p.max_subgroup_size &&
           invocations <= uint64_t{size} * p.max_workgroup_subgroups;
}

VkFormatFeatureFlags Device::image_format_features(VkFormat format) const {
    VkFormatProperties properties{};
    get_format_properties_(physical_device_, format, &properties);
    return properties.optimalTilingFeatures | properties.linearTilingFeatures;
}

namespace {

std::span<const char* const> names(const char* const* list, uint32_t count) {
    return {list, list != nullptr ? count : 0};
}

}  // namespace

hearth_result Device::adopt(const hearth_context_create_info& info, Problems& problems) {
    // Each check runs as far as it can, so that all problems are reported together.
    check_handles(info, problems);
    handle_ = info.device;
    physical_device_ = info.physical_device;
    pipeline_cache_ = info.pipeline_cache;
    features_ = info.features;
    binding_model_ = info.binding_model;
    queue_family_ = info.queue_family_index;
    api_version_ = info.api_version;
    has_callbacks_ = info.allocation_callbacks != nullptr;
    if (has_callbacks_) callbacks_ = *info.allocation_callbacks;
    InstanceFunctions vk;
    bool has_functions = false;
    if (info.get_instance_proc_addr != nullptr && info.instance != VK_NULL_HANDLE) {
        const uint32_t before = problems.count;
        vk = load_instance_functions(info.get_instance_proc_addr, info.instance, problems);
        has_functions = problems.count == before;
    }
    get_format_properties_ = vk.GetPhysicalDeviceFormatProperties;
    const bool can_ask = has_functions && info.physical_device != VK_NULL_HANDLE;
    check_features(info, can_ask ? &vk : nullptr, problems);
    if (can_ask) check_queue(info, vk, problems);
    load_functions(info, vk, problems);
    const bool has_problems = problems.count > 0;
    hearth_result result = HEARTH_OK;
    if (can_ask)
        result = report_unknown_extensions(
            vk, info.physical_device, names(info.device_extensions, info.device_extension_count),
            problems);
    if (has_problems) return HEARTH_ERROR_UNSUPPORTED;
    if (result == HEARTH_OK)
        caps_ = query_caps(vk, info.physical_device, api_version_, features_, info.binding_model,
                           result);
    if (result != HEARTH_OK) {
        problems.add("cannot list the device extensions: %s", name_of(result));
        return result;
    }
    caps_.timestamp_supported = timestamp_valid_bits_ != 0;
    properties_ = query_properties(vk, info.physical_device, features_);
    vk.GetPhysicalDeviceMemoryProperties(info.physical_device, &memory_);
    return HEARTH_OK;
}

void Device::check_handles(const hearth_context_create_info& info, Problems& problems) {
    const auto need = [&](bool given, const char* field) {
        if (!given) problems.add("hearth_context_create_info::%s is null", field);
    };
    need(info.instance != VK_NULL_HANDLE, "instance");
    need(info.physical_device != VK_NULL_HANDLE, "physical_device");
    need(info.device != VK_NULL_HANDLE, "device");
    need(info.get_instance_proc_addr != nullptr, "get_instance_proc_addr");
    need(info.instance_extension_count == 0 || info.instance_extensions != nullptr,
         "instance_extensions");
    need(info.device_extension_count == 0 || info.device_extensions != nullptr,
         "device_extensions");
    need(info.pipeline_cache_bytes == 0 || info.pipeline_cache_data != nullptr,
         "pipeline_cache_data");
    if (info.device_memory_callbacks != nullptr) {
        need(info.device_memory_callbacks->allocate != nullptr,
             "device_memory_callbacks->allocate");
        need(info.device_memory_callbacks->free != nullptr, "device_memory_callbacks->free");
        for (uint32_t heap = 0; heap < HEARTH_HEAP_COUNT; ++heap)
            if (info.heap_budgets[heap] != 0)
                problems.add(
                    "hearth_context_create_info::heap_budgets[%u] is %llu, but "
                    "device_memory_callbacks choose the heap; leave the budgets 0",
                    heap, static_cast<unsigned long long>(info.heap_budgets[heap]));
    }
    if (info.allocation_callbacks != nullptr) {
        need(info.allocation_callbacks->pfnAllocation != nullptr,
             "allocation_callbacks->pfnAllocation");
        need(info.allocation_callbacks->pfnFree != nullptr, "allocation_callbacks->pfnFree");
    }
    if (info.api_version < kMinApiVersion)
        problems.add(
            "Vulkan 1.1 or newer is required, hearth_context_create_info::api_version is %u.%u",
            VK_API_VERSION_MAJOR(info.api_version), VK_API_VERSION_MINOR(info.api_version));
    if (info.binding_model > HEARTH_BINDING_PUSH_DESCRIPTOR)
        problems.add("hearth_context_create_info::binding_model is %u, expected 0 or 1",
                     static_cast<unsigned>(info.binding_model));
    if (!(info.max_slice_us >= 0))
        problems.add(
            "hearth_context_create_info::max_slice_us is %g, expected 0 for the default, a number "
            "of microseconds, or HUGE_VAL for no limit",
            info.max_slice_us);
}

void Device::check_features(const hearth_context_create_info& info, const InstanceFunctions* vk,
                            Problems& problems) {
    const auto extensions = names(info.device_extensions, info.device_extension_count);
    if (const char* name = required_extension(info.binding_model);
        name != nullptr && !contains(extensions, name))
        problems.add(
            "device extension %s is required, but not listed as enabled; enable it when you create "
            "the device, and list it",
            name);
    const hearth_features required = required_features(info.binding_model);
    // Without a physical device, the listed features are assumed to be supported. If the API
    // version is too old, report only that: newer features cannot be queried.
    const uint32_t version = info.api_version;
    const bool can_ask = vk != nullptr && version >= kMinApiVersion;
    const hearth_features supported =
        can_ask ? supported_features(*vk, info.physical_device, version, extensions)
                : ~hearth_features{0};
    for (const Feature& feature : all_features()) {
        const bool enabled = (features_ & feature.bit) != 0;
        const bool lacks_extension = version < feature.core_version &&
                                     feature.extension != nullptr &&
                                     !contains(extensions, feature.extension);
        if (!enabled && (required & feature.bit) != 0) {
            problems.add(
                "feature %s is required, but not listed as enabled; enable it when you create the "
                "device (hearth_enable_features), and list it",
                feature.name);
            if (lacks_extension && can_ask)
                problems.add(
                    "device extension %s is required, but not listed as enabled; enable it when "
                    "you create the device, and list it",
                    feature.extension);
        }
        if (!enabled || (supported & feature.bit) != 0) continue;
        if (lacks_extension)
            problems.add(
                "feature %s is listed as enabled, but its extension %s is not; enable and list "
                "both",
                feature.name, feature.extension);
        else
            problems.add(
                "feature %s is listed as enabled, but the device does not support it; list only "
                "what vkCreateDevice enabled",
                feature.name);
    }
    if (has(HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2) && !has(HEARTH_FEATURE_ROBUST_BUFFER_ACCESS))
        problems.add(
            "feature robustBufferAccess2 is listed as enabled, but robustBufferAccess, "
            "which it needs, is not");
    if ((features_ >> HEARTH_FEATURE_COUNT) != 0)
        problems.add(
            "hearth_context_create_info::features has bits unknown to this version; use the header "
            "of this library");
}

void Device::check_queue(const hearth_context_create_info& info, const InstanceFunctions& vk,
                         Problems& problems) {
    constexpr uint32_t kMaxFamilies = 32;
    VkQueueFamilyProperties families[kMaxFamilies];
    uint32_t count = kMaxFamilies;
    vk.GetPhysicalDeviceQueueFamilyProperties(info.physical_device, &count, families);
    if (queue_family_ >= count) {
        problems.add(
            "hearth_context_create_info::queue_family_index is %u, expected less than the %u "
            "families of the device",
            queue_family_, count);
        return;
    }
    if ((families[queue_family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
        problems.add("queue family %u has no VK_QUEUE_COMPUTE_BIT; choose one that has",
                     queue_family_);
    timestamp_valid_bits_ = families[queue_family_].timestampValidBits;
}

void Device::load_functions(const hearth_context_create_info& info, const InstanceFunctions& vk,
                            Problems& problems) {
    const PFN_vkGetDeviceProcAddr get_proc =
        info.get_device_proc_addr != nullptr ? info.get_device_proc_addr : vk.GetDeviceProcAddr;
    if (get_proc == nullptr || handle_ == VK_NULL_HANDLE) return;  // check_handles has reported it
    const auto load = [&](const char* name) {
        const PFN_vkVoidFunction function = get_proc(handle_, name);
        if (function == nullptr) problems.add("get_device_proc_addr: no %s", name);
        return function;
    };
#define HEARTH_LOAD(name) vk_.name = reinterpret_cast<PFN_vk##name>(load("vk" #name));
    HEARTH_DEVICE_FUNCTIONS(HEARTH_LOAD)

    // A non-null pointer does not imply that the feature is enabled: the application's lists
    // decide. Below the core version of a function, it has its extension's suffix.
#define HEARTH_LOAD_SINCE(core_version, name, suffix) \
    vk_.name = reinterpret_cast<PFN_vk##name>(        \
        load(api_version_ >= core_version ? "vk" #name : "vk" #name suffix));
    if (has(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS))
        HEARTH_LOAD_SINCE(VK_API_VERSION_1_2, GetBufferDeviceAddress, "KHR")
    if (has(HEARTH_FEATURE_HOST_QUERY_RESET))
        HEARTH_LOAD_SINCE(VK_API_VERSION_1_2, ResetQueryPool, "EXT")
    // A timeline semaphore exists only where the feature is enabled.
    if (has(HEARTH_FEATURE_TIMELINE_SEMAPHORE) || info.timeline_semaphore != VK_NULL_HANDLE)
        HEARTH_LOAD_SINCE(VK_API_VERSION_1_2, GetSemaphoreCounterValue, "KHR")
    if (has(HEARTH_FEATURE_SYNCHRONIZATION_2))
        HEARTH_LOAD_SINCE(VK_API_VERSION_1_3, CmdPipelineBarrier2, "KHR")
#undef HEARTH_LOAD_SINCE
    if (has(HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY))
        vk_.CmdSetComputeOccupancyPriorityNV =
            reinterpret_cast<PFN_CmdSetComputeOccupancyPriorityNV>(
                load("vkCmdSetComputeOccupancyPriorityNV"));
    const auto extensions = names(info.device_extensions, info.device_extension_count);
    if (contains(extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME))
        HEARTH_LOAD(CmdPushDescriptorSetKHR)
    const auto instance_extensions = names(info.instance_extensions, info.instance_extension_count);
    if (contains(instance_extensions, VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
        HEARTH_LOAD(SetDebugUtilsObjectNameEXT)
        HEARTH_LOAD(CmdBeginDebugUtilsLabelEXT)
        HEARTH_LOAD(CmdEndDebugUtilsLabelEXT)
    }
#undef HEARTH_LOAD
}

hearth_result Device::check(VkResult result) {
    if (result == VK_ERROR_DEVICE_LOST) set_lost();
    return to_result(result);
}

void Device::set_name(VkObjectType type, uint64_t handle, const char* name) const {
    if (!has_debug_utils()) return;
    VkDebugUtilsObjectNameInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = name;
    (void)vk_.SetDebugUtilsObjectNameEXT(handle_, &info);  // losing a name is no failure
}

}  // namespace hearth::gpu
