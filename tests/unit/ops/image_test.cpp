// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/ops/op_table.hpp"
#include "unit/ops/evaluation.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

namespace hearth::test {
namespace {

using Tensors = std::span<const Tensor>;

TEST(Interpolate, ToItsOwnExtentsIsTheSame) {
    const HostTensor x = random_tensor({2, 3, 4, 5}, 1);
    for (Interpolation mode :
         {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kCubic}) {
        expect_near(value_of(
                        [mode](Trace&, Tensors t) {
                            return interpolate(t[0], {4, 5}, {.mode = mode});
                        },
                        {x}),
                    x, 0);
    }
}

TEST(Interpolate, AlignedCornersKeepTheirPlaces) {
    const HostTensor y =
        value_of([](Trace&, Tensors t) { return interpolate(t[0], {5}, {.align_corners = true}); },
                 {tensor_of({1, 1, 3}, {1, 3, 7})});
    expect_near(y, tensor_of({1, 1, 5}, {1, 2, 3, 5, 7}), 1e-6);
}

TEST(Interpolate, WithAntialiasEveryElementCounts) {
    const HostTensor y =
        value_of([](Trace&, Tensors t) { return interpolate(t[0], {1}, {.antialias = true}); },
                 {tensor_of({1, 1, 4}, {1, 0, 0, 0})});
    // The triangle of half-width 4 around 1.5, at 0: 0.625 of a total of 0.625 + 0.875 + ...
    expect_near(y, tensor_of({1, 1, 1}, {0.625 / 3}), 1e-6);
}

TEST(Pad, ModesReadWhereTheySay) {
    const auto padded = [](PadMode mode) {
        return value_of([mode](Trace&, Tensors t) { return pad(t[0], {2}, {1}, mode); },
                        {tensor_of({3}, {1, 2, 3})});
    };
    expect_near(padded(PadMode::kReflect), tensor_of({6}, {3, 2, 1, 2, 3, 2}), 0);
    expect_near(padded(PadMode::kReplicate), tensor_of({6}, {1, 1, 1, 2, 3, 3}), 0);
    expect_near(padded(PadMode::kCircular), tensor_of({6}, {2, 3, 1, 2, 3, 1}), 0);
    expect_near(padded(PadMode::kConstant), tensor_of({6}, {0, 0, 1, 2, 3, 0}), 0);
}

TEST(Pad, OfInfinitiesAddsNoNaN) {
    const HostTensor y =
        value_of([](Trace&, Tensors t) { return pad(t[0], {1}, {0}, PadMode::kReplicate); },
                 {tensor_of({2}, {HUGE_VAL, -HUGE_VAL})});
    EXPECT_EQ(y.get(0), HUGE_VAL);
    EXPECT_EQ(y.get(2), -HUGE_VAL);
}

TEST(GridSample, OfTheIdentityGridIsTheImage) {
    const HostTensor x = random_tensor({1, 2, 4, 3}, 2);
    const HostTensor theta = tensor_of({1, 2, 3}, {1, 0, 0, 0, 1, 0});
    for (bool align : {false, true}) {
        for (Interpolation mode :
             {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kCubic}) {
            expect_near(value_of(
                            [=](Trace&, Tensors t) {
                                return grid_sample(t[0], affine_grid(t[1], {4, 3}, align),
                                                   {.mode = mode, .align_corners = align});
                            },
                            {x, theta}),
                        x, 1e-5);
        }
    }
}

TEST(GridSample, PaddingDecidesWhatLiesOutside) {
    const HostTensor x = tensor_of({1, 1, 3}, {1, 2, 4});
    const HostTensor grid = tensor_of({1, 2, 1}, {2, -2});  // elements 3 and -1
    const auto sampled = [&](SamplePadding padding) {
        return value_of(
            [padding](Trace&, Tensors t) {
                return grid_sample(t[0], t[1], {.padding = padding, .align_corners = true});
            },
            {x, grid});
    };
    expect_near(sampled(SamplePadding::kZeros), tensor_of({1, 1, 2}, {0, 0}), 1e-6);
    expect_near(sampled(SamplePadding::kBorder), tensor_of({1, 1, 2}, {4, 1}), 1e-6);
    expect_near(sampled(SamplePadding::kReflection), tensor_of({1, 1, 2}, {2, 2}), 1e-6);
}

TEST(GridSample, OfNoNumbersAndInfinitiesStaysInBounds) {
    const HostTensor grid = tensor_of({1, 4, 1}, {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e30});
    for (SamplePadding padding :
         {SamplePadding::kZeros, SamplePadding::kBorder, SamplePadding::kReflection}) {
        const HostTensor y = value_of(
            [padding](Trace&, Tensors t) { return grid_sample(t[0], t[1], {.padding = padding}); },
            {tensor_of({1, 1, 3}, {1, 2, 4}), grid});
        for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(y.get(i) >= 0 && y.get(i) <= 4) << y.get(i);
    }
}

TEST(PixelShuffle, AndItsInverseLeaveTheImage) {
    const HostTensor x = random_tensor({1, 8, 2, 3}, 3);
    Trace trace("t");
    EXPECT_EQ(pixel_shuffle(trace.input("x", {kBatch, 8, 2, 3}), 2).shape(),
              (Shape{kBatch, 2, 4, 6}));
    expect_near(
        value_of([](Trace&, Tensors t) { return pixel_unshuffle(pixel_shuffle(t[0], 2), 2); }, {x}),
        x, 0);
}

TEST(DeformConv, WithoutOffsetsIsAConvolution) {
    const ConvOptions options{.strides = {2, 1}, .pad_begin = {1, 0}, .groups = 2};
    const HostTensor x = random_tensor({2, 4, 5, 4}, 4), w = random_tensor({6, 2, 3, 2}, 5);
    const HostTensor expected =
        value_of([&](Trace&, Tensors t) { return conv(t[0], t[1], {}, options); }, {x, w});
    const Shape places{2, 2 * 6 * 2, expected.shape()[2], expected.shape()[3]};
    const HostTensor found = value_of(
        [&](Trace&, Tensors t) { return deform_conv(t[0], t[1], t[2], {}, {}, options, 2); },
        {x, w, HostTensor(DType::kF32, places)});
    expect_near(found, expected, 1e-5);
}

TEST(DeformConv, WholeOffsetsMoveTapsAndMasksScaleThem) {
    // One tap, moved one column to the right, halved.
    const HostTensor y = value_of(
        [](Trace&, Tensors t) { return deform_conv(t[0], t[1], t[2], t[3], {}); },
        {tensor_of({1, 1, 1, 3}, {1, 2, 4}), tensor_of({1, 1, 1, 1}, {1}),
         tensor_of({1, 2, 1, 3}, {0, 0, 0, 1, 1, 1}), tensor_of({1, 1, 1, 3}, {0.5, 0.5, 0.5})});
    expect_near(y, tensor_of({1, 1, 1, 3}, {1, 2, 0}), 1e-6);
}

TEST(ImageFunctions, NameWhatDoesNotFit) {
    EXPECT_EQ(error_of(
                  [](Trace&, Tensors t) {
                      return interpolate(t[0], {4, 4});
                  },
                  {{3, 4}}),
              "interpolate: x is [3, 4], expected [N, C, and 1 to 3 fixed, positive extents]");
    EXPECT_EQ(error_of([](Trace&, Tensors t) { return pixel_shuffle(t[0], 2); }, {{1, 6, 2, 2}}),
              "pixel_shuffle: [1, 6, 2, 2] by 2");
    EXPECT_EQ(error_of([](Trace&, Tensors t) { return grid_sample(t[0], t[1]); },
                       {{1, 2, 4, 4}, {1, 3, 3, 3}}),
              "grid_sample: the grid is [1, 3, 3, 3], expected [1, places..., 2]");
}

/// Checks the gradient of `op` by its first operand, a tensor of `shape`; what follows the regions
/// is the number of each one's image.
void check_region_gradient(std::string_view op_name, const Shape& shape, const HostTensor& regions,
                           bool takes_images, const Attrs& attrs) {
    const auto f = [&](Trace& trace, Tensors x) -> std::vector<Tensor> {
        std::vector<Tensor> inputs{x[0], trace.constant(regions.cast(DType::kF64))};
        if (takes_images) {
            HostTensor images(DType::kI64, {regions.shape()[0]});
            for (int64_t i = 0; i < images.element_count(); ++i) images.set_int(i, i % 2);
            inputs.push_back(trace.constant(std::move(images)));
        }
        return apply(op(op_name), inputs, attrs);
    };
    const TensorType type{DType::kF64, shape};
    const HostTensor x = random_tensor(shape, 3);
    const Status status = gradcheck(f, std::span(&type, 1), std::span(&x, 1));
    EXPECT_TRUE(status.ok()) << op_name << ": " << status.message();
}

TEST(RegionGradients, EqualFiniteDifferences) {
    // Within, partly outside, empty, and wider than the image; overlapping.
    const HostTensor regions = tensor_of(
        {5, 4}, {0.5, 1.2, 3.7, 4.1, -2, -1, 1.5, 2.5, 1, 1, 1, 1, -9, -9, 20, 20, 1, 1, 3, 3});
    for (const int64_t ratio : {0, 2}) {
        for (const int64_t half_pixel : {0, 1}) {
            Attrs attrs{{"height", int64_t{2}},
                        {"width", int64_t{3}},
                        {"sampling_ratio", ratio},
                        {"half_pixel", half_pixel},
                        {"spatial_scale", 0.75}};
            check_region_gradient("roi_align", {2, 2, 5, 4}, regions, true, attrs);
            attrs.set("shape", Shape{2, 2, 5, 4});
            check_region_gradient("roi_align_spread", {5, 2, 2, 3}, regions, true, attrs);
        }
    }
    const HostTensor numbered = tensor_of(
        {4, 5}, {0, 0.5, 1.2, 3.7, 4.1, 1, -2, -1, 1.5, 2.5, 1, 30, 30, 40, 40, 0, 1, 1, 3, 3});
    check_region_gradient("max_roi_pool", {2, 3, 5, 4}, numbered, false,
                          {{"height", int64_t{2}}, {"width", int64_t{3}}, {"spatial_scale", 0.75}});
}

TEST(RegionGradients, OfTheMaximumOfSamplesAreRefused) {
    Trace trace("t");
    const Tensor x = trace.input("x", {1, 1, 4, 4}), regions = trace.input("r", {2, 4});
    const Tensor y =
        apply_one(op("roi_align"), {x, regions, trace.input("i", {2}, DType::kI64)},
                  {{"height", int64_t{1}}, {"width", int64_t{1}}, {"takes_max", int64_t{1}}});
    grad(sum(y), x);
    EXPECT_NE(trace.status().message().find("no gradient of the maximum"), std::string::npos)
        << trace.status().message();
}

}  // namespace
}  // namespace hearth::test
