// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Decompresses DEFLATE and zlib streams, of zip archives and PNG images.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Decompresses a DEFLATE stream (RFC 1951) that holds exactly `size` bytes.
/// Errors: kCorruptData for an invalid stream, and for one that holds fewer or more bytes.
Result<std::vector<std::byte>> inflate(std::span<const std::byte> stream, uint64_t size);

/// As above for a zlib stream (RFC 1950), whose checksum is compared.
Result<std::vector<std::byte>> inflate_zlib(std::span<const std::byte> stream, uint64_t size);

}  // namespace hearth
