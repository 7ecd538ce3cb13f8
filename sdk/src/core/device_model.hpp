// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What decisions of code generation ask of a device: the one place that guesses from its limits.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>

namespace hearth {

struct DeviceModel {
    bool is_software = false;     ///< a driver that runs on the CPU
    int64_t compute_units = 128;  ///< that run workgroups side by side

    /// Workgroups that keep all units busy.
    int64_t enough_groups() const { return compute_units; }
};

/// Drivers on the CPU have vectors of 4 or 8 lanes for subgroups, GPUs at least 8 and in practice 32;
/// the caps do not tell how many units a GPU has, so each counts as a large one (an H200 has 132).
inline DeviceModel device_model(const DeviceCaps& caps) {
    constexpr uint32_t kWidestVector = 8;
    constexpr int64_t kCores = 4;
    if (caps.subgroup_size <= kWidestVector) return {.is_software = true, .compute_units = kCores};
    return {};
}

inline bool is_software(const DeviceCaps& caps) {
    return device_model(caps).is_software;
}

}  // namespace hearth
