// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Encodes PNG files.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth::pictures {

/// Encodes an opaque PNG of `height` rows of `width` pixels, four bytes each; alpha is ignored.
/// `is_bgra`: the byte order is blue, green, red. Any thread.
Result<std::vector<std::byte>> encode_png(uint32_t width, uint32_t height,
                                          std::span<const uint8_t> pixels, bool is_bgra);

}  // namespace hearth::pictures
