// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Enumerates strips of windows by size and register tile, and estimates each.

#include "compiler/ops/kernels/cpu_conv_strips.hpp"

#include "compiler/ops/shared/windows.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int64_t kMostColumns = 1024;  // of a strip: its row in a tile's 12 sums takes 48 KiB

int64_t parts(int64_t count, int64_t each) {
    return (count + each - 1) / each;
}
int64_t rounded(int64_t count, int64_t part) {
    return parts(count, part) * part;
}

/// Sizes of equal blocks of `count`, each rounded up, from all of it down to one.
std::vector<int64_t> block_sizes(int64_t count) {
    std::vector<int64_t> sizes;
    for (int64_t n = 1; n <= count; n += std::max<int64_t>(1, n / 4)) {
        const int64_t size = parts(count, n);
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    }
    if (sizes.empty() || sizes.back() != 1) sizes.push_back(1);
    return sizes;
}

/// Register tiles of at most `out` rows with no more accumulators than the model's.
std::vector<CpuTile> tiles_of(const CpuTile& model, int64_t out) {
    constexpr uint32_t kMostVectors = 6;  // with more, GCC 12 spills
    const uint32_t sums = model.rows * model.vectors;
    std::vector<CpuTile> tiles;
    for (uint32_t vectors = 1; vectors <= std::min(sums, kMostVectors); ++vectors) {
        const int64_t most = std::min<int64_t>(sums / vectors, 16);
        tiles.push_back({.lanes = model.lanes,
                         .vectors = vectors,
                         .rows = static_cast<uint32_t>(parts(out, parts(out, most)))});
    }
    return tiles;
}

bool fits(const ConvExtents& conv, const ConvStrip& strip, const ConvMemory& memory) {
    return strip.array_length(conv) <= memory.covered &&
           strip.sums_rows(conv) * strip.sums_length() <= memory.sums;
}

}  // namespace

ConvExtents::ConvExtents(const Graph& graph, const Node& node) {
    const Shape &x = graph.values[node.inputs[0]].shape, &w = graph.values[node.inputs[1]].shape;
    const List from = spatial_extents(x), to = node.attrs.integers("extents");
    const Window window(node.attrs, spatial_extents(w));
    const size_t added = size.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i) {
        size[added + i] = from[i];
        kernel[added + i] = window.kernel[i];
        count[added + i] = to[i];
        stride[added + i] = window.strides[i];
        dilation[added + i] = window.dilations[i];
        low[added + i] = window.low[i];
    }
    groups = node.attrs.integer("groups");
    in_each = w[1].count;
    out_each = w[0].count / groups;
}

int64_t ConvStrip::sums_pitch() const {
    return by_rows ? rounded(columns, tile.columns()) : pitch;
}

int64_t ConvStrip::sums_length() const {
    const int64_t last = by_rows ? columns : (rows - 1) * pitch + columns;
    return (by_rows ? (rows - 1) * sums_pitch() : 0) + rounded(last, tile.columns());
}

int64_t ConvStrip::array_length(const ConvExtents& conv) const {
    const int64_t read = by_rows ? (rows - 1) * pitch + rounded(columns, tile.columns())
                                 : rounded((rows - 1) * pitch + columns, tile.columns());
    const int64_t last = conv.reach(1) * pitch + conv.reach(2) + read;
    return channels * channel_length(conv) + std::max<int64_t>(last - plane(), 0);
}

std::vector<ConvStrip> conv_strips(const ConvExtents& conv, const DeviceModel& model,
                                   const ConvMemory& memory) {
    std::vector<ConvStrip> strips;
    CpuTile widest = model.tile;
    constexpr uint32_t kLeastLanes = 4;
    const int64_t windows = (conv.count[1] - 1) * (conv.count[2] + conv.reach(2)) + conv.count[2];
    while (widest.lanes > kLeastLanes && windows <= widest.lanes / 2) widest.lanes /= 2;
    for (const CpuTile& tile : tiles_of(widest, conv.out_each))
        for (const int64_t columns : block_sizes(conv.count[2])) {
            if (columns > kMostColumns ||
                (columns < conv.count[2] && columns < int64_t{tile.lanes}))
                continue;
            for (const int64_t rows : block_sizes(conv.count[1]))
                for (const bool by_rows : {false, true}) {
                    if (by_rows && rows == 1) continue;
                    for (const int64_t channels : block_sizes(conv.in_each)) {
                        const int64_t outputs =
                            rounded(std::min(conv.out_each, model.block.rows), tile.rows);
                        const ConvStrip strip{.tile = tile,
                                              .by_rows = by_rows,
                                              .rows = rows,
                                              .columns = columns,
                                              .channels = channels,
                                              .outputs = outputs,
                                              .covered_rows = rows + conv.reach(1),
                                              .pitch = columns + conv.reach(2)};
                        if (!fits(conv, strip, memory)) continue;
                        strips.push_back(strip);
                        break;  // fewer channels at a time only cost more
                    }
                }
        }
    return strips;
}

