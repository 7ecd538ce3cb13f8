// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GPUs by the ids that drivers report: vendors, drivers, and what only a device's id tells.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace hearth {

/// VkPhysicalDeviceProperties::vendorID: the PCI-SIG's, or Khronos's where there is none.
namespace vendor_id {
inline constexpr uint32_t kAmd = 0x1002, kNvidia = 0x10de, kIntel = 0x8086, kArm = 0x13b5,
                          kQualcomm = 0x5143, kApple = 0x106b;
}  // namespace vendor_id

/// VkDriverId, where one vendor's devices have several drivers that differ for Hearth.
namespace driver_id {
inline constexpr uint32_t kNvk =
    24;  ///< VK_DRIVER_ID_MESA_NVK, unknown to Vulkan's headers of Debian 12
}  // namespace driver_id

/// Subgroup operations other than barriers may exchange wrong values (kBasicSubgroups).
constexpr bool has_unreliable_shuffles(uint32_t vendor) {
    return vendor == vendor_id::kQualcomm;
}

struct IntelUnits {
    uint32_t device_id;
    uint32_t units;  ///< Xe cores
};

// Intel's drivers report no units.  Discrete cards, as Intel's product pages list their Xe cores; those
// that share the CPU's memory have two to twelve, and are of the smallest class anyway.
inline constexpr IntelUnits kIntelUnits[] = {
    {0x5690, 32}, {0x5691, 24}, {0x5692, 16}, {0x5693, 8},   // Arc A770M, A730M, A550M, A370M
    {0x5694, 6},  {0x5696, 16}, {0x5697, 12},                // Arc A350M, A570M, A530M
    {0x56a0, 32}, {0x56a1, 28}, {0x56a2, 24}, {0x56a5, 8},   // Arc A770, A750, A580, A380
    {0x56a6, 6},                                             // Arc A310
    {0xe20b, 20}, {0xe20c, 18}, {0xe211, 20}, {0xe212, 16},  // Arc B580, B570, Pro B60, Pro B50
};

/// Compute units of a device whose driver does not report them; 0: unknown.
inline uint32_t known_units(uint32_t vendor, uint32_t device) {
    if (vendor != vendor_id::kIntel) return 0;
    const IntelUnits* const found =
        std::find_if(std::begin(kIntelUnits), std::end(kIntelUnits),
                     [&](const IntelUnits& known) { return known.device_id == device; });
    return found == std::end(kIntelUnits) ? 0 : found->units;
}

}  // namespace hearth
