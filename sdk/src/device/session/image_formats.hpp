// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What image kernels need to know of a VkFormat.

#pragma once

#include "device/vulkan/vulkan.hpp"

#include <cstdint>

namespace hearth::runtime {

/// Component type that a shader declares for images of a format.
enum class TexelType { kNone, kFloat, kUint, kInt };

/// kNone for formats with components of more than 32 bits, and those that need a sampler with Y'CBCR
/// conversion.  Formats with depth and stencil: that of the depth.
TexelType texel_type(VkFormat format);

/// The SPIR-V image format (specification, 3.11) with which every device stores to images of this
/// format without further features; 0 (Unknown) if there is none.
uint32_t basic_spirv_format(VkFormat format);

/// The smallest and the largest float that component `k` of a format of texel type kUint or kInt can
/// hold.
struct IntegerRange {
    float least = 0, most = 0;
};
IntegerRange integer_range(VkFormat format, uint32_t k);

/// The UNORM format with the same bits as an sRGB format of 8-bit components, or
/// VK_FORMAT_UNDEFINED.
VkFormat unorm_of_srgb(VkFormat format);

}  // namespace hearth::runtime
