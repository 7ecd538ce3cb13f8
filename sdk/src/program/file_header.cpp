// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks the beginning of a header, with messages for each kind of wrong file.

#include "program/file_header.hpp"

#include "program/file_kind.hpp"

#include <cstring>

namespace hearth {

namespace {

/// The fields with which all headers begin.
struct Prefix {
    uint32_t magic, format_version;
    uint64_t total_bytes;
};

template <class Header>
constexpr bool kHasPrefix = offsetof(Header, magic) == offsetof(Prefix, magic) &&
                            offsetof(Header, format_version) == offsetof(Prefix, format_version) &&
                            offsetof(Header, total_bytes) == offsetof(Prefix, total_bytes);
static_assert(kHasPrefix<file::PackageHeader> && kHasPrefix<file::FileHeader> &&
              kHasPrefix<file::BrainHeader>);

}  // namespace

bool refuse_file(const FileFormat& format, StatusCode code, const char* what, ViewError* error) {
    error->code = code;
    error->text.set("%s: %s", format.noun, what);
    return false;
}

bool check_file_header(const FileFormat& format, size_t header_bytes,
                       std::span<const std::byte> bytes, ViewError* error) {
    if (bytes.size() < header_bytes)
        return refuse_file(format, StatusCode::kCorruptData,
                           "shorter than its header, so the file is truncated; copy it again",
                           error);
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0)
        return refuse_file(format, StatusCode::kInvalidArgument,
                           "the bytes must be at an address that is a multiple of 8; copy them to "
                           "an aligned buffer",
                           error);
    Prefix header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != format.magic) {
        error->code = StatusCode::kCorruptData;
        error->text.set("%s: not a Hearth %s; found %s", format.noun, format.noun,
                        describe_file(bytes));
        return false;
    }
    if (header.format_version < format.oldest_version ||
        header.format_version > format.newest_version) {
        error->code = StatusCode::kUnsupported;
        error->text.set(
            "%s: format version %u, this library reads version %u; %s", format.noun,
            header.format_version, format.newest_version,
            header.format_version < format.oldest_version ? format.if_older : format.if_newer);
        return false;
    }
    if (header.total_bytes != bytes.size()) {
        error->code = StatusCode::kCorruptData;
        error->text.set("%s: %zu bytes, and the header says %llu; copy the file again", format.noun,
                        bytes.size(), static_cast<unsigned long long>(header.total_bytes));
        return false;
    }
    return true;
}

}  // namespace hearth
