// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// PNG by libpng; PGM and PPM after netpbm's manual pages.

#include "core/out_of_memory.hpp"
#include "import/data/png.hpp"

#include <hearth/dataset.hpp>

#include <charconv>

namespace hearth {

namespace {

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr uint32_t kMaxExtent = 1 << 15;

/// Converts pixels of bytes to planes of floats in [0, 1].
template <class Sample>
HostTensor planes(uint32_t channels, uint32_t height, uint32_t width, const Sample& sample) {
    HostTensor image(DType::kF32, {channels, height, width});
    const std::span<float> out = image.as<float>();
    size_t at = 0;
    for (uint32_t channel = 0; channel < channels; ++channel)
        for (size_t pixel = 0; pixel < size_t{height} * width; ++pixel)
            out[at++] = static_cast<float>(sample(pixel, channel)) / 255;
    return image;
}

Result<HostTensor> png_planes(std::span<const std::byte> bytes) {
    constexpr uint64_t kFloor = uint64_t{64} << 20, kFactor = 50;  // of floats
    HEARTH_ASSIGN(const Pixels png,
                  read_png(bytes, (kFloor + kFactor * bytes.size()) / sizeof(float)));
    return planes(png.channels, png.height, png.width, [&](size_t pixel, size_t channel) {
        return static_cast<uint8_t>(png.bytes[pixel * png.channels + channel]);
    });
}

/// A number of a netpbm header, after blanks and comments; 0 if there is none.
uint32_t header_number(std::string_view& text) {
    for (;;) {
        const size_t blank = text.find_first_not_of(" \t\r\n");
        text.remove_prefix(std::min(blank, text.size()));
        if (!text.starts_with('#')) break;
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return error == std::errc() ? value : 0;
}

Result<HostTensor> read_netpbm(std::span<const std::byte> bytes, uint32_t channels) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.remove_prefix(2);
    const uint32_t width = header_number(text), height = header_number(text),
                   most = header_number(text);
    if (width == 0 || height == 0 || width > kMaxExtent || height > kMaxExtent || text.empty())
        return corrupt_data("netpbm: its header is damaged");
    if (most != 255)
        return unsupported("netpbm: values up to " + std::to_string(most) + ", expected 255");
    text.remove_prefix(1);
    if (const uint64_t size = uint64_t{width} * height * channels; text.size() < size)
        return corrupt_data("netpbm: " + std::to_string(text.size()) +
                            " bytes of pixels, expected " + std::to_string(size));
    return planes(channels, height, width, [&](size_t pixel, size_t channel) {
        return static_cast<uint8_t>(text[pixel * channels + channel]);
    });
}

}  // namespace

Result<HostTensor> read_image(std::span<const std::byte> bytes) {
    return or_out_of_memory([&]() -> Result<HostTensor> {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (text.starts_with(kPngMagic)) return png_planes(bytes);
        if (text.starts_with("P5")) return read_netpbm(bytes, 1);
        if (text.starts_with("P6")) return read_netpbm(bytes, 3);
        const bool is_jpeg = text.starts_with("\xff\xd8\xff");
        return unsupported(std::string("image: ") + (is_jpeg ? "JPEG" : "an unknown format") +
                           ", expected PNG, PGM (P5) or PPM (P6); convert it");
    });
}

}  // namespace hearth
