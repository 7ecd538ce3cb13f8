// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which of its kernels a convolution gets, and with which tile: what is measured, in one place.

#pragma once

#include "compiler/ops/windows.hpp"

#include <hearth/op/op_def.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// A convolution of two spatial axes; one of one has a first extent of 1.
struct ConvProblem {
    Window window;
    List size, count;        ///< spatial extents of x and of the result
    int64_t channels, out;   ///< of all groups
    int64_t images, pixels;  ///< of the result, all images at capacity
    int64_t multiple = 0;    ///< depthwise: results of a channel; else 0
    bool has_one_axis, is_half, is_narrow;

    explicit ConvProblem(const KernelRuleCall& call);

    int64_t taps() const { return count_of(window.kernel); }
    int64_t depth() const { return channels * taps(); }
    bool is_depthwise() const { return multiple > 0; }
    /// Elements of x that `places` neighbouring windows cover along an axis.
    int64_t patch_extent(size_t axis, int64_t places) const;
    bool is_padded() const;
    /// Channels that a thread of conv_tiled.comp takes at a time.
    int64_t chunk() const { return has_weights_by_four() ? channels_by_four() : 1; }
    /// The first layer of a network: there is nothing to cut into slices.
    bool is_shallow() const { return channels <= 4 && !has_weights_by_four(); }
    bool has_weights_by_four() const;

  private:
    /// The fewest channels whose weights for one output channel are whole vectors of four.
    int64_t channels_by_four() const;
};

/// The texts of shaders/conv.
enum class ConvFamily : uint8_t {
    kTiled,      ///< any operands
    kStrips,     ///< few channels, large images
    kMatrix,     ///< f16 on matrix cores, large images
    kSlices,     ///< f16 on matrix cores, small images
    kWinograd,   ///< 3 x 3 windows, one apart, many channels
    kDepthwise,  ///< one channel for each group
};

/// Input channels that conv_matrix.comp stages at a time.
inline constexpr int64_t kConvMatrixChunk = 16;

/// Of conv_winograd.comp: threads, blocks of 2 x 2 results and output channels of a workgroup, and
/// input channels at a time.
inline constexpr int64_t kWinogradThreads = 256, kWinogradBlocks = 32, kWinogradOuts = 32,
                         kWinogradChunk = 8;

/// One variant of a kernel.
struct ConvTile {
    ConvFamily family = ConvFamily::kTiled;
    int64_t lanes = 32;  ///< side by side along pixels; kMatrix: subgroups; kSlices: pixels
    int64_t strips = 1;  ///< of threads below each other; kMatrix: subgroups
    int64_t groups = 1;  ///< along output channels
    int64_t slices = 1;  ///< of the input channels
    int64_t px = 4;      ///< pixels of a thread; kStrips: rows of four; kMatrix: matrices
    int64_t oc = 8;      ///< output channels of a thread; kMatrix, kSlices: of a workgroup
    int64_t turns = 1;   ///< kStrips: blocks of output channels that a thread takes in turn
    int64_t chunk = 1;   ///< kSlices: of the depth that is loaded at a time,
    int64_t stage = 1;   ///< and of that in shared memory
    int64_t repeat = 1;  ///< tiles of pixels that a workgroup takes in turn
    bool shares_weights = false;
    bool holds_x = false;  ///< kStrips: in registers

    int64_t threads() const { return lanes * strips * groups * slices; }
};

std::string to_string(const ConvTile& tile);

/// Every variant that computes this convolution on this device, the shipped choice first; on CPUs
/// only those of matrix cores, as products of patches are faster than the others.
std::vector<ConvTile> conv_candidates(const ConvProblem& problem, const DeviceCaps& caps);

}  // namespace hearth
