// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/kernels/attention_tiles.hpp"

#include "core/device_model.hpp"

#include <algorithm>
#include <array>

namespace hearth {

namespace {

constexpr int64_t kThreads = 128;      // of a workgroup
constexpr int64_t kWideThreads = 256;  // of a workgroup with wide tiles

/// Rows and columns, the best first if there is enough work. Tall tiles read the columns less
/// often; wide ones need fewer barriers.
using TileSizes = std::array<std::array<int64_t, 2>, 10>;
constexpr TileSizes kSizes{
    {{32, 32}, {32, 16}, {16, 32}, {16, 16}, {8, 32}, {8, 16}, {8, 8}, {4, 32}, {8, 4}, {4, 4}}};
/// For GPUs.
constexpr TileSizes kWideSizes{{{32, 128},
                                {32, 64},
                                {16, 128},
                                {16, 64},
                                {8, 128},
                                {8, 64},
                                {8, 32},
                                {8, 16},
                                {4, 16},
                                {4, 4}}};

/// Shared memory of a workgroup, in floats.
int64_t shared_floats(AttentionPass pass, std::span<const TensorType> inputs,
                      const AttentionTile& tile) {
    const auto row_floats = [&](size_t operand) {
        return (inputs[operand].shape[3].count + 3) / 4 * 4 + 4;
    };
    const int64_t both = (tile.queries + tile.keys) * row_floats(kQuery);
    const int64_t value_rows =
        pass == AttentionPass::kForward ? tile.keys : tile.queries + tile.keys;
    const int64_t scores = pass == AttentionPass::kBackwardKeys ? 2 * tile.keys * (tile.queries + 1)
                                                                : tile.queries * (tile.keys + 1);
    return both + value_rows * row_floats(kValue) + scores + 5 * tile.threads(pass);
}

}  // namespace

std::string to_string(const AttentionTile& tile) {
    return "tiles of " + std::to_string(tile.queries) + " queries and " +
           std::to_string(tile.keys) + " keys";
}

/// First the largest that occupies the whole device and lets workgroups share a unit, or the one with the most workgroups
/// if none does; then the others.
std::vector<AttentionTile> attention_tiles(AttentionPass pass, std::span<const TensorType> inputs,
                                           const DeviceCaps& caps, uint64_t max_batch_size) {
    const DeviceModel model = device_model(caps);
    const bool is_narrow = model.is_software || max_workgroup_size(caps) < kWideThreads;
    const int64_t threads = is_narrow ? kThreads : kWideThreads;
    const bool is_wide_type =
        std::ranges::any_of(inputs, [](const TensorType& in) { return in.dtype == DType::kF64; });
    // A CPU's products of matrices are faster than a workgroup whose invocations take turns.
    if (model.keeps_bodies || is_wide_type || max_workgroup_size(caps) < threads) return {};
    const bool by_keys = pass == AttentionPass::kBackwardKeys;
    const Shape& s = inputs[by_keys ? size_t{kKey} : size_t{kQuery}].shape;
    const auto live_rows = static_cast<int64_t>(max_batch_size);
    const int64_t pairs = s[0].resolve(live_rows) * s[1].resolve(live_rows),
                  length = s[2].resolve(live_rows);
    std::vector<AttentionTile> all;
    size_t chosen = 0;
    int64_t most_groups = 0;
    for (const auto& [tall, wide] : is_narrow ? kSizes : kWideSizes) {
        const int64_t lanes = threads / tall;
        const AttentionTile tile =
            by_keys ? AttentionTile{wide, tall, lanes} : AttentionTile{tall, wide, lanes};
        const int64_t bytes =
            shared_floats(pass, inputs, tile) * static_cast<int64_t>(sizeof(float));
        if (bytes > caps.max_compute_shared_memory_size) continue;
        const int64_t groups = pairs * ((length + tall - 1) / tall);
        if (bytes <= model.shared_budget(threads) && groups > most_groups &&
            most_groups < model.enough_groups()) {
            chosen = all.size();
            most_groups = groups;
        }
        all.push_back(tile);
    }
    if (most_groups == 0 && !all.empty()) chosen = all.size() - 1;
    if (!all.empty())
        std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(chosen),
                    all.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
    return all;
}

std::vector<AttentionTile> attention_tiles(const Graph& graph, const Node& node,
                                           const DeviceCaps& caps, uint64_t max_batch_size) {
    std::vector<TensorType> inputs;
    for (ValueId v : node.inputs) inputs.push_back({graph.value(v).dtype, graph.value(v).shape});
    return attention_tiles(node.op->traits.attention, inputs, caps, max_batch_size);
}

}  // namespace hearth
