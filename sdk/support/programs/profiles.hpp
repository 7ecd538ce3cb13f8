// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The named classes of devices that packages are cooked for.

#pragma once

#include <hearth/compile.hpp>

#include <standalone/device.hpp>

#include <string>
#include <vector>

namespace hearth::programs {

struct ProfileClass {
    const char* name;
    const char* summary;
};
std::span<const ProfileClass> profile_classes();

/// The profile of this name.  device  only "device" needs one; null: there is none.
/// Errors: kNotFound listing the names.
Result<CookProfile> make_profile(const std::string& name, standalone::Device* device);

}  // namespace hearth::programs
