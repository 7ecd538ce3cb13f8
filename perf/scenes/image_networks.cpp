// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks that classify one image, with torchvision's architectures and random weights. Batch
// norms are folded into the preceding convolutions, as an importer does.

#include "data.hpp"
#include "network.hpp"

#include <hearth/ops.hpp>

#include <cmath>
#include <string>

namespace hearth::perf {

namespace {

constexpr int64_t kClasses = 1000;

struct ConvShape {
    int64_t channels = 1, kernel = 1, stride = 1, padding = 0, groups = 1;
};

/// Traces layers with new weights and accumulates their costs.
class NetworkBuilder {
  public:
    NetworkBuilder(Trace& trace, Row& row, DType dtype) : trace_(trace), row_(row), dtype_(dtype) {}

    /// Convolution and bias. The weights preserve the magnitude of activations.
    Tensor conv(const Tensor& x, const ConvShape& c) {
        const int64_t each = x.dim(1).count / c.groups;
        const Tensor y = hearth::conv(
            x, weight({c.channels, each, c.kernel, c.kernel}, each * c.kernel * c.kernel),
            bias(c.channels),
            {.strides = {c.stride},
             .pad_begin = {c.padding},
             .pad_end = {c.padding},
             .groups = c.groups});
        add_products(y.shape().element_count().count * each * c.kernel * c.kernel);
        return y;
    }

    Tensor linear(const Tensor& x, int64_t features) {
        const int64_t from = x.dim(-1).count;
        add_products(x.dim(0).count * from * features);
        return hearth::linear(x, weight({features, from}, from), bias(features));
    }

    void add_bytes(const Tensor& x) {
        row_.bytes += static_cast<double>(x.shape().element_count().count) * size_bytes(x.dtype());
    }

  private:
    Tensor param(const Shape& shape, double bound) {
        const Tensor p = trace_.param("param" + std::to_string(count_++), shape,
                                      Init::uniform(-bound, bound), dtype_);
        add_bytes(p);
        return p;
    }
    // He et al., 2015: variance 2 / fan in.
    Tensor weight(const Shape& shape, int64_t fan_in) {
        return param(shape, std::sqrt(6.0 / static_cast<double>(fan_in)));
    }
    Tensor bias(int64_t channels) { return param({channels}, 0.1); }
    void add_products(int64_t count) { row_.flops += 2 * static_cast<double>(count); }

