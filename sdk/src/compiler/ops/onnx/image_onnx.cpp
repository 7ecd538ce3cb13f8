// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports ONNX resizing, padding and sampling.

#include "compiler/ops/onnx/image_onnx.hpp"

#include "compiler/ops/shared/resize_tables.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <hearth/core/convert.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

constexpr int64_t kMostElements = kMostTabulated;  // along one resized axis

bool has_failed(const OnnxCall& call) {
    return !call.trace.status().ok();
}

/// The value named by the attribute's text; fails the trace for unknown names.
template <class T, size_t N>
T choice(OnnxCall& call, std::string_view attribute, std::string_view fallback,
         const std::pair<std::string_view, T> (&choices)[N]) {
    const std::string text = call.text(attribute, fallback);
    for (const auto& [name, value] : choices)
        if (name == text) return value;
    call.invalid(std::string(attribute) + " is '" + text + "'");
    return choices[0].second;
}

Interpolation interpolation(OnnxCall& call, std::string_view fallback) {
    constexpr std::pair<std::string_view, Interpolation> kModes[] = {
        {"nearest", Interpolation::kNearest}, {"linear", Interpolation::kLinear},
        {"bilinear", Interpolation::kLinear}, {"cubic", Interpolation::kCubic},
        {"bicubic", Interpolation::kCubic},
    };
    return choice(call, "mode", fallback, kModes);
}

ResizeRule resize_rule(OnnxCall& call) {
    constexpr std::pair<std::string_view, ResizeCoordinates> kCoordinates[] = {
        {"half_pixel", ResizeCoordinates::kHalfPixel},
        {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
        {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
        {"align_corners", ResizeCoordinates::kAlignCorners},
        {"asymmetric", ResizeCoordinates::kAsymmetric},
        {"tf_half_pixel_for_nn", ResizeCoordinates::kHalfPixel},
        {"tf_crop_and_resize", ResizeCoordinates::kCrop},
    };
    constexpr std::pair<std::string_view, ResizeRounding> kRoundings[] = {
        {"round_prefer_floor", ResizeRounding::kPreferFloor},
        {"round_prefer_ceil", ResizeRounding::kPreferCeil},
        {"floor", ResizeRounding::kFloor},
        {"ceil", ResizeRounding::kCeil},
    };
    ResizeRule rule;
    rule.mode = interpolation(call, "nearest");
    // Version 10 and earlier have only one rule.
    const bool is_old = call.opset < 11;
    rule.coordinates = choice(call, "coordinate_transformation_mode",
                              is_old ? "asymmetric" : "half_pixel", kCoordinates);
    rule.rounding =
        choice(call, "nearest_mode", is_old ? "floor" : "round_prefer_floor", kRoundings);
    rule.cubic_a = call.real("cubic_coeff_a", -0.75);
    rule.antialias = call.flag("antialias", false);
    rule.exclude_outside = call.flag("exclude_outside", false);
    return rule;
}

/// An axis of the node and how it is resized.
struct ResizedAxis {
    int axis = 0;
    ResizeAxis to;
};

/// The axes that the node names; all if it names none.
std::vector<int> resized_axes(OnnxCall& call, const Tensor& x) {
    std::vector<int> axes;
    for (int64_t a : call.integers("axes")) {
        const Result<int> at = normalize_axis(a, x.rank());
        if (at.ok())
            axes.push_back(*at);
        else
            call.trace.fail(at.status());
    }
    if (axes.empty()) {
        axes.resize(static_cast<size_t>(x.rank()));
        std::iota(axes.begin(), axes.end(), 0);
    }
    return axes;
}

bool has_elements(OnnxCall& call, size_t k) {
    if (!call.has(k)) return false;
    if (call.inputs[k].extents != nullptr) return true;
    return call.inputs[k].tensor.shape().element_count().count > 0;
}

/// Sets the result's extents from scales: floor(extent * scale), in single precision as ONNX infers
/// it.
void scale_axes(OnnxCall& call, const std::vector<double>& scales, std::vector<ResizedAxis>& axes,
                const Tensor& x) {
    if (scales.size() != axes.size()) {
        call.invalid(std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) +
                     " axes");
        return;
    }
    for (size_t i = 0; i < axes.size(); ++i) {
        const Dim extent = x.dim(axes[i].axis);
        if (extent.is_batch && scales[i] != 1) {
            call.unsupported("resizing the rows");
            return;
        }
        const float to =
            std::floor(static_cast<float>(extent.count) * static_cast<float>(scales[i]));
        if (!(scales[i] > 0) || !(to >= 1 && to <= static_cast<float>(kMostElements))) {
            call.unsupported("resizing " + to_string(extent) + " elements by " +
                             std::to_string(scales[i]));
            return;
        }
        axes[i].to = {.from = extent.count,
                      .to = saturate_cast<int64_t>(static_cast<double>(to)),
                      .scale = scales[i]};
    }
}

/// Sets the result's extents from sizes; the policy may shrink or grow them to scale all axes
/// alike.
void size_axes(OnnxCall& call, const std::vector<Dim>& sizes, std::vector<ResizedAxis>& axes,
               const Tensor& x) {
    if (has_failed(call)) return;
    if (sizes.size() != axes.size()) {
        call.invalid(std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) +
                     " axes");
        return;
    }
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    double least = HUGE_VAL, most = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        const Dim extent = x.dim(axes[i].axis);
        const bool is_kept = sizes[i] == extent;
        if (extent.count < 1 || sizes[i].count < 1 || sizes[i].count > kMostElements ||
            (!is_kept && (extent.is_batch || sizes[i].is_batch))) {
            call.unsupported("resizing " + to_string(extent) + " elements to " +
                             to_string(sizes[i]));
            return;
        }
        const double scale =
            static_cast<double>(sizes[i].count) / static_cast<double>(extent.count);
        axes[i].to = {.from = extent.count, .to = sizes[i].count, .scale = scale};
        least = std::min(least, scale);
        most = std::max(most, scale);
    }
    if (policy == "stretch") return;
    if (policy != "not_larger" && policy != "not_smaller") {
        call.invalid("keep_aspect_ratio_policy is '" + policy + "'");
        return;
    }
    for (ResizedAxis& a : axes) {
        a.to.scale = policy == "not_larger" ? least : most;
        a.to.to =
            saturate_cast<int64_t>(std::floor(a.to.scale * static_cast<double>(a.to.from) + 0.5));
    }
}

