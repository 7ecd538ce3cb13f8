// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tiles of attention's kernels (compiler/codegen/attention), which walk over the scores without storing them.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Operands of the forward operator, then of the backward ones.  A mask and the lengths follow if the attributes announce
/// them.
enum AttentionInput : size_t { kQuery, kKey, kValue, kAttentionForwardCount };
enum AttentionBackwardInput : size_t {
    kAttentionCotangent = 3,
    kLogTotal,
    kCommonPart,
    kAttentionBackwardCount
};
inline size_t attention_input_count(AttentionPass pass) {
    return pass == AttentionPass::kForward ? size_t{kAttentionForwardCount}
                                           : size_t{kAttentionBackwardCount};
}

/// Queries and keys that a workgroup holds at a time, and the invocations that share a row.
struct AttentionTile {
    int64_t queries = 0, keys = 0, lanes = 0;

    /// Rows: the sequence that workgroups divide among themselves.
    int64_t rows(AttentionPass pass) const {
        return pass == AttentionPass::kBackwardKeys ? keys : queries;
    }
    int64_t threads(AttentionPass pass) const { return lanes * rows(pass); }
    friend bool operator==(const AttentionTile&, const AttentionTile&) = default;
};
std::string to_string(const AttentionTile& tile);

/// Tiles that fit the device, the shipped choice first.  Empty if the device has no kernel: then the operator is
/// decomposed.
std::vector<AttentionTile> attention_tiles(AttentionPass pass, std::span<const TensorType> inputs,
                                           const DeviceCaps& caps, uint64_t max_batch_size);
std::vector<AttentionTile> attention_tiles(const Graph& graph, const Node& node,
                                           const DeviceCaps& caps, uint64_t max_batch_size);

}  // namespace hearth
