// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The Vulkan functions that an application itself calls (queues, pools, submissions), for CPU
// devices: with them the in-tree application code runs unchanged on a CPU. Hearth's own part is in
// sdk/src/device/native.

#pragma once

#include "vulkan_api.hpp"

namespace hearth::standalone {

/// vkGetInstanceProcAddr of CPU devices, whose instance, physical device, device and queue are the
/// same handle: a pointer to hearth::native::Device.
PFN_vkVoidFunction VKAPI_PTR native_instance_proc(VkInstance instance, const char* name);

}  // namespace hearth::standalone
