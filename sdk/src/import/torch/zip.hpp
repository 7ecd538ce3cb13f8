// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The entries of a zip archive whose contents are stored, not compressed.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace hearth {

/// Contents by name, in place.
using ZipEntries = std::map<std::string, std::span<const std::byte>, std::less<>>;

/// Whether `bytes` begin as archives do.
bool looks_like_zip(std::span<const std::byte> bytes);

/// Reads an archive's directory, with its 64-bit extensions, and checks each entry's checksum.
/// Errors: kCorruptData; kUnsupported for compressed or encrypted entries, and parts of archives.
Result<ZipEntries> read_zip(std::span<const std::byte> bytes);

}  // namespace hearth