/// Writes `value` wherever the position on x's axis lies outside.
Tensor extrapolated(OnnxCall& call, const Tensor& y, const ResizeRule& rule, const ResizedAxis& a,
                    double value) {
    HostTensor outside(DType::kBool, Shape{a.to.to});
    bool is_any = false;
    for (int64_t i = 0; i < a.to.to; ++i) {
        const double at = resize_coordinate(rule, a.to, i);
        const bool is_outside = at < 0 || at > static_cast<double>(a.to.from - 1);
        outside.set_int(i, is_outside);
        is_any = is_any || is_outside;
    }
    if (!is_any) return y;
    Shape shape{Dim(a.to.to)};
    for (int i = a.axis + 1; i < y.rank(); ++i) shape.push_back(Dim(1));
    const Tensor mask = reshape(call.trace.constant(std::move(outside)), shape);
    return where(mask, value, y);
}

Tensor resized(OnnxCall& call, const Tensor& x, const ResizeRule& rule,
               const std::vector<ResizedAxis>& axes) {
    const double value = call.real("extrapolation_value", 0);
    const bool is_crop = rule.coordinates == ResizeCoordinates::kCrop;
    // Interpolate in f32: f16 loses precision of the weights.
    const bool is_exact = rule.mode == Interpolation::kNearest || x.dtype() == DType::kF32 ||
                          x.dtype() == DType::kF64;
    Tensor y = is_exact ? x : cast(x, DType::kF32);
    for (const ResizedAxis& a : axes) {
        if (a.to.to < 1 || a.to.to > kMostElements) {
            call.unsupported("resizing to " + std::to_string(a.to.to) + " elements");
            return y;
        }
        const bool is_kept = a.to.scale == 1 && a.to.to == a.to.from &&
                             (!is_crop || (a.to.crop_begin == 0 && a.to.crop_end == 1));
        if (is_kept) continue;
        if (a.to.from > kMostElements) {
            call.unsupported("resizing " + std::to_string(a.to.from) + " elements");
            return y;
        }
        // Each element has as many taps as its filter reaches, each with an index and a weight.
        const double reach =
            rule.mode == Interpolation::kNearest ? 1 : 4 / std::min(a.to.scale, 1.0) + 2;
        const double taps = reach * static_cast<double>(a.to.to);
        if (!call.trace.has_room(2, saturate_cast<uint64_t>(taps) * 2 * sizeof(double))) return y;
        y = resample(y, a.axis, resize_taps(rule, a.to));
        if (is_crop) y = extrapolated(call, y, rule, a, value);
    }
    return y.dtype() == x.dtype() ? y : cast(y, x.dtype());
}

}  // namespace

// inputs: x, scales up to version 10; x, roi, scales, sizes since 11
Tensors import_resize(OnnxCall& call) {
    const Tensor x = call.in(0);
    const ResizeRule rule = resize_rule(call);
    if (has_failed(call)) return {};
    std::vector<ResizedAxis> axes;
    for (int axis : resized_axes(call, x)) axes.push_back({.axis = axis});
    const size_t scales = call.opset < 11 ? 1 : 2, sizes = 3;
    if (has_elements(call, scales))
        scale_axes(call, call.reals_in(scales), axes, x);
    else
        size_axes(call, call.extents_in(sizes), axes, x);
    if (has_failed(call)) return {};
    if (rule.coordinates == ResizeCoordinates::kCrop) {
        const std::vector<double> roi = call.reals_in(1);
        if (roi.size() != 2 * axes.size())
            return call.invalid(std::to_string(roi.size()) + " numbers in roi for " +
                                std::to_string(axes.size()) + " axes");
        for (size_t i = 0; i < axes.size(); ++i) {
            axes[i].to.crop_begin = roi[i];
            axes[i].to.crop_end = roi[axes.size() + i];
        }
    }
    return {resized(call, x, rule, axes)};
}

