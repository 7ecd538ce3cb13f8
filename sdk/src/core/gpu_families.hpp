// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GPU families, by vendor and driver; where a caller gave no ids, by what drivers name devices and by
// shapes of cooperative matrices that one vendor alone has.

#pragma once

#include "core/gpu_ids.hpp"

#include <hearth/types.hpp>

#include <cstdint>
#include <string_view>

namespace hearth {

enum class GpuFamily : uint8_t {
    kAny,         ///< unknown, as in device targets for cards of several vendors
    kDataCentre,  ///< NVIDIA's, with its driver: the measured device
    kNvidia,
    kNvk,  ///< NVIDIA's cards with Mesa's driver
    kAmd,
    kIntel,
    kIntelXe2,  ///< Arc B: with matrix cores
};

inline GpuFamily gpu_family(const DeviceCaps& caps) {
    const auto has = [&](std::string_view word) { return caps.name.find(word) != caps.name.npos; };
    constexpr std::string_view kDataCentres[] = {"V100", "A100", "H100", "H200", "h200", "B200"};
    if (caps.driver_id == driver_id::kNvk || has("NVK")) return GpuFamily::kNvk;
    for (const std::string_view word : kDataCentres)
        if (has(word)) return GpuFamily::kDataCentre;
    const MatrixShape& shape = caps.cooperative_matrix_shape;
    const bool has_matrices = caps.cooperative_matrix != CooperativeMatrixExt::kNone;
    const auto is_of = [&](uint32_t vendor, auto... names) {
        return caps.vendor_id == vendor || (caps.vendor_id == 0 && (has(names) || ...));
    };
    if (is_of(vendor_id::kNvidia, "NVIDIA")) return GpuFamily::kNvidia;
    if (is_of(vendor_id::kAmd, "AMD", "Radeon")) return GpuFamily::kAmd;
    if (has_matrices && shape == MatrixShape{8, 16, 16}) return GpuFamily::kIntelXe2;
    if (is_of(vendor_id::kIntel, "Intel") || (has_matrices && shape == MatrixShape{8, 8, 16}))
        return GpuFamily::kIntel;
    return GpuFamily::kAny;
}

}  // namespace hearth