double conv_cycles(const ConvExtents& conv, const ConvStrip& strip) {
    // Two multiply-adds of a latency of four and two loads in each cycle, as most CPUs have; unaligned loads count
    // twice. The other figures were fitted to times on a Zen 5.
    const auto number = [](int64_t x) { return static_cast<double>(x); };
    const double rows = strip.tile.rows, vectors = strip.tile.vectors;
    const double step = std::max({rows * vectors / 2, (rows + 2 * vectors) / 2, 4.0});
    const int64_t blocks = parts(conv.in_each, strip.channels);
    const double tile = number(conv.inner()) * step + number(blocks) * (2 * rows * vectors + 20);
    const int64_t across =
        strip.by_rows ? strip.rows * parts(strip.columns, strip.tile.columns())
                      : parts((strip.rows - 1) * strip.pitch + strip.columns, strip.tile.columns());
    const int64_t down = parts(conv.out_each, strip.tile.rows);
    const int64_t copies = parts(conv.out_each, strip.outputs);
    const double covered_rows = number(conv.in_each * conv.kernel[0] * conv.phases(1) *
                                       conv.phases(2) * strip.covered_rows * copies);
    const double lanes = strip.tile.lanes;
    const double copy =
        covered_rows * (15 + number(strip.pitch) / lanes * (conv.stride[2] == 1 ? 3 : lanes));
    const double store =
        number(conv.out_each * strip.rows) * (10 + 4 * number(strip.columns) / lanes);
    constexpr int64_t kCachedWeights = 64 * 1024;
    const int64_t weights = conv.out_each * conv.inner();
    const double stream = weights > kCachedWeights ? number(weights) / 4 : 0;
    const int64_t jobs = conv.groups * conv.count[0] * parts(conv.count[1], strip.rows) *
                         parts(conv.count[2], strip.columns);
    const double all = number(jobs) * (number(across * down) * tile + copy + store + stream);
    constexpr int64_t kEnoughJobs = 4;
    return jobs * copies < kEnoughJobs ? 1.1 * all : all;
}

bool has_conv_kernel(DType dtype, const DeviceCaps& caps) {
    return device_model(caps).vectorizes_loops && !has_little_memory(caps.cpu_isa) &&
           is_floating(dtype) && dtype != DType::kF64;
}

bool has_strip_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    if (!node.op->traits.is_convolution ||
        !has_conv_kernel(graph.values[node.inputs[0]].dtype, caps))
        return false;
    const ConvExtents conv(graph, node);
    if (std::ranges::any_of(conv.count, [](int64_t n) { return n == 0; }) || conv.in_each == 0)
        return false;
    constexpr int64_t kFewChannels = 4;
    const Window window(node.attrs, spatial_extents(graph.values[node.inputs[1]].shape));
    const bool is_product = window.is_identity(spatial_extents(graph.values[node.inputs[0]].shape),
                                               node.attrs.integers("extents"));
    if (is_product && conv.in_each >= kFewChannels && conv.out_each >= kFewChannels) return false;
    // The smallest strip: one row of windows, a vector of them, of one channel.
    const CpuTile tile = device_model(caps).tile;
    const int64_t columns = std::min(conv.count[2], 2 * int64_t{tile.lanes});
    const ConvStrip least{.tile = {.lanes = tile.lanes, .vectors = 1, .rows = 1},
                          .columns = columns,
                          .covered_rows = 1 + conv.reach(1),
                          .pitch = columns + conv.reach(2)};
    return least.array_length(conv) <= ConvMemory().covered;
}

}  // namespace hearth
