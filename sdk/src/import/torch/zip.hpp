// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads zip archives whose entries are stored, not compressed.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
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

}  // namespace hearth
