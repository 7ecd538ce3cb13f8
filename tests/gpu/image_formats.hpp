// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the bits of a texel mean, for each uncompressed format: the reference of image conversions.
// After the Vulkan specification, "Format Definition" and "Representation of Non-multiplanar
// Formatted Image Data".

#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace hearth::test {

using Texel = std::array<double, 4>;

inline double from_srgb(double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
inline double to_srgb(double c) {
    c = std::max(c, 0.0);
    return c <= 0.0031308 ? c * 12.92 : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

enum class Encoding { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kSrgb, kFloat };

/// The value of a float of 5 bits of exponent and `mantissa_bits`, without a sign.
inline double small_float(uint32_t bits, int mantissa_bits) {
    const uint32_t exponent = bits >> mantissa_bits;
    const double mantissa = bits & ((1u << mantissa_bits) - 1);
    const double unit = std::ldexp(1.0, mantissa_bits);
    return exponent == 0 ? std::ldexp(mantissa / unit, -14)
                         : std::ldexp(1 + mantissa / unit, static_cast<int>(exponent) - 15);
}

struct TexelFormat {
    VkFormat format;
    std::string channels;   ///< of "rgba", from the lowest bit
    std::vector<int> bits;  ///< of each channel
    Encoding encoding;
    VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT;

    size_t bytes() const {
        int sum = 0;
        for (const int b : bits) sum += b;
        return static_cast<size_t>(sum + 7) / 8;
    }
    bool is_integer() const { return encoding == Encoding::kUint || encoding == Encoding::kSint; }
    bool is_shared_exponent() const { return format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32; }

    /// The component's place in a Texel.
    static size_t place(char channel) { return std::string("rgba").find(channel); }

    double value(uint32_t raw, int width, char channel) const {
        const double most = std::ldexp(1.0, width) - 1, half = std::ldexp(1.0, width - 1);
        const double number = raw >= half ? raw - 2 * half : raw;  // two's complement
        switch (encoding) {
            case Encoding::kUnorm:
                return raw / most;
            case Encoding::kSnorm:
                return std::max(number / (half - 1), -1.0);
            case Encoding::kUscaled:
            case Encoding::kUint:
                return raw;
            case Encoding::kSscaled:
            case Encoding::kSint:
                return number;
            case Encoding::kSrgb:
                return channel == 'a' ? raw / most : from_srgb(raw / most);
            case Encoding::kFloat:
                break;
        }
        if (width == 32) {
            float result;
            std::memcpy(&result, &raw, sizeof result);
            return result;
        }
        if (width == 16) return (raw >> 15 != 0 ? -1 : 1) * small_float(raw & 0x7fff, 10);
        return small_float(raw, width - 5);
    }

    /// Missing components are 0, and alpha 1.
    Texel decode(const std::byte* from) const {
        Texel texel{0, 0, 0, 1};
        size_t at = 0;
        uint32_t raw[4]{};
        for (size_t i = 0; i < bits.size(); ++i) {
            for (int bit = 0; bit < bits[i]; ++bit, ++at)
                raw[i] |= (static_cast<uint32_t>(from[at / 8]) >> (at % 8) & 1u) << bit;
            if (channels[i] != 'x') texel[place(channels[i])] = value(raw[i], bits[i], channels[i]);
        }
        if (is_shared_exponent())
            for (size_t k = 0; k < 3; ++k)
                texel[k] = std::ldexp(raw[k], static_cast<int>(raw[3]) - 15 - 9);
        return texel;
    }

    /// `count` texels with random bits, all of whose components are finite and of modest size.
    std::vector<std::byte> random_texels(size_t count) const {
        std::vector<std::byte> result(count * bytes());
        uint32_t state = 12345 + static_cast<uint32_t>(format);
        for (std::byte& b : result) {
            state = state * 1664525u + 1013904223u;
            b = static_cast<std::byte>(state >> 24);
        }
        if (encoding != Encoding::kFloat || is_shared_exponent()) return result;
        const bool is_depth = aspect == VK_IMAGE_ASPECT_DEPTH_BIT;  // within 0..1
        for (size_t i = 0; bits[0] == 32 && i < result.size(); i += sizeof(float)) {
            uint32_t raw;
            std::memcpy(&raw, &result[i], sizeof raw);
            const float unit = std::ldexp(static_cast<float>(raw >> 8), -24);
            const float number = is_depth ? unit : 4 * unit - 2;
            std::memcpy(&result[i], &number, sizeof number);
        }
        for (size_t i = 0; bits[0] < 32 && i < count; ++i) {
            size_t at = i * bytes() * 8;
            for (const int width : bits) {
                // Clears the highest bit of the exponent: below 2.
                const size_t top = at + static_cast<size_t>(width == 16 ? 14 : width - 1);
                result[top / 8] &= ~(std::byte{1} << (top % 8));
                at += static_cast<size_t>(width);
            }
        }
        return result;
    }

    /// The number that the format holds nearest to `v`, and how far a stored one may be from it.
    std::pair<double, double> stored(double v, int width, char channel) const {
        const double most = std::ldexp(1.0, width) - 1, half = std::ldexp(1.0, width - 1);
        switch (encoding) {
            case Encoding::kUnorm:
                return {std::clamp(v, 0.0, 1.0), 0.51 / most};
            case Encoding::kSnorm:
                return {std::clamp(v, -1.0, 1.0), 0.51 / (half - 1)};
            case Encoding::kSrgb:  // half a step, by the slope of sRGB, which is at most 2.4
                return {std::clamp(v, 0.0, 1.0), (channel == 'a' ? 1 : 2.4) * 0.51 / most};
            case Encoding::kUint:
                return {std::clamp(std::nearbyint(v), 0.0, most), 0};
            case Encoding::kSint:
                return {std::clamp(std::nearbyint(v), -half, half - 1), 0};
            default:
                break;
        }
        if (width == 32) return {v, 0};
        if (width == 16) return {v, std::abs(v) * std::ldexp(1.0, -10) + 1e-7};
        const double positive = std::max(v, 0.0);
        return {positive, positive * std::ldexp(1.0, 5 - width) + 1e-4};
    }
};

/// All uncompressed formats with components of at most 32 bits.
inline std::vector<TexelFormat> all_texel_formats() {
    using enum Encoding;
    std::vector<TexelFormat> all;
    const auto add = [&](int first, const std::string& channels, const std::vector<int>& bits,
                         const std::vector<Encoding>& encodings) {
        for (size_t i = 0; i < encodings.size(); ++i)
            all.push_back(
                {static_cast<VkFormat>(first + static_cast<int>(i)), channels, bits, encodings[i]});
    };
    add(VK_FORMAT_R4G4_UNORM_PACK8, "gr", {4, 4}, {kUnorm});
    add(VK_FORMAT_R4G4B4A4_UNORM_PACK16, "abgr", {4, 4, 4, 4}, {kUnorm});
    add(VK_FORMAT_B4G4R4A4_UNORM_PACK16, "argb", {4, 4, 4, 4}, {kUnorm});
    add(VK_FORMAT_A4R4G4B4_UNORM_PACK16, "bgra", {4, 4, 4, 4}, {kUnorm});
    add(VK_FORMAT_A4B4G4R4_UNORM_PACK16, "rgba", {4, 4, 4, 4}, {kUnorm});
    add(VK_FORMAT_R5G6B5_UNORM_PACK16, "bgr", {5, 6, 5}, {kUnorm});
    add(VK_FORMAT_B5G6R5_UNORM_PACK16, "rgb", {5, 6, 5}, {kUnorm});
    add(VK_FORMAT_R5G5B5A1_UNORM_PACK16, "abgr", {1, 5, 5, 5}, {kUnorm});
    add(VK_FORMAT_B5G5R5A1_UNORM_PACK16, "argb", {1, 5, 5, 5}, {kUnorm});
    add(VK_FORMAT_A1R5G5B5_UNORM_PACK16, "bgra", {5, 5, 5, 1}, {kUnorm});
    const std::vector<Encoding> of_8 = {kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kSrgb};
    add(VK_FORMAT_R8_UNORM, "r", {8}, of_8);
    add(VK_FORMAT_R8G8_UNORM, "rg", {8, 8}, of_8);
    add(VK_FORMAT_R8G8B8_UNORM, "rgb", {8, 8, 8}, of_8);
    add(VK_FORMAT_B8G8R8_UNORM, "bgr", {8, 8, 8}, of_8);
    add(VK_FORMAT_R8G8B8A8_UNORM, "rgba", {8, 8, 8, 8}, of_8);
    add(VK_FORMAT_B8G8R8A8_UNORM, "bgra", {8, 8, 8, 8}, of_8);
    add(VK_FORMAT_A8B8G8R8_UNORM_PACK32, "rgba", {8, 8, 8, 8}, of_8);
    const std::vector<Encoding> of_10(of_8.begin(), of_8.begin() + 6);
    add(VK_FORMAT_A2R10G10B10_UNORM_PACK32, "bgra", {10, 10, 10, 2}, of_10);
    add(VK_FORMAT_A2B10G10R10_UNORM_PACK32, "rgba", {10, 10, 10, 2}, of_10);
    std::vector<Encoding> of_16 = of_10;
    of_16.push_back(kFloat);
    const std::vector<Encoding> of_32 = {kUint, kSint, kFloat};
    for (int n = 1; n <= 4; ++n) {
        const std::string channels = std::string("rgba").substr(0, static_cast<size_t>(n));
        add(VK_FORMAT_R16_UNORM + 7 * (n - 1), channels, std::vector<int>(channels.size(), 16),
            of_16);
        add(VK_FORMAT_R32_UINT + 3 * (n - 1), channels, std::vector<int>(channels.size(), 32),
            of_32);
    }
    add(VK_FORMAT_B10G11R11_UFLOAT_PACK32, "rgb", {11, 11, 10}, {kFloat});
    add(VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, "rgbx", {9, 9, 9, 5}, {kFloat});
    const auto add_depth = [&](VkFormat format, const std::string& channels,
                               const std::vector<int>& bits, Encoding encoding,
                               VkImageAspectFlags aspect) {
        all.push_back({format, channels, bits, encoding, aspect});
    };
    // As copied to a buffer.
    const VkImageAspectFlags depth = VK_IMAGE_ASPECT_DEPTH_BIT,
                             stencil = VK_IMAGE_ASPECT_STENCIL_BIT;
    add_depth(VK_FORMAT_D16_UNORM, "r", {16}, kUnorm, depth);
    add_depth(VK_FORMAT_X8_D24_UNORM_PACK32, "rx", {24, 8}, kUnorm, depth);
    add_depth(VK_FORMAT_D32_SFLOAT, "r", {32}, kFloat, depth);
    add_depth(VK_FORMAT_S8_UINT, "r", {8}, kUint, stencil);
    for (const VkFormat format :
         {VK_FORMAT_D16_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT}) {
        if (format == VK_FORMAT_D16_UNORM_S8_UINT)
            add_depth(format, "r", {16}, kUnorm, depth);
        else if (format == VK_FORMAT_D24_UNORM_S8_UINT)
            add_depth(format, "rx", {24, 8}, kUnorm, depth);
        else
            add_depth(format, "r", {32}, kFloat, depth);
        add_depth(format, "r", {8}, kUint, stencil);
    }
    return all;
}

}  // namespace hearth::test
