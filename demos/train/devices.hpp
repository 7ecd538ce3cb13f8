// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns a device to each rank on a machine.

#pragma once

#include <standalone/instance.hpp>

#include <array>
#include <span>
#include <vector>

namespace hearth::train {

struct DeviceIdentity {
    std::array<uint8_t, VK_UUID_SIZE> uuid{};
    bool is_gpu = false;  ///< false for a driver on the CPU
};

/// Lists Instance::physical_devices(), in their order.
std::vector<DeviceIdentity> device_identities(const standalone::Instance& instance);

/// Assigns GPUs round-robin in the order of their UUIDs, which is the same in all processes;
/// without GPUs other devices. Returns an index; -1 if there is no device.
int device_of_rank(std::span<const DeviceIdentity> devices, int local_rank);

}  // namespace hearth::train
