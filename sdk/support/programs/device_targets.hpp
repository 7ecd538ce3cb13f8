// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The named device targets that packages are cooked for.

#pragma once

#include <hearth/compile.hpp>

#include <standalone/device.hpp>

#include <string>
#include <vector>

namespace hearth::programs {

struct DeviceTargetClass {
    const char* name;
    const char* summary;
};
std::span<const DeviceTargetClass> device_target_classes();

/// Returns the device target of this name. device: required only by "device"; may be null.
/// Errors: kNotFound listing the names.
Result<DeviceTarget> make_device_target(const std::string& name, standalone::Device* device);

}  // namespace hearth::programs
