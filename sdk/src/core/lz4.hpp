// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Blocks of LZ4, in which packages keep their graphs and programs.  The format is Collet's "LZ4
// Block Format Description"; any LZ4 library reads what is written here, and the other way round.
// No library is used because the runtime depends on none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Most bytes that one byte of a block can stand for.
inline constexpr uint64_t kLz4MostRatio = 255;

/// Returns `data` as one block, which may be longer than `data`.  Thorough rather than fast: some
/// 20 MB/s.  Deterministic.
std::vector<std::byte> lz4_compress(std::span<const std::byte> data);

/// Fills `out` with the contents of an untrusted block.  Returns false unless the block is
/// well-formed and has exactly out.size() bytes of contents; `out` is unspecified then.
[[nodiscard]] bool lz4_decompress(std::span<const std::byte> block, std::span<std::byte> out);

}  // namespace hearth
