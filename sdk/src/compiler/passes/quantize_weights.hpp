// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrow weights for inference: f16, or integers of 8 or 4 bits with one scale per block.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>

#include <span>
#include <vector>

namespace hearth {

/// Packed integer weights, and one scale per block of elements.
struct PackedWeights {
    HostTensor words;   ///< u32
    HostTensor scales;  ///< in the scale type
};

/// Quantizes f32 `weights` to the nearest multiple of their block's scale. bits: 8 or 4. With 8,
/// the scale maps the block's largest magnitude to 127; with 4, it is the candidate with the least
/// squared error.
PackedWeights pack_weights(const HostTensor& weights, int bits, int64_t block, DType scale_type);

/// Replaces weights consistently in all graphs, which are the entries of one Program; see
/// QuantizeOptions. Returns a report per weight, sorted by name.
Result<std::vector<QuantizedWeight>> quantize_weights(std::span<Graph> graphs,
                                                      const QuantizeOptions& options);

}  // namespace hearth
