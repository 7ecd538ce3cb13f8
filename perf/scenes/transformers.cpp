// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small decoder: pre-norm blocks of causal self-attention and two linear layers.

#include "data.hpp"
#include "network.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::perf {

namespace {

struct GptShape {
    int64_t width, tokens, heads;
    int blocks;
};
constexpr GptShape kGpt6{256, 128, 8, 6};
constexpr GptShape kGpt6Small{64, 32, 4, 6};

constexpr double kTolerance = 1e-4, kToleranceF16 = 1e-2;
// Moments depend on gradients, which are sums over tokens in another order than the reference's.
constexpr double kTrainingTolerance = 1e-3;

void set_costs(Row& row, const GptShape& g, DType dtype, bool is_training) {
    const auto width = static_cast<double>(g.width), tokens = static_cast<double>(g.tokens);
    const double weights = 12 * width * width, others = 13 * width;  // of a block
    // Attention scores and weighted sums: each query attends to half of the tokens on average.
    const double products = tokens * weights + tokens * tokens * width;
    row.operands = dtype;
    row.flops = 2 * products * g.blocks * (is_training ? 3 : 1);
    row.bytes = ((weights + others) * g.blocks * (is_training ? 6 : 1) + 2 * tokens * width) *
                static_cast<double>(size_bytes(dtype));
}

/// x -> y; or for training (x, target) -> loss, with a step of Adam on the mean squared error.
std::unique_ptr<Trace> trace_gpt(const GptShape& g, DType dtype, bool is_training) {
    auto trace = std::make_unique<Trace>(is_training ? "train" : "infer");
    const Shape shape{1, g.tokens, g.width};
    const Tensor y =
        nn::transformer_encoder(*trace, "gpt", trace->input("x", shape, dtype), g.blocks,
                                {.num_heads = g.heads,
                                 .dim_feedforward = 4 * g.width,
                                 .causal = true,
                                 .norm_first = true,
                                 .activation = gelu_tanh});
    if (!is_training) {
        trace->output("y", y);
        return trace;
    }
    const Tensor loss = mse_loss(y, trace->input("target", shape, dtype));
    // A bias of keys does not change softmax: its gradient is only rounding, and must stay small.
    minimize(loss, trace->params(), AdamOptions{.epsilon = 1e-4});
    trace->output("loss", loss);
    return trace;
}

template <const GptShape& kShape, DType kType, bool kIsTraining>
Status run_gpt(Bench& bench, Row& row) {
    set_costs(row, kShape, kType, kIsTraining);
    const Shape shape{1, kShape.tokens, kShape.width};
    NetworkRun run{.trace = trace_gpt(kShape, kType, kIsTraining),
                   .inputs = {{"x", random_tensor("x", shape).cast(kType)}},
                   .trained_steps = kIsTraining ? 1 : 0,
                   .tolerance = kIsTraining            ? kTrainingTolerance
                                : kType == DType::kF16 ? kToleranceF16
                                                       : kTolerance};
    if (kIsTraining) run.inputs.emplace("target", random_tensor("target", shape).cast(kType));
    return run_network(bench, row, run);
}

constexpr Scene kScenes[] = {
    {"gpt6_d256_t128_f32", "six blocks of width 256, 128 tokens, 8 heads",
     run_gpt<kGpt6, DType::kF32, false>},
    {"gpt6_d256_t128_f16", "the same, f16", run_gpt<kGpt6, DType::kF16, false>},
    {"gpt6_small", "six blocks of width 64, 32 tokens, 4 heads, f32",
     run_gpt<kGpt6Small, DType::kF32, false>},
    {"gpt6_train_f32", "gpt6_d256_t128_f32, forward, mse, backward and Adam",
     run_gpt<kGpt6, DType::kF32, true>},
    {"gpt6_train_small", "the same for gpt6_small", run_gpt<kGpt6Small, DType::kF32, true>},
};

}  // namespace

std::span<const Scene> transformer_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
