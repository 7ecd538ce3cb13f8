// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

struct Pixels {
    uint32_t channels = 0, height = 0, width = 0;
    std::vector<std::byte> bytes = {};  ///< [height, width, channels]
};

/// Decodes a PNG image by libpng: 1 channel (gray) or 3, and one more if it has transparency.
/// Errors: kCorruptData; kOutOfRange beyond max_bytes of pixels; kUnsupported in builds without
/// libpng (HEARTH_PNG=OFF).
Result<Pixels> read_png(std::span<const std::byte> bytes, uint64_t max_bytes);

}  // namespace hearth
