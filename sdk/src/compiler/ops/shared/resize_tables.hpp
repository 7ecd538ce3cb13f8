// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Indices and weights of the elements that make one element of a resized axis. Computed in double
// precision when the graph is built: kernels only read the tables.

#pragma once

#include <hearth/op/attrs.hpp>
#include <hearth/ops.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

/// Maximum elements of a tabulated axis.
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

/// Resamples x along `axis`.
Tensor resample(const Tensor& x, int axis, const AxisTaps& taps);

/// Mapping from an element of the result to a coordinate on x's axis.
enum class ResizeCoordinates {
    kHalfPixel,           ///< (i + 0.5) / scale - 0.5
    kHalfPixelSymmetric,  ///< as kHalfPixel, with the centres of both axes aligned
    kPytorchHalfPixel,    ///< as kHalfPixel, but 0 if the result has one element
    kAlignCorners,        ///< the first and last elements coincide
    kAsymmetric,          ///< i / scale
    kCrop,                ///< a range of x, as TensorFlow's crop_and_resize
};

enum class ResizeRounding { kPreferFloor, kPreferCeil, kFloor, kCeil };

/// Options as in ONNX's Resize-19.
struct ResizeRule {
    Interpolation mode = Interpolation::kNearest;
    ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
    ResizeRounding rounding = ResizeRounding::kPreferFloor;
    double cubic_a = -0.75;  ///< Keys, "Cubic convolution interpolation", 1981
    bool antialias = false;  ///< widen the filter when downsampling
    bool exclude_outside = false;
};

/// One axis to resize: `scale` is the requested one, which need not be to / from.
struct ResizeAxis {
    int64_t from = 1, to = 1;
    double scale = 1;
    double crop_begin = 0, crop_end = 1;  ///< kCrop: range as fractions of the axis
};

/// The coordinate of element i of the result on x's axis.
double resize_coordinate(const ResizeRule& rule, const ResizeAxis& axis, int64_t i);
AxisTaps resize_taps(const ResizeRule& rule, const ResizeAxis& axis);

/// Index of the element at `at`, maybe outside [0, n), under the rule of `mode`, which must not be
/// kConstant.
int64_t padded_index(int64_t at, int64_t n, PadMode mode);

}  // namespace hearth
