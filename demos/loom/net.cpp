// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines the cloth's network: hash grid, MLP and loss.

#include "net.hpp"

#include "size.hpp"

#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <vector>

namespace hearth::loom {
namespace {

// Six levels of 4 to 64 cells, with an entry per corner.
constexpr nn::HashGridOptions kGrid{.levels = 6,
                                    .features = 2,
                                    .log2_entries = 14,
                                    .base_resolution = 4,
                                    .growth = 1.7411,
                                    .init_range = 0.1,
                                    .seed = 1};
constexpr double kLearningRate = 1.5e-2;

Tensor colour_at(Trace& trace, const Tensor& place) {
    const Tensor features = nn::hash_grid(trace, "grid", place, kGrid);
    return nn::mlp(trace, "net", features, {32, 32, 3}, relu, {.seed = 2});
}

/// Error of the cloth at the texels with these indices.
Tensor error_at(Trace& trace) {
    const Tensor picture = trace.input("picture", {kTexels, 3});
    const Tensor texel = trace.input("texel", {kBatch}, DType::kI32);
    const Tensor column = bitwise_and(texel, trace.constant(kPictureSize - 1, DType::kI32));
    const auto size = static_cast<double>(kPictureSize);
    const Tensor u = (cast(column, DType::kF32) + 0.5) / size;
    const Tensor v = (cast(texel - column, DType::kF32) / size + 0.5) / size;
    const Tensor place = stack(std::vector<Tensor>{u, v}, -1);
    return mse_loss(colour_at(trace, place), take(picture, texel));
}

}  // namespace

LoomTraces trace_loom() {
    LoomTraces traces{std::make_unique<Trace>("learn"), std::make_unique<Trace>("judge"),
                      std::make_unique<Trace>("shade")};
    const Tensor loss = error_at(*traces.learn);
    traces.learn->output("loss", loss);
    const std::vector<Tensor> params = traces.learn->params();
    minimize(loss, params, AdamOptions{.learning_rate = kLearningRate});
    traces.judge->output("loss", error_at(*traces.judge));
    Trace& shade = *traces.shade;
    shade.output("colour", colour_at(shade, shade.input("place", {kBatch, 2})));
    return traces;
}

CompileOptions loom_options(bool for_cpu) {
    CompileOptions options{.max_batch_size = kBatchSize};
    if (for_cpu) options.caps.device_type = DeviceType::kCpu;
    return options;
}

}  // namespace hearth::loom
