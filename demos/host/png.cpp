// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "png.hpp"

#include <vector>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace hearth::demo {

Status write_png(const std::string& path, uint32_t width, uint32_t height,
                 std::span<const uint8_t> pixels, bool is_bgra) {
    const size_t count = size_t{width} * height;
    if (pixels.size() < 4 * count) return invalid_argument("write_png: too few pixels");
    std::vector<uint8_t> rgb(3 * count);
    for (size_t i = 0; i < count; ++i) {
        rgb[3 * i] = pixels[4 * i + (is_bgra ? 2 : 0)];
        rgb[3 * i + 1] = pixels[4 * i + 1];
        rgb[3 * i + 2] = pixels[4 * i + (is_bgra ? 0 : 2)];
    }
    if (stbi_write_png(path.c_str(), static_cast<int>(width), static_cast<int>(height), 3,
                       rgb.data(), static_cast<int>(3 * width)) == 0) {
        return invalid_argument("could not write " + path);
    }
    return {};
}

}  // namespace hearth::demo
