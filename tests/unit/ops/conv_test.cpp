// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/ops/evaluation.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <algorithm>

namespace hearth::test {
namespace {

using Tensors = std::span<const Tensor>;

TEST(Conv, OfOnesCountsTheTapsInside) {
    const HostTensor ones = tensor_of({1, 1, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
    const HostTensor y = value_of(
        [](Trace&, Tensors t) { return conv(t[0], t[1], {}, {.pad_begin = {1}}); }, {ones, ones});
    expect_near(y, tensor_of({1, 1, 3, 3}, {4, 6, 4, 6, 9, 6, 4, 6, 4}), 0);
}

TEST(Conv, AddsTheBiasOfEachChannel) {
    const HostTensor x = tensor_of({1, 1, 2}, {1, 2}), w = tensor_of({2, 1, 1}, {1, 10});
    const HostTensor y = value_of([](Trace&, Tensors t) { return conv(t[0], t[1], t[2]); },
                                  {x, w, tensor_of({2}, {0.5, -1})});
    expect_near(y, tensor_of({1, 2, 2}, {1.5, 2.5, 9, 19}), 0);
}

TEST(Conv, TransposedUndoesTheExtentsOfAStridedOne) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 3, 9, 8}), w = trace.input("w", {4, 3, 3, 3});
    const ConvOptions options{.strides = {2}, .pad_begin = {1}};
    const Tensor y = conv(x, w, {}, options);
    EXPECT_EQ(y.shape(), (Shape{kBatch, 4, 5, 4}));
    EXPECT_EQ(conv_transpose(y, w, {}, options, {0, 1}).shape(), x.shape());
    EXPECT_TRUE(trace.status().ok()) << trace.status().message();
}

TEST(Conv, NamesShapesThatDoNotFit) {
    const Function f = [](Trace&, Tensors t) { return conv(t[0], t[1]); };
    EXPECT_EQ(error_of(f, {{1, 3, 8}, {4, 3, 3, 3}}),
              "conv: x is [1, 3, 8], weights are [4, 3, 3, 3]: expected equal ranks of 3 to 5");
    const std::string channels = error_of(f, {{1, 3, 8, 8}, {4, 2, 3, 3}});
    EXPECT_NE(channels.find("weights [4, 2, 3, 3] do not lead from 3 to 4 channels in 1 groups"),
              std::string::npos)
        << channels;
    const std::string kernel = error_of(f, {{1, 3, 2, 2}, {4, 3, 3, 3}});
    EXPECT_NE(kernel.find("0 windows of 3 over 2 elements"), std::string::npos) << kernel;
}

TEST(Unfold, AndFoldCountHowOftenEachElementIsSeen) {
    const HostTensor x = tensor_of({1, 1, 4}, {1, 2, 3, 4});
    const HostTensor patches = value_of([](Trace&, Tensors t) { return unfold(t[0], {3}); }, {x});
    expect_near(patches, tensor_of({1, 3, 2}, {1, 2, 2, 3, 3, 4}), 0);
    const HostTensor sums =
        value_of([](Trace&, Tensors t) { return fold(t[0], {4}, {3}); }, {patches});
    expect_near(sums, tensor_of({1, 1, 4}, {1, 4, 6, 4}), 0);
}

TEST(AvgPool, CountsPaddingOnlyIfAsked) {
    const HostTensor x = tensor_of({1, 1, 2}, {6, 12});
    const auto pooled = [&](bool include) {
        return value_of(
            [include](Trace&, Tensors t) {
                return avg_pool(t[0], {3},
                                {.strides = {1}, .pad_begin = {1}, .count_include_pad = include});
            },
            {x});
    };
    expect_near(pooled(true), tensor_of({1, 1, 2}, {6, 6}), 1e-6);
    expect_near(pooled(false), tensor_of({1, 1, 2}, {9, 9}), 1e-6);
}

TEST(AvgPool, LastWindowOfCeilModeDividesByWhatThePaddedTensorHolds) {
    const HostTensor x = tensor_of({1, 1, 5}, {1, 2, 3, 4, 5});
    const HostTensor y =
        value_of([](Trace&, Tensors t) { return avg_pool(t[0], {2}, {.ceil_mode = true}); }, {x});
    expect_near(y, tensor_of({1, 1, 3}, {1.5, 3.5, 5}), 1e-6);
}

TEST(MaxPool, PropagatesNaNAndIgnoresPadding) {
    const HostTensor x = tensor_of({1, 1, 4}, {-3, -1, std::nan(""), -2});
    const HostTensor y =
        value_of([](Trace&, Tensors t) { return max_pool(t[0], {2}, {.pad_begin = {1}}); }, {x});
    ASSERT_EQ(y.shape(), (Shape{1, 1, 3}));
    EXPECT_EQ(y.get(0), -3);
    EXPECT_TRUE(std::isnan(y.get(1)));
    EXPECT_EQ(y.get(2), -2);
}

TEST(MaxUnpool, PutsMaximaBackWhereTheyWere) {
    const HostTensor x = tensor_of({1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 8, 7});
    const HostTensor y = value_of(
        [](Trace&, Tensors t) {
            return max_unpool(max_pool(t[0], {2}), max_pool_indices(t[0], {2}), {2, 4});
        },
        {x});
    expect_near(y, tensor_of({1, 1, 2, 4}, {0, 5, 0, 0, 0, 0, 8, 0}), 0);
}

// Window i holds the elements from floor(i n / m) up to ceil((i + 1) n / m).
TEST(AdaptivePool, StretchesMayOverlapAndDiffer) {
    const HostTensor x = tensor_of({1, 1, 5}, {1, 2, 4, 8, 16});
    const auto pooled = [&](Tensor (*pool)(const Tensor&, const std::vector<int64_t>&)) {
        return value_of([pool](Trace&, Tensors t) { return pool(t[0], {3}); }, {x});
    };
    expect_near(pooled(adaptive_avg_pool), tensor_of({1, 1, 3}, {1.5, 14.0 / 3, 12}), 1e-6);
    expect_near(pooled(adaptive_max_pool), tensor_of({1, 1, 3}, {2, 8, 16}), 0);
}

TEST(LpPool, OfZerosIsZeroWithoutNaN) {
    const HostTensor x = tensor_of({1, 1, 4}, {0, 0, 3, -4});
    for (double p : {1.0, 2.0, 3.0}) {
        const HostTensor y =
            value_of([p](Trace&, Tensors t) { return lp_pool(t[0], p, {2}); }, {x});
        EXPECT_EQ(y.get(0), 0);
        EXPECT_NEAR(y.get(1), std::pow(std::pow(3, p) + std::pow(4, p), 1 / p), 1e-5);
    }
}

TEST(ConvLayers, DeclareWeightsAsPyTorchDoes) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 4, 8, 6});
    const Tensor y =
        nn::conv2d(trace, "down", x, 6, {3}, {.window = {.strides = {2}, .groups = 2}});
    const Tensor z = nn::conv_transpose2d(trace, "up", y, 4, {3, 2},
                                          {.window = {.strides = {2}}, .output_padding = {1, 0}});
    EXPECT_EQ(y.shape(), (Shape{kBatch, 6, 3, 2}));
    EXPECT_EQ(z.shape(), (Shape{kBatch, 4, 8, 4}));
    const Graph& graph = trace.graph();
    EXPECT_EQ(graph.value(graph.find("down.weight")).shape, (Shape{6, 2, 3, 3}));
    EXPECT_EQ(graph.value(graph.find("up.weight")).shape, (Shape{6, 4, 3, 2}));
    EXPECT_EQ(graph.value(graph.find("up.bias")).shape, (Shape{4}));
}

TEST(ConvLayers, RefuseOtherRanks) {
    EXPECT_EQ(error_of([](Trace& trace, Tensors t) { return nn::conv1d(trace, "c", t[0], 4, {3}); },
                       {{1, 3, 8, 8}}),
              "conv1d 'c' on [1, 3, 8, 8]: expected 1 axes behind batch and channels");
}

TEST(ConvLayers, PoolsAreModules) {
    Trace trace("t");
    const nn::Sequential net{nn::layer(nn::conv2d, 8, std::vector<int64_t>{3},
                                       nn::ConvLayerOptions{.window = {.pad_begin = {1}}}),
                             relu,
                             nn::max_pool({2}),
                             nn::avg_pool({2}),
                             nn::adaptive_max_pool({1, 1}),
                             nn::flatten_channels};
    EXPECT_EQ(net(trace, "net", trace.input("x", {kBatch, 3, 8, 8})).shape(), (Shape{kBatch, 8}));
    EXPECT_TRUE(trace.status().ok()) << trace.status().message();
}

}  // namespace
}  // namespace hearth::test
