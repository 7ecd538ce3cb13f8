// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads zip archives.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Contents by entry name, in place.
using ZipEntries = std::map<std::string, std::span<const std::byte>, std::less<>>;

/// True if `bytes` begin with a local header.
bool looks_like_zip(std::span<const std::byte> bytes);

/// Names of all entries, in the directory's order; they point into `bytes`.
/// Errors: kCorruptData; kUnsupported for multi-disk archives.
Result<std::vector<std::string_view>> zip_names(std::span<const std::byte> bytes);

/// Reads an archive's directory, including the 64-bit extensions, and checks each entry's checksum.
/// Errors: kCorruptData; kUnsupported for compressed or encrypted entries, and multi-disk archives.
Result<ZipEntries> read_zip(std::span<const std::byte> bytes);

/// As read_zip(), of entries that may be compressed (DEFLATE), as copies.  max_bytes: limit of all
/// entries together.
/// Errors: also kOutOfRange beyond max_bytes.
Result<std::map<std::string, std::vector<std::byte>, std::less<>>> unpack_zip(
    std::span<const std::byte> bytes, uint64_t max_bytes);

/// CRC-32 of ISO 3309, reflected, as in zip archives and PNG images.
uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace hearth
