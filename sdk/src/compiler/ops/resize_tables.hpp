// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which elements of an axis, with which weights, make one element of the resized axis.  Worked out
// in double precision when the graph is built: kernels only read the tables.

#pragma once

#include <hearth/op/attrs.hpp>
#include <hearth/ops.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

/// Tables are made for axes of at most so many elements.
inline constexpr int64_t kMostTabulated = 1 << 20;

/// Element i of the result is the sum over t of weights[t * extent + i] * x[indices[t * extent +
/// i]]; x has `from` elements.
struct AxisTaps {
    int64_t from = 0, extent = 0, taps = 0;
    std::vector<int64_t> indices;
    std::vector<double> weights;

    AxisTaps(int64_t from_extent, int64_t to_extent, int64_t tap_count)
        : from(from_extent),
          extent(to_extent),
          taps(tap_count),
          indices(static_cast<size_t>(to_extent * tap_count)),
          weights(indices.size()) {}
    void set(int64_t tap, int64_t at, int64_t index, double weight) {
        indices[static_cast<size_t>(tap * extent + at)] = index;
        weights[static_cast<size_t>(tap * extent + at)] = weight;
    }
    /// The adjoint: from the result's elements to x's.
    AxisTaps transposed() const;
};

/// x resampled along `axis`.
Tensor resample(const Tensor& x, int axis, const AxisTaps& taps);

/// Where an element of the result lies between those of x.
enum class ResizeCoordinates {
    kHalfPixel,           ///< (i + 0.5) / scale - 0.5
    kHalfPixelSymmetric,  ///< the same, with the centres of both kept in one place
    kPytorchHalfPixel,    ///< 0 where the result has one element
    kAlignCorners,        ///< the first and last elements lie on each other
    kAsymmetric,          ///< i / scale
    kCrop,                ///< a range of x, as TensorFlow's crop_and_resize
};

enum class ResizeRounding { kPreferFloor, kPreferCeil, kFloor, kCeil };

/// After ONNX's Resize-19.
struct ResizeRule {
    Interpolation mode = Interpolation::kNearest;
    ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
    ResizeRounding rounding = ResizeRounding::kPreferFloor;
    double cubic_a = -0.75;  ///< Keys, "Cubic convolution interpolation", 1981
    bool antialias = false;  ///< widen the filter where the result is smaller
    bool exclude_outside = false;
};

/// One axis to resize: `scale` is what the caller asked for; it need not be to / from.
struct ResizeAxis {
    int64_t from = 1, to = 1;
    double scale = 1;
    double crop_begin = 0, crop_end = 1;  ///< of kCrop, as parts of the axis
};

/// The place of element i of the result on x's axis.
double resize_coordinate(const ResizeRule& rule, const ResizeAxis& axis, int64_t i);
AxisTaps resize_taps(const ResizeRule& rule, const ResizeAxis& axis);

/// Index of the element that stands at `at`, maybe outside [0, n), by the rule of `mode`, which is
/// not kConstant.
int64_t padded_index(int64_t at, int64_t n, PadMode mode);

}  // namespace hearth
