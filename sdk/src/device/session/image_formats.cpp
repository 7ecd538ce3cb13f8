// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "device/session/image_formats.hpp"

namespace hearth::runtime {

namespace {

// Formats that headers before Vulkan 1.3.274 lack, from VK_KHR_maintenance5.
constexpr auto kA1B5G5R5 = static_cast<VkFormat>(1000470000);
constexpr auto kA8 = static_cast<VkFormat>(1000470001);

/// Formats from `first` to `last` whose encodings alternate with a period of `encodings`.
struct Run {
    VkFormat first, last;
    /// 7: UNORM, SNORM, USCALED, SSCALED, UINT, SINT, and SRGB or SFLOAT.  6: without the seventh.
    /// 3: UINT, SINT, SFLOAT.  1: all are read as floats.
    int encodings;
};

constexpr Run kRuns[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, VK_FORMAT_A1R5G5B5_UNORM_PACK16, 1},
    {VK_FORMAT_R8_UNORM, VK_FORMAT_A8B8G8R8_SRGB_PACK32, 7},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32, VK_FORMAT_A2B10G10R10_SINT_PACK32, 6},
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, 7},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT, 3},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_D32_SFLOAT, 1},
    {VK_FORMAT_D16_UNORM_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT, 1},
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_ASTC_12x12_SRGB_BLOCK, 1},
    {VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG, VK_FORMAT_PVRTC2_4BPP_SRGB_BLOCK_IMG, 1},
    {VK_FORMAT_ASTC_4x4_SFLOAT_BLOCK, VK_FORMAT_ASTC_12x12_SFLOAT_BLOCK, 1},
    {VK_FORMAT_R10X6_UNORM_PACK16, VK_FORMAT_R10X6G10X6_UNORM_2PACK16, 1},
    {VK_FORMAT_R12X4_UNORM_PACK16, VK_FORMAT_R12X4G12X4_UNORM_2PACK16, 1},
    {VK_FORMAT_A4R4G4B4_UNORM_PACK16, VK_FORMAT_A4B4G4R4_UNORM_PACK16, 1},
    {kA1B5G5R5, kA8, 1},
};

bool is_within(VkFormat format, VkFormat first, VkFormat last) {
    return format >= first && format <= last;
}

/// Bits of component k of a format of texel type kUint or kInt.
uint32_t component_bits(VkFormat format, uint32_t k) {
    if (is_within(format, VK_FORMAT_R32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT)) return 32;
    if (is_within(format, VK_FORMAT_R16_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT)) return 16;
    if (is_within(format, VK_FORMAT_A2R10G10B10_UNORM_PACK32, VK_FORMAT_A2B10G10R10_SINT_PACK32))
        return k == 3 ? 2 : 10;
    return 8;
}

}  // namespace

TexelType texel_type(VkFormat format) {
    if (format == VK_FORMAT_S8_UINT) return TexelType::kUint;
    for (const Run& run : kRuns) {
        if (!is_within(format, run.first, run.last)) continue;
        const int encoding = (format - run.first) % run.encodings;
        const int uint = run.encodings == 3 ? 0 : 4;  // SINT follows
        if (run.encodings == 1 || encoding < uint || encoding > uint + 1) return TexelType::kFloat;
        return encoding == uint ? TexelType::kUint : TexelType::kInt;
    }
    return TexelType::kNone;
}

uint32_t basic_spirv_format(VkFormat format) {
    switch (format) {
        case VK_FORMAT_R32G32B32A32_SFLOAT:
            return 1;  // Rgba32f
        case VK_FORMAT_R16G16B16A16_SFLOAT:
            return 2;  // Rgba16f
        case VK_FORMAT_R32_SFLOAT:
            return 3;  // R32f
        case VK_FORMAT_R8G8B8A8_UNORM:
            return 4;  // Rgba8
        case VK_FORMAT_R8G8B8A8_SNORM:
            return 5;  // Rgba8Snorm
        case VK_FORMAT_R32G32B32A32_SINT:
            return 21;  // Rgba32i
        case VK_FORMAT_R16G16B16A16_SINT:
            return 22;  // Rgba16i
        case VK_FORMAT_R8G8B8A8_SINT:
            return 23;  // Rgba8i
        case VK_FORMAT_R32_SINT:
            return 24;  // R32i
        case VK_FORMAT_R32G32B32A32_UINT:
            return 30;  // Rgba32ui
        case VK_FORMAT_R16G16B16A16_UINT:
            return 31;  // Rgba16ui
        case VK_FORMAT_R8G8B8A8_UINT:
            return 32;  // Rgba8ui
        case VK_FORMAT_R32_UINT:
            return 33;  // R32ui
        default:
            return 0;
    }
}

IntegerRange integer_range(VkFormat format, uint32_t k) {
    const bool is_signed = texel_type(format) == TexelType::kInt;
    const uint32_t bits = component_bits(format, k) - (is_signed ? 1 : 0);
    constexpr uint32_t kMantissa = 24;
    const uint64_t end = uint64_t{1} << bits;
    const uint64_t unit = bits > kMantissa ? uint64_t{1} << (bits - kMantissa) : 1;
    return {is_signed ? -static_cast<float>(end) : 0.0f, static_cast<float>(end - unit)};
}

VkFormat unorm_of_srgb(VkFormat format) {
    constexpr int kPeriod = 7, kSrgb = 6;
    const bool is_srgb = is_within(format, VK_FORMAT_R8_UNORM, VK_FORMAT_A8B8G8R8_SRGB_PACK32) &&
                         (format - VK_FORMAT_R8_UNORM) % kPeriod == kSrgb;
    return is_srgb ? static_cast<VkFormat>(format - kSrgb) : VK_FORMAT_UNDEFINED;
}

}  // namespace hearth::runtime