    Trace& trace_;
    Row& row_;
    DType dtype_;
    int count_ = 0;
};

Tensor relu6(const Tensor& x) {
    return clamp(x, 0, 6);
}

Tensor pooled(const Tensor& x) {
    return mean(x, {2, 3});
}

/// Sandler et al., "MobileNetV2", 2018, table 2.
Tensor mobilenet_v2(NetworkBuilder& net, const Tensor& image) {
    struct Stage {
        int64_t expansion, channels, blocks, stride;
    };
    constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    Tensor x = relu6(net.conv(image, {.channels = 32, .kernel = 3, .stride = 2, .padding = 1}));
    for (const Stage& stage : kStages) {
        for (int64_t i = 0; i < stage.blocks; ++i) {
            const int64_t from = x.dim(1).count, wide = from * stage.expansion;
            const int64_t stride = i == 0 ? stage.stride : 1;
            Tensor y = stage.expansion == 1 ? x : relu6(net.conv(x, {.channels = wide}));
            y = relu6(net.conv(
                y,
                {.channels = wide, .kernel = 3, .stride = stride, .padding = 1, .groups = wide}));
            y = net.conv(y, {.channels = stage.channels});
            x = stride == 1 && from == stage.channels ? x + y : y;
        }
    }
    return net.linear(pooled(relu6(net.conv(x, {.channels = 1280}))), kClasses);
}

/// He et al., "Deep Residual Learning for Image Recognition", 2016, table 1.
Tensor resnet18(NetworkBuilder& net, const Tensor& image) {
    Tensor x = relu(net.conv(image, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3}));
    x = max_pool(x, {3}, {.strides = {2}, .pad_begin = {1}});
    for (const int64_t channels : {64, 128, 256, 512}) {
        for (int block = 0; block < 2; ++block) {
            const bool narrows = block == 0 && channels != 64;
            const int64_t stride = narrows ? 2 : 1;
            Tensor y = relu(
                net.conv(x, {.channels = channels, .kernel = 3, .stride = stride, .padding = 1}));
            y = net.conv(y, {.channels = channels, .kernel = 3, .padding = 1});
            x = relu(y + (narrows ? net.conv(x, {.channels = channels, .stride = stride}) : x));
        }
    }
    return net.linear(pooled(x), kClasses);
}

/// Iandola et al., "SqueezeNet", 2016; version 1.1.
Tensor squeezenet(NetworkBuilder& net, const Tensor& image) {
    const auto fire = [&](const Tensor& x, int64_t narrow, int64_t wide) {
        const Tensor y = relu(net.conv(x, {.channels = narrow}));
        return concat({relu(net.conv(y, {.channels = wide})),
                       relu(net.conv(y, {.channels = wide, .kernel = 3, .padding = 1}))},
                      1);
    };
    const auto pool = [](const Tensor& x) {
        return max_pool(x, {3}, {.strides = {2}, .ceil_mode = true});
    };
    Tensor x = pool(relu(net.conv(image, {.channels = 64, .kernel = 3, .stride = 2})));
    x = pool(fire(fire(x, 16, 64), 16, 64));
    x = pool(fire(fire(x, 32, 128), 32, 128));
    x = fire(fire(x, 48, 192), 48, 192);
    x = fire(fire(x, 64, 256), 64, 256);
    return pooled(relu(net.conv(x, {.channels = kClasses})));
}

// Rounding of sums of some hundred products, times the depth; f16 keeps 11 bits per result.
constexpr double kTolerance = 1e-4, kToleranceF16 = 2e-2;

template <Tensor (*network)(NetworkBuilder&, const Tensor&), int64_t kSize, DType kType>
NetworkRun image_network(Row& row) {
    NetworkRun run{.trace = std::make_unique<Trace>("classify"),
                   .tolerance = kType == DType::kF16 ? kToleranceF16 : kTolerance};
    row.operands = kType;
    const Shape shape{1, 3, kSize, kSize};
    NetworkBuilder net(*run.trace, row, kType);
    const Tensor image = run.trace->input("image", shape, kType);
    const Tensor logits = network(net, image);
    run.trace->output("logits", logits);
    net.add_bytes(image);
    net.add_bytes(logits);
    run.inputs = {{"image", random_tensor("image", shape).cast(kType)}};
    return run;
}

template <Tensor (*network)(NetworkBuilder&, const Tensor&), int64_t kSize, DType kType>
Status run_image(Bench& bench, Row& row) {
    return run_network(bench, row, image_network<network, kSize, kType>(row));
}

constexpr Scene kScenes[] = {
    {"mobilenet_v2_b1_f32", "MobileNetV2, one image of 224 x 224",
     run_image<mobilenet_v2, 224, DType::kF32>},
    {"mobilenet_v2_b1_f16", "the same, f16", run_image<mobilenet_v2, 224, DType::kF16>},
    {"mobilenet_v2_small", "the same, 64 x 64, f32", run_image<mobilenet_v2, 64, DType::kF32>},
    {"resnet18_b1_f32", "ResNet-18, one image of 224 x 224", run_image<resnet18, 224, DType::kF32>},
    {"resnet18_b1_f16", "the same, f16", run_image<resnet18, 224, DType::kF16>},
    {"resnet18_small", "the same, 64 x 64, f32", run_image<resnet18, 64, DType::kF32>},
    {"squeezenet_b1_f32", "SqueezeNet 1.1, one image of 224 x 224",
     run_image<squeezenet, 224, DType::kF32>},
    {"squeezenet_b1_f16", "the same, f16", run_image<squeezenet, 224, DType::kF16>},
    {"squeezenet_small", "the same, 64 x 64, f32", run_image<squeezenet, 64, DType::kF32>},
};

}  // namespace

NetworkRun mobilenet_v2_network(Row& row) {
    return image_network<mobilenet_v2, 224, DType::kF32>(row);
}

NetworkRun squeezenet_network(Row& row) {
    return image_network<squeezenet, 224, DType::kF32>(row);
}

std::span<const Scene> image_network_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
