// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/data/png.hpp"

#include "core/bytes.hpp"

#ifdef HEARTH_HAS_PNG
#include <png.h>
#endif

#include <string>

namespace hearth {

#ifdef HEARTH_HAS_PNG

namespace {

struct Image : png_image {
    Image() : png_image{} { version = PNG_IMAGE_VERSION; }
    ~Image() { png_image_free(this); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
};

}  // namespace

Result<Pixels> read_png(std::span<const std::byte> bytes, uint64_t max_bytes) {
    Image image;
    const auto failure = [&image] { return corrupt_data("png: " + shown(image.message)); };
    if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return failure();
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;  // 8 bits a sample, no palette
    Pixels pixels{PNG_IMAGE_SAMPLE_CHANNELS(image.format), image.height, image.width};
    const uint64_t size = uint64_t{pixels.height} * pixels.width * pixels.channels;
    if (size > max_bytes)
        return out_of_range("png: " + std::to_string(pixels.width) + " x " +
                            std::to_string(pixels.height) + " pixels take " + std::to_string(size) +
                            " bytes, expected at most " + std::to_string(max_bytes) +
                            " of a file of this size");
    pixels.bytes.resize(size);
    if (png_image_finish_read(&image, nullptr, pixels.bytes.data(), 0, nullptr) == 0)
        return failure();
    return pixels;
}

#else

Result<Pixels> read_png(std::span<const std::byte>, uint64_t) {
    return unsupported(
        "png: this build reads none: build with -D HEARTH_PNG=ON (needs libpng), or "
        "convert the image to PPM");
}

#endif

}  // namespace hearth
