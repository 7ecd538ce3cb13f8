// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// PNG after the specification's third edition (W3C, 2025), sections 5, 7 and 9, without interlacing and
// ancillary chunks; PGM and PPM after netpbm's manual pages.

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "import/archive/inflate.hpp"
#include "import/archive/zip.hpp"

#include <hearth/dataset.hpp>

#include <charconv>
#include <cstdlib>

namespace hearth {

namespace {

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";
constexpr uint32_t kMaxExtent = 1 << 15;

uint32_t big_endian(ByteReader& in) {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | in.number<uint8_t>();
    return value;
}

struct PngHeader {
    uint32_t width = 0, height = 0;
    uint8_t depth = 0, color = 0, interlace = 0;

    bool has_palette() const { return color == 3; }
    /// Bytes of a pixel in the file; 0 for an invalid type.
    uint32_t samples() const {
        static constexpr uint8_t kSamples[] = {1, 0, 3, 1, 2, 0, 4};
        return color < std::size(kSamples) ? kSamples[color] : 0;
    }
};

Result<PngHeader> read_header(ByteReader& in) {
    PngHeader header{big_endian(in), big_endian(in), in.number<uint8_t>(), in.number<uint8_t>()};
    in.take(2);  // compression and filter methods, of which there is one each
    header.interlace = in.number<uint8_t>();
    if (in.failed() || header.width == 0 || header.height == 0 || header.samples() == 0)
        return corrupt_data("png: its header is damaged");
    if (header.width > kMaxExtent || header.height > kMaxExtent)
        return out_of_range("png: " + std::to_string(header.width) + " x " +
                            std::to_string(header.height) + " pixels, expected at most " +
                            std::to_string(kMaxExtent) + " each way");
    if (header.depth != 8)
        return unsupported("png: " + std::to_string(header.depth) +
                           " bits per sample, expected 8; convert the image");
    if (header.interlace != 0) return unsupported("png: interlaced; save it without interlacing");
    return header;
}

/// Undoes the filter of each line in place.  data: height lines of a filter and `line` bytes.
Status unfilter(std::vector<std::byte>& data, size_t height, size_t line, size_t pixel) {
    const auto at = [&](size_t row, size_t column) {
        return static_cast<int>(data[row * (line + 1) + 1 + column]);
    };
    for (size_t row = 0; row < height; ++row) {
        const auto filter = static_cast<uint8_t>(data[row * (line + 1)]);
        if (filter > 4) return corrupt_data("png: line " + std::to_string(row) + " has no filter");
        for (size_t column = 0; column < line; ++column) {
            const int left = column < pixel ? 0 : at(row, column - pixel);
            const int above = row == 0 ? 0 : at(row - 1, column);
            const int corner = row == 0 || column < pixel ? 0 : at(row - 1, column - pixel);
            const int guess = left + above - corner;
            const int by_left = std::abs(guess - left), by_above = std::abs(guess - above),
                      by_corner = std::abs(guess - corner);
            const int paeth = by_left <= by_above && by_left <= by_corner ? left
                              : by_above <= by_corner                     ? above
                                                                          : corner;
            const int predicted[] = {0, left, above, (left + above) / 2, paeth};
            data[row * (line + 1) + 1 + column] =
                static_cast<std::byte>(at(row, column) + predicted[filter]);
        }
    }
    return {};
}

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

Result<HostTensor> read_png(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    in.take(kPngMagic.size());
    PngHeader header;
    std::vector<std::byte> stream;
    std::span<const std::byte> palette;
    for (bool is_first = true;; is_first = false) {
        const uint32_t size = big_endian(in);
        const uint64_t begin = in.position();
        const std::string_view kind = in.text(4);
        const std::span<const std::byte> content = in.take(size);
        const uint32_t checksum = big_endian(in);
        if (in.failed()) return corrupt_data("png: truncated");
        if (crc32(bytes.subspan(begin, 4 + content.size())) != checksum)
            return corrupt_data("png: the checksum of chunk " + quoted(kind) + " differs");
        if (is_first != (kind == "IHDR")) return corrupt_data("png: it has no header");
        if (kind == "IEND") break;
        if (kind == "IHDR") {
            ByteReader fields(content);
            HEARTH_ASSIGN(header, read_header(fields));
        } else if (kind == "PLTE") {
            palette = content;
        } else if (kind == "IDAT") {
            stream.insert(stream.end(), content.begin(), content.end());
        }
    }
    const uint32_t samples = header.samples();
    const size_t line = size_t{header.width} * samples;
    HEARTH_ASSIGN(std::vector<std::byte> data, inflate_zlib(stream, header.height * (line + 1)));
    HEARTH_TRY(unfilter(data, header.height, line, samples));
    const auto byte_at = [&](size_t pixel, size_t channel) {
        return static_cast<uint8_t>(
            data[pixel / header.width * (line + 1) + 1 + pixel % header.width * samples + channel]);
    };
    if (!header.has_palette()) return planes(samples, header.height, header.width, byte_at);
    for (size_t pixel = 0; pixel < size_t{header.height} * header.width; ++pixel)
        if (byte_at(pixel, 0) >= palette.size() / 3)
            return corrupt_data("png: a pixel has the color " + std::to_string(byte_at(pixel, 0)) +
                                " of a palette of " + std::to_string(palette.size() / 3));
    return planes(3, header.height, header.width, [&](size_t pixel, size_t channel) {
        return static_cast<uint8_t>(palette[size_t{3} * byte_at(pixel, 0) + channel]);
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
        if (text.starts_with(kPngMagic)) return read_png(bytes);
        if (text.starts_with("P5")) return read_netpbm(bytes, 1);
        if (text.starts_with("P6")) return read_netpbm(bytes, 3);
        const bool is_jpeg = text.starts_with("\xff\xd8\xff");
        return unsupported(std::string("image: ") + (is_jpeg ? "JPEG" : "an unknown format") +
                           ", expected PNG, PGM (P5) or PPM (P6); convert it");
    });
}

}  // namespace hearth
