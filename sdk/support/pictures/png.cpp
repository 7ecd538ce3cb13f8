// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Encodes PNG files.

#include <pictures/png.hpp>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace hearth::pictures {

Result<std::vector<std::byte>> encode_png(uint32_t width, uint32_t height,
                                          std::span<const uint8_t> pixels, bool is_bgra) {
    const size_t count = size_t{width} * height;
    if (pixels.size() < 4 * count) return invalid_argument("encode_png: too few pixels");
    std::vector<uint8_t> rgb(3 * count);
    for (size_t i = 0; i < count; ++i) {
        rgb[3 * i] = pixels[4 * i + (is_bgra ? 2 : 0)];
        rgb[3 * i + 1] = pixels[4 * i + 1];
        rgb[3 * i + 2] = pixels[4 * i + (is_bgra ? 0 : 2)];
    }
    std::vector<std::byte> png;
    const auto append = [](void* to, void* data, int size) {
        const auto* const bytes = static_cast<const std::byte*>(data);
        auto& all = *static_cast<std::vector<std::byte>*>(to);
        all.insert(all.end(), bytes, bytes + size);
    };
    if (stbi_write_png_to_func(append, &png, static_cast<int>(width), static_cast<int>(height), 3,
                               rgb.data(), static_cast<int>(3 * width)) == 0)
        return internal_error("encode_png: no memory");
    return png;
}

}  // namespace hearth::pictures
