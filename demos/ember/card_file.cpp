// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Walks the chunks of a PNG (ISO/IEC 15948, section 5.3): length, type, data, and a CRC-32 of type
// and data, numbers with the highest byte first.

#include "card_file.hpp"

#include <hearth/file.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace hearth::ember {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::array<uint8_t, 8> kSignature = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a};
/// Ancillary, private, safe to copy.
constexpr std::string_view kType = "emBr";
constexpr std::string_view kLast = "IEND";
constexpr size_t kAround = 12;  ///< bytes of a chunk besides its data

uint32_t number_at(Bytes bytes, size_t at) {
    uint32_t number = 0;
    for (size_t i = 0; i < 4; ++i) number = number << 8 | std::to_integer<uint32_t>(bytes[at + i]);
    return number;
}

void append_number(std::vector<std::byte>& bytes, uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::byte>(number >> shift & 255));
}

uint32_t crc_of(Bytes bytes) {
    return static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

struct Chunk {
    size_t at = 0;  ///< in the file
    std::string_view type;
    Bytes data;
};

/// Finds the first chunk of a type.
/// Errors: kCorruptData for a file that is no PNG, ends early, or has a wrong checksum before it.
Result<std::optional<Chunk>> find_chunk(Bytes png, std::string_view type) {
    const auto is_same = [](uint8_t a, std::byte b) { return std::byte{a} == b; };
    if (png.size() < kSignature.size() ||
        !std::equal(kSignature.begin(), kSignature.end(), png.begin(), is_same))
        return corrupt_data("not a card: expected a PNG picture");
    for (size_t at = kSignature.size(); png.size() - at >= kAround;) {
        const uint32_t size = number_at(png, at);
        if (size > png.size() - at - kAround) break;
        const Chunk chunk{
            at, {reinterpret_cast<const char*>(png.data()) + at + 4, 4}, png.subspan(at + 8, size)};
        if (crc_of(png.subspan(at + 4, size + 4)) != number_at(png, at + 8 + size))
            return corrupt_data("the card is damaged: a checksum does not match");
        if (chunk.type == type) return std::optional(chunk);
        if (chunk.type == kLast) return std::optional<Chunk>();
        at += kAround + size;
    }
    return corrupt_data("the card is cut off: it is " + std::to_string(png.size()) +
                        " bytes long and has no end");
}

}  // namespace

Result<std::vector<std::byte>> with_creature(Bytes png, const Kept& kept) {
    HEARTH_ASSIGN(const std::optional<Chunk> last, find_chunk(png, kLast));
    const std::vector<std::byte> data = encode(kept);
    std::vector<std::byte> file(png.begin(), png.begin() + static_cast<std::ptrdiff_t>(last->at));
    append_number(file, static_cast<uint32_t>(data.size()));
    const size_t checked = file.size();
    for (const char c : kType) file.push_back(static_cast<std::byte>(c));
    file.insert(file.end(), data.begin(), data.end());
    append_number(file, crc_of(Bytes(file).subspan(checked)));
    const auto rest = png.subspan(last->at);
    file.insert(file.end(), rest.begin(), rest.end());
    return file;
}

Result<Kept> creature_in(Bytes png) {
    HEARTH_ASSIGN(const std::optional<Chunk> chunk, find_chunk(png, kType));
    if (!chunk)
        return not_found(
            "no creature in this picture: a program that changed it may have left it out");
    return decode_kept(chunk->data);
}

Status write_card(const std::string& path, Bytes png, const Kept& kept) {
    HEARTH_ASSIGN(const std::vector<std::byte> card, with_creature(png, kept));
    return write_file_atomically(path, std::span<const std::byte>(card));
}

Result<std::string> adopt_card(const Nest& nest, const std::string& path, int64_t day) {
    constexpr uint64_t kMostBytes = 64 << 20;  ///< a picture of any screen
    HEARTH_ASSIGN(const std::vector<std::byte> png, read_whole_file(path, kMostBytes));
    HEARTH_ASSIGN(Kept kept, creature_in(png));
    kept.name = nest.free_name(kept.name);
    HEARTH_TRY(nest.save(kept, day));
    return kept.name;
}

}  // namespace hearth::ember
