// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which GPU each rank of a machine has.

#pragma once

#include <standalone/instance.hpp>

#include <array>
#include <span>
#include <vector>

namespace hearth::train {

struct DeviceIdentity {
    std::array<uint8_t, VK_UUID_SIZE> uuid{};
    bool is_gpu = false;  ///< rather than a driver on the CPU
};

/// Of Instance::physical_devices(), in their order.
std::vector<DeviceIdentity> device_identities(const standalone::Instance& instance);

/// GPUs in the order of their UUIDs, which all processes see alike, are handed out in turn; without GPUs what there is.
/// Returns an index; -1 where there is no device.
int device_of_rank(std::span<const DeviceIdentity> devices, int local_rank);

}  // namespace hearth::train
