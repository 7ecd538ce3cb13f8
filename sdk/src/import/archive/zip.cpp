// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads zip archives.  After PKWARE's APPNOTE.TXT, version 6.3.10: 4.3.7 local
// header, 4.3.12 central directory, 4.3.14 and 4.3.15 end of the 64-bit directory, 4.3.16 end of
// the directory, 4.5.3 64-bit extra field.

#include "import/archive/zip.hpp"

#include "core/bytes.hpp"
#include "import/archive/inflate.hpp"

#include <algorithm>
#include <array>

namespace hearth {

namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50,
                   kDirectoryEnd = 0x06054b50, kDirectoryEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kDirectoryEndBytes = 22, kLocator64Bytes = 20, kLongestComment = 0xffff;
constexpr uint16_t kWide16 = 0xffff;
constexpr uint32_t kWide32 = 0xffffffff;  // the actual value is in the 64-bit record

struct Directory {
    uint64_t offset = 0;
    uint64_t count = 0;
};

Result<Directory> find_directory64(std::span<const std::byte> bytes, uint64_t end_record) {
    ByteReader locator(bytes);
    locator.seek(end_record - kLocator64Bytes);  // fails if there is not enough room
    if (locator.number<uint32_t>() != kLocator64) return corrupt_data("has no 64-bit directory");
    locator.take(4);  // disk number of the end record
    ByteReader end(bytes);
    end.seek(locator.number<uint64_t>());
    if (end.number<uint32_t>() != kDirectoryEnd64)
        return corrupt_data("its 64-bit directory is not at the offset that the archive gives");
    end.take(8 + 2 + 2 + 4 + 4 + 8);  // record size, versions, disk numbers, entries on this disk
    Directory directory;
    directory.count = end.number<uint64_t>();
    end.take(8);
    directory.offset = end.number<uint64_t>();
    if (end.failed()) return corrupt_data("its 64-bit directory is truncated");
    return directory;
}

Result<Directory> find_directory(std::span<const std::byte> bytes) {
    if (bytes.size() < kDirectoryEndBytes) return corrupt_data("is too short");
    // The end record is at the end, followed only by an optional comment.
    const uint64_t last = bytes.size() - kDirectoryEndBytes;
    const uint64_t first = last - std::min(last, kLongestComment);
    for (uint64_t at = last + 1; at-- > first;) {
        ByteReader reader(bytes);
        reader.seek(at);
        if (reader.number<uint32_t>() != kDirectoryEnd) continue;
        const auto part = reader.number<uint16_t>();
        reader.take(2 + 2);
        const auto count = reader.number<uint16_t>();
        reader.take(4);
        const auto offset = reader.number<uint32_t>();
        if (reader.number<uint16_t>() != reader.left()) continue;  // not the comment's length
        if (count == kWide16 || offset == kWide32) return find_directory64(bytes, at);
        if (part != 0) return unsupported("is one of several parts of a split archive; join them");
        return Directory{offset, count};
    }
    return corrupt_data("has no directory at its end; the file is truncated, copy it again");
}

struct Entry {
    uint64_t stored = 0, size = 0, offset = 0;
    uint32_t crc = 0;
    uint16_t flags = 0, method = 0;
    std::string_view name;
};

/// Replaces sizes and offsets that do not fit 32 bits.
Status read_extra(std::string_view extra, Entry& entry) {
    ByteReader reader(std::as_bytes(std::span(extra)));
    while (reader.left() >= 4) {
        const auto id = reader.number<uint16_t>();
        ByteReader field(reader.take(reader.number<uint16_t>()));
        if (id != 1) continue;
        for (uint64_t* wide : {&entry.size, &entry.stored, &entry.offset})
            if (*wide == kWide32) *wide = field.number<uint64_t>();
        if (field.failed()) return corrupt_data("its 64-bit sizes are truncated");
    }
    return reader.failed() ? corrupt_data("its extra fields are truncated") : Status();
}

Result<Entry> read_directory_entry(ByteReader& reader) {
    Entry entry;
    if (reader.number<uint32_t>() != kDirectoryEntry)
        return corrupt_data("its directory is damaged at byte " +
                            std::to_string(reader.position()));
    reader.take(2 + 2);  // versions
    entry.flags = reader.number<uint16_t>();
    entry.method = reader.number<uint16_t>();
    reader.take(2 + 2);  // time and date
    entry.crc = reader.number<uint32_t>();
    entry.stored = reader.number<uint32_t>();
    entry.size = reader.number<uint32_t>();
    const auto name_size = reader.number<uint16_t>(), extra_size = reader.number<uint16_t>(),
               comment_size = reader.number<uint16_t>();
    reader.take(2 + 2 + 4);  // disk number, attributes
    entry.offset = reader.number<uint32_t>();
    entry.name = reader.text(name_size);
    const std::string_view extra = reader.text(extra_size);
    reader.take(comment_size);
    if (reader.failed()) return corrupt_data("its directory is truncated");
    HEARTH_TRY(read_extra(extra, entry));
    return entry;
}

/// The bytes of an entry as they are in the archive.
Result<std::span<const std::byte>> stored_bytes(std::span<const std::byte> bytes,
                                                const Entry& entry) {
    constexpr uint16_t kEncrypted = 1;
    if ((entry.flags & kEncrypted) != 0) return unsupported("is encrypted");
    ByteReader reader(bytes);
    reader.seek(entry.offset);
    if (reader.number<uint32_t>() != kLocalHeader)
        return corrupt_data("is not where the directory says");
    reader.take(2 + 2 + 2 + 2 + 2 + 4 + 4 + 4);  // repeats the directory's fields
    const auto name_size = reader.number<uint16_t>(), extra_size = reader.number<uint16_t>();
    if (reader.text(name_size) != entry.name)
        return corrupt_data("has another name than in the directory");
    reader.take(extra_size);
    const std::span<const std::byte> data = reader.take(entry.stored);
    if (reader.failed()) return corrupt_data("is truncated");
    return data;
}

Result<std::span<const std::byte>> contents(std::span<const std::byte> bytes, const Entry& entry) {
    constexpr uint16_t kEncrypted = 1;
    const bool is_plain = entry.method == 0 && entry.stored == entry.size;
    if ((entry.flags & kEncrypted) == 0 && !is_plain)
        return unsupported("is compressed (method " + std::to_string(entry.method) +
                           "); expected entries without compression, as torch.save writes them");
    HEARTH_ASSIGN(const std::span<const std::byte> data, stored_bytes(bytes, entry));
    if (crc32(data) != entry.crc) return corrupt_data("its checksum differs");
    return data;
}

Result<std::vector<std::byte>> unpacked(std::span<const std::byte> bytes, const Entry& entry) {
    constexpr uint16_t kStored = 0, kDeflated = 8;
    HEARTH_ASSIGN(const std::span<const std::byte> stored, stored_bytes(bytes, entry));
    if (entry.method != kStored && entry.method != kDeflated)
        return unsupported("is compressed by method " + std::to_string(entry.method) +
                           ", expected 0 (stored) or 8 (deflated)");
    std::vector<std::byte> data;
    if (entry.method == kDeflated) {
        HEARTH_ASSIGN(data, inflate(stored, entry.size));
    } else if (entry.stored == entry.size) {
        data.assign(stored.begin(), stored.end());
    }
    if (data.size() != entry.size || crc32(data) != entry.crc)
        return corrupt_data("its checksum differs");
    return data;
}

}  // namespace

