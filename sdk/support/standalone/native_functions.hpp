// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part of Vulkan that a host calls itself (queues, pools, submissions), of native devices: with it the
// in-tree host runs on a CPU as it is.  Hearth's own part lies in sdk/src/device/native.

#pragma once

#include "vulkan_api.hpp"

namespace hearth::standalone {

/// vkGetInstanceProcAddr of native devices, whose instance, physical device, device and queue are
/// one handle: a pointer to hearth::native::Device.
PFN_vkVoidFunction VKAPI_PTR native_instance_proc(VkInstance instance, const char* name);

}  // namespace hearth::standalone
