// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrower weights for inference: f16, or integers of 8 or 4 bits with a scale for each block.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>

#include <span>
#include <vector>

namespace hearth {

/// Weights as words of packed integers, and the scale of each block of elements.
struct PackedWeights {
    HostTensor words;   ///< u32
    HostTensor scales;  ///< of the scale type
};

/// Packs f32 `weights`: to the nearest multiple of its block's scale.  bits: 8 or 4.  With 8 the
/// scale maps the block's largest magnitude to 127; with 4 it is the one of a few candidates that
/// gives the least squared error.
PackedWeights pack_weights(const HostTensor& weights, int bits, int64_t block, DType scale_type);

/// Replaces weights in all graphs alike, which are the entries of one Program; see
/// QuantizeOptions.  Returns what became of each weight, in the order of names.
Result<std::vector<QuantizedWeight>> quantize_weights(std::span<Graph> graphs,
                                                      const QuantizeOptions& options);

}  // namespace hearth