bool looks_like_zip(std::span<const std::byte> bytes) {
    return ByteReader(bytes).number<uint32_t>() == kLocalHeader;
}

Result<std::vector<std::string_view>> zip_names(std::span<const std::byte> bytes) {
    HEARTH_ASSIGN(const Directory directory, find_directory(bytes));
    ByteReader reader(bytes);
    reader.seek(directory.offset);
    std::vector<std::string_view> names;
    for (uint64_t i = 0; i < directory.count; ++i) {
        HEARTH_ASSIGN(const Entry entry, read_directory_entry(reader));
        names.push_back(entry.name);
    }
    return names;
}

Result<ZipEntries> read_zip(std::span<const std::byte> bytes) {
    HEARTH_ASSIGN(const Directory directory, find_directory(bytes));
    ByteReader reader(bytes);
    reader.seek(directory.offset);
    ZipEntries entries;
    uint64_t checked = 0;
    for (uint64_t i = 0; i < directory.count; ++i) {
        HEARTH_ASSIGN(const Entry entry, read_directory_entry(reader));
        // Overlapping entries could make the checksums take time quadratic in the file's size.
        if (entry.size > bytes.size() - checked)
            return corrupt_data("its entries take more bytes than there are");
        checked += entry.size;
        Result<std::span<const std::byte>> data = contents(bytes, entry);
        if (!data.ok()) return data.status().with_context("entry " + quoted(entry.name));
        if (!entries.emplace(entry.name, *data).second)
            return corrupt_data("entry " + quoted(entry.name) + " is there twice");
    }
    return entries;
}

Result<std::map<std::string, std::vector<std::byte>, std::less<>>> unpack_zip(
    std::span<const std::byte> bytes, uint64_t max_bytes) {
    HEARTH_ASSIGN(const Directory directory, find_directory(bytes));
    ByteReader reader(bytes);
    reader.seek(directory.offset);
    std::map<std::string, std::vector<std::byte>, std::less<>> entries;
    uint64_t total = 0;
    for (uint64_t i = 0; i < directory.count; ++i) {
        HEARTH_ASSIGN(const Entry entry, read_directory_entry(reader));
        if (entry.size > max_bytes - total)
            return out_of_range("its entries take more than " + std::to_string(max_bytes) +
                                " bytes");
        total += entry.size;
        Result<std::vector<std::byte>> data = unpacked(bytes, entry);
        if (!data.ok()) return data.status().with_context("entry " + quoted(entry.name));
        if (!entries.emplace(entry.name, std::move(*data)).second)
            return corrupt_data("entry " + quoted(entry.name) + " is there twice");
    }
    return entries;
}

uint32_t crc32(std::span<const std::byte> bytes) {
    static const std::array<uint32_t, 256> table = [] {
        std::array<uint32_t, 256> t{};
        for (uint32_t i = 0; i < 256; ++i) {
            t[i] = i;
            for (int bit = 0; bit < 8; ++bit)
                t[i] = (t[i] >> 1) ^ ((t[i] & 1) != 0 ? 0xedb88320u : 0);
        }
        return t;
    }();
    uint32_t crc = ~0u;
    for (std::byte b : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<uint32_t>(b)) & 255];
    return ~crc;
}

}  // namespace hearth
