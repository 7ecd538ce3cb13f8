// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A training step of the digits demo: a small convolutional network with batch norm, cross-entropy,
// Adam.

#include "digits.hpp"

#include "data.hpp"
#include "network.hpp"

#include <hearth/loss.hpp>
#include <hearth/optim.hpp>

namespace hearth::perf {

namespace {

constexpr int64_t kBatchSize = 32;
// Multiply-adds per image: 3x3 windows of 1 to 16 channels on 8x8 pixels and of 16 to 32 on 4x4,
// and 128 to 64 to 10 features.
constexpr int64_t kProducts = 8 * 8 * 16 * 9 * 1 + 4 * 4 * 32 * 9 * 16 + 128 * 64 + 64 * 10;

}  // namespace

NetworkRun digits_train_network(Row& row) {
    NetworkRun run{.trace = std::make_unique<Trace>("learn"),
                   .rows = kBatchSize,
                   .pattern_rows = kBatchSize,
                   .trained_steps = 2,
                   .tolerance = 1e-2,  // Adam amplifies the rounding of small gradients
                   // The bias before the batch norm has only a rounding error as gradient.
                   .least_norm = 1e-4};
    Trace& trace = *run.trace;
    const Tensor image = trace.input("image", {kBatch, 1, 8, 8});
    const Tensor scores = demo::digits_net(trace, image, /*training=*/true, /*seed=*/1);
    const Tensor loss = cross_entropy(scores, trace.input("digit", {kBatch}, DType::kI32));
    minimize(loss, trace.params(), AdamOptions{});
    trace.output("loss", loss);

    HostTensor digits(DType::kI32, {kBatchSize});
    for (int64_t i = 0; i < kBatchSize; ++i) digits.set(i, static_cast<double>(i % 10));
    run.inputs = {{"image", random_tensor("image", {kBatchSize, 1, 8, 8})}, {"digit", digits}};
    row.flops = 3.0 * 2.0 * kBatchSize * kProducts;  // forward, and twice backward
    row.bytes = sizeof(float) * kBatchSize * 64;
    return run;
}

namespace {

Status run_digits_train(Bench& bench, Row& row) {
    return run_network(bench, row, digits_train_network(row));
}

constexpr Scene kScenes[] = {
    {"digits_train_b32", "a step of the digits demo's training, 32 images of 8 x 8",
     run_digits_train},
};

}  // namespace

std::span<const Scene> digits_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
