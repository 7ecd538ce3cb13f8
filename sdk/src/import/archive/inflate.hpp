// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Decompresses a DEFLATE stream (RFC 1951) that holds exactly `size` bytes, by zlib.
/// Errors: kCorruptData for an invalid stream, and for one that holds fewer or more bytes;
/// kUnsupported in builds without zlib (HEARTH_PNG=OFF).
Result<std::vector<std::byte>> inflate(std::span<const std::byte> stream, uint64_t size);

}  // namespace hearth
