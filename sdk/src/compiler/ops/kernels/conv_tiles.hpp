// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Selects the kernel of a convolution and its tile, from measurements.

#pragma once

#include "compiler/ops/shared/windows.hpp"

#include <hearth/op/op_def.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// A convolution over two spatial axes; with only one, the first extent is 1.
struct ConvProblem {
    Window window;
    List size, count;        ///< spatial extents of x and of the result
    int64_t channels, out;   ///< of all groups
    int64_t images, pixels;  ///< of the result, all images at capacity
    int64_t multiple = 0;    ///< depthwise: results per channel; else 0
    bool has_one_axis, is_half, is_narrow;
    bool can_dot_halves;  ///< f16, and the device multiplies and adds up pairs in one instruction

    explicit ConvProblem(const KernelRuleContext& call);

    int64_t taps() const { return count_of(window.kernel); }
    int64_t depth() const { return channels * taps(); }
    bool is_depthwise() const { return multiple > 0; }
    /// Elements of x that `places` neighbouring windows cover along an axis.
    int64_t patch_extent(size_t axis, int64_t places) const;
    bool is_padded() const;
    /// Channels that a thread of gpu_conv_tiled.cpp loads at a time.
    int64_t chunk() const {
        if (has_weights_by_eight()) return channels_by(8);
        return has_weights_by_four() ? channels_by(4) : 1;
    }
    /// True for the first layer of a network: too few channels to split into slices.
    bool is_shallow() const { return channels <= 4 && !has_weights_by_four(); }
    bool has_weights_by_four() const;
    /// Weights are multiplied as pairs of f16, which are loaded eight elements at a time.
    bool has_weights_by_eight() const;

  private:
    /// The fewest channels whose weights for one output channel are whole vectors.
    int64_t channels_by(int64_t elements) const;
};

/// Kernels of compiler/codegen/conv.
enum class ConvFamily : uint8_t {
    kTiled,      ///< any operands
    kStrips,     ///< few channels, large images
    kMatrix,     ///< f16 on matrix cores, large images
    kSlices,     ///< f16 on matrix cores, small images
    kDepthwise,  ///< one channel per group
};

/// Input channels that gpu_conv_matrix.cpp stages at a time.
inline constexpr int64_t kConvMatrixChunk = 16;

/// One variant of a kernel.
struct ConvTile {
    ConvFamily family = ConvFamily::kTiled;
    int64_t lanes = 32;  ///< threads along pixels; kMatrix: subgroups; kSlices: pixels
    int64_t strips = 1;  ///< threads along rows; kMatrix: subgroups
    int64_t groups = 1;  ///< along output channels
    int64_t slices = 1;  ///< split-K factor over input channels
    int64_t px = 4;      ///< pixels per thread; kStrips: rows of four; kMatrix: matrices
    int64_t oc = 8;      ///< output channels per thread; kMatrix, kSlices: per workgroup
    int64_t turns = 1;   ///< kStrips: blocks of output channels that a thread processes in turn
    int64_t chunk = 1;   ///< kSlices: depth that is loaded at a time
    int64_t stage = 1;   ///< kSlices: part of `chunk` in shared memory
    int64_t repeat = 1;  ///< tiles of pixels that a workgroup processes in turn
    bool loads_by_stage = false;  ///< kSlices: not a whole chunk at once
    bool shares_weights = false;
    bool holds_x = false;  ///< kStrips: in registers

    int64_t threads() const { return lanes * strips * groups * slices; }
};

std::string to_string(const ConvTile& tile);

/// All variants that compute this convolution on this device, the shipped choice first. CPUs get
/// only those with matrix cores, as GEMM over patches is faster there than the others.
std::vector<ConvTile> conv_candidates(const ConvProblem& problem, const DeviceCaps& caps);

/// The same of a call of the operator.  Empty if GPUs have no kernel for it, which is for one group of channels or one
/// channel per group, and one or two spatial axes; then it is decomposed.
std::vector<ConvTile> conv_tiles(const KernelRuleContext& call);

}  // namespace hearth
