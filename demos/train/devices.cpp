// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns GPUs to ranks.

#include "train/devices.hpp"

#include <algorithm>

namespace hearth::train {

std::vector<DeviceIdentity> device_identities(const standalone::Instance& instance) {
    std::vector<DeviceIdentity> devices;
    for (VkPhysicalDevice device : instance.physical_devices()) {
        VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
        properties.pNext = &id;
        instance.vk().GetPhysicalDeviceProperties2(device, &properties);
        DeviceIdentity d;
        std::copy_n(id.deviceUUID, VK_UUID_SIZE, d.uuid.begin());
        const VkPhysicalDeviceType type = properties.properties.deviceType;
        d.is_gpu = type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                   type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                   type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
        devices.push_back(d);
    }
    return devices;
}

int device_of_rank(std::span<const DeviceIdentity> devices, int local_rank) {
    std::vector<int> order;
    const bool has_gpu = std::ranges::any_of(devices, &DeviceIdentity::is_gpu);
    for (size_t i = 0; i < devices.size(); ++i)
        if (devices[i].is_gpu == has_gpu) order.push_back(static_cast<int>(i));
    if (order.empty()) return -1;
    std::ranges::stable_sort(order, {},
                             [&](int i) { return devices[static_cast<size_t>(i)].uuid; });
    return order[static_cast<size_t>(local_rank) % order.size()];
}

}  // namespace hearth::train