// Scales are an attribute up to version 8 and an input in 9; Resize replaces the operator after
// that.
Tensors import_upsample(OnnxCall& call) {
    const Tensor x = call.in(0);
    const ResizeRule rule{.mode = interpolation(call, "nearest"),
                          .coordinates = ResizeCoordinates::kAsymmetric,
                          .rounding = ResizeRounding::kFloor};
    const std::vector<double> scales = call.has(1) ? call.reals_in(1) : call.reals("scales");
    if (has_failed(call)) return {};
    std::vector<ResizedAxis> axes;
    for (int i = 0; i < x.rank(); ++i) axes.push_back({.axis = i});
    scale_axes(call, scales, axes, x);
    if (has_failed(call)) return {};
    return {resized(call, x, rule, axes)};
}

Tensors import_grid_sample(OnnxCall& call) {
    constexpr std::pair<std::string_view, SamplePadding> kPaddings[] = {
        {"zeros", SamplePadding::kZeros},
        {"border", SamplePadding::kBorder},
        {"reflection", SamplePadding::kReflection},
    };
    const Tensor x = call.in(0), grid = call.in(1);
    const GridSampleOptions options{.mode = interpolation(call, "linear"),
                                    .padding = choice(call, "padding_mode", "zeros", kPaddings),
                                    .align_corners = call.flag("align_corners", false)};
    if (has_failed(call)) return {};
    return {grid_sample(x, grid.dtype() == x.dtype() ? grid : cast(grid, x.dtype()), options)};
}

Tensors import_affine_grid(OnnxCall& call) {
    const Tensor theta = call.in(0);
    const std::vector<Dim> size = call.extents_in(1);
    if (has_failed(call)) return {};
    std::vector<int64_t> extents;
    for (size_t i = 2; i < size.size(); ++i) {
        if (size[i].is_batch) return call.unsupported("a grid as large as there are rows");
        extents.push_back(size[i].count);
    }
    return {affine_grid(theta, extents, call.flag("align_corners", false))};
}

// The excess is cropped and the deficit zero-padded on both sides; an odd element goes to the end.
Tensors import_center_crop_pad(OnnxCall& call) {
    const Tensor x = call.in(0);
    const std::vector<Dim> wanted = call.extents_in(1);
    if (has_failed(call)) return {};
    const std::vector<int> axes = resized_axes(call, x);
    if (wanted.size() != axes.size())
        return call.invalid(std::to_string(wanted.size()) + " extents for " +
                            std::to_string(axes.size()) + " axes");
    std::vector<int64_t> low(static_cast<size_t>(x.rank()), 0), high = low;
    for (size_t i = 0; i < axes.size(); ++i) {
        const Dim from = x.dim(axes[i]), to = wanted[i];
        if (from == to) continue;
        if (from.is_batch || to.is_batch || to.count < 0 || to.count > kMostElements)
            return call.unsupported(to_string(from) + " elements to " + to_string(to));
        const auto at = static_cast<size_t>(axes[i]);
        const int64_t added = std::abs(to.count - from.count),
                      sign = to.count > from.count ? 1 : -1;
        low[at] = sign * (added / 2);
        high[at] = sign * (added - added / 2);
    }
    return {pad(x, low, high)};
}

Tensors import_roi_align(OnnxCall& call) {
    constexpr std::pair<std::string_view, bool> kModes[] = {{"avg", false}, {"max", true}};
    constexpr std::pair<std::string_view, bool> kCoordinates[] = {{"half_pixel", true},
                                                                  {"output_half_pixel", false}};
    const Tensor x = call.in(0), regions = call.in(1), images = call.in(2);
    const bool takes_max = choice(call, "mode", "avg", kModes);
    const bool half_pixel =
        choice(call, "coordinate_transformation_mode",
               call.opset < 16 ? "output_half_pixel" : "half_pixel", kCoordinates);
    if (has_failed(call)) return {};
    return {apply_one(op("roi_align"), {x, regions, images},
                      {{"height", call.integer("output_height", 1)},
                       {"width", call.integer("output_width", 1)},
                       {"sampling_ratio", call.integer("sampling_ratio", 0)},
                       {"half_pixel", int64_t{half_pixel}},
                       {"takes_max", int64_t{takes_max}},
                       {"spatial_scale", call.real("spatial_scale", 1)}})};
}

Tensors import_max_roi_pool(OnnxCall& call) {
    const Tensor x = call.in(0), regions = call.in(1);
    const std::vector<int64_t> shape = call.integers("pooled_shape");
    if (has_failed(call)) return {};
    if (shape.size() != 2) return call.invalid("pooled_shape needs two numbers");
    return {apply_one(op("max_roi_pool"), {x, regions},
                      {{"height", shape[0]},
                       {"width", shape[1]},
                       {"spatial_scale", call.real("spatial_scale", 1)}})};
}

}  // namespace hearth
