// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A table of Vulkan functions for in-tree applications, loaded at run time so that no program of
// this repository needs libvulkan to start.

#pragma once

#include <hearth/status.hpp>

#include <vulkan/vulkan.h>

namespace hearth::standalone {

/// Function pointers, as in `vk.CmdDispatch(...)`. Null if the extension or version is not enabled.
struct VulkanApi {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define GLOBAL(name) PFN_vk##name name = nullptr;
#define INSTANCE(name) PFN_vk##name name = nullptr;
#define DEVICE(name) PFN_vk##name name = nullptr;
#include "vulkan_functions.inl"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE

    void load_instance(VkInstance instance);
    void load_device(VkDevice device);
};

/// Opens the Vulkan loader once per process (it stays open: drivers keep threads and thread-local
/// data) and returns a table with the functions that need no instance.
/// Errors: kUnsupported naming the package to install if there is no loader.
Result<VulkanApi> open_vulkan();

/// "VK_ERROR_DEVICE_LOST" and the like; the number for results unknown to the headers in use.
std::string result_name(VkResult result);

/// A failed Status naming the call, unless `result` is a success (positive codes included).
Status check_vulkan(VkResult result, const char* call);

}  // namespace hearth::standalone
