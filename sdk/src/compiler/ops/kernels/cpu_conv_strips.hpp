// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolutions for CPUs as products of windows that are never stored: sizes of the strips of windows whose input a
// kernel copies into a cache (compiler/codegen/conv/cpu_conv_kernel.cpp), and an estimate of their time.

#pragma once

#include "compiler/ir/graph.hpp"
#include "core/device_model.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace hearth {

/// Extents of a convolution over three spatial axes; missing leading ones have extent 1.
struct ConvExtents {
    using Axes = std::array<int64_t, 3>;
    Axes size{1, 1, 1}, kernel{1, 1, 1}, count{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
        low{0, 0, 0};
    int64_t groups = 1, in_each = 1, out_each = 1;  ///< channels of a group

    /// node: a `conv`.
    ConvExtents(const Graph& graph, const Node& node);

    /// Elements along an axis with the same offset modulo the stride are a phase; number of phases
    /// that taps read.
    int64_t phases(size_t axis) const {
        if (kernel[axis] == 1) return 1;
        const int64_t s = stride[axis];
        return dilation[axis] == 1 && kernel[axis] < s ? kernel[axis] : s;
    }
    /// Elements of a phase that a window reaches beyond its first one.
    int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilation[axis] / stride[axis]; }
    int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    int64_t inner() const { return in_each * taps(); }
};

/// A block of windows (`rows` x `columns` of one plane) that a kernel computes at once for
/// `outputs` channels, `channels` of the input at a time. Their input lies in an array
/// [channels, planes, phases along y, phases along x, covered_rows, pitch], so that a tap of
/// neighbouring windows is always contiguous.
struct ConvStrip {
    CpuTile tile;
    bool by_rows = false;  ///< tiles end with a row of windows; otherwise they continue in the next
                           ///< row, across the columns that only taps read
    int64_t rows = 1, columns = 1, channels = 1, outputs = 1;
    int64_t covered_rows = 1, pitch = 1;

    int64_t plane() const { return covered_rows * pitch; }
    /// Distance of a channel of the array from the next.
    int64_t channel_length(const ConvExtents& conv) const {
        return conv.kernel[0] * conv.phases(1) * conv.phases(2) * plane();
    }
    /// Floats of the array, with those that the last tile of the last channel reads beyond it.
    int64_t array_length(const ConvExtents& conv) const;
    /// Distance of a row of sums from the next, and floats of an output channel's sums.
    int64_t sums_pitch() const;
    int64_t sums_length() const;
    /// Output channels whose sums are in memory at once: all of a block if it adds blocks of
    /// channels, otherwise a tile.
    int64_t sums_rows(const ConvExtents& conv) const {
        return channels < conv.in_each ? outputs : int64_t{tile.rows};
    }
};

/// Floats of the kernel's arrays: the covered input and the sums.
struct ConvMemory {
    int64_t covered = 24 * 1024;  ///< 96 KiB, a part of the L2 cache
    int64_t sums = 20 * 1024;
};
/// All strips that fit, of each size in as few blocks of channels as possible. At least one if
/// has_strip_kernel().
std::vector<ConvStrip> conv_strips(const ConvExtents& conv, const DeviceModel& model,
                                   const ConvMemory& memory = {});
/// Estimated cycles of all windows of one image.
double conv_cycles(const ConvExtents& conv, const ConvStrip& strip);

/// True if the device is a CPU with a kernel for convolutions of this element type.
bool has_conv_kernel(DType dtype, const DeviceCaps& caps);
/// True if CPUs have a kernel for this convolution, which is then not decomposed. Products of
/// single elements, sums of integers and of doubles, and targets with little memory have none.
bool has_strip_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps);

}  // namespace hearth
