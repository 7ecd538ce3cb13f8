// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "mlp.hpp"

#include "data.hpp"
#include "network.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::perf {

std::unique_ptr<Trace> trace_mlp(bool is_training) {
    auto trace = std::make_unique<Trace>(is_training ? "train" : "infer");
    const Shape shape{kRows, kMlpWidth};
    const Tensor x = trace->input("x", shape);
    const Tensor y =
        nn::mlp(*trace, "net", x, {kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth}, relu);
    if (!is_training) {
        trace->output("y", y);
        return trace;
    }
    const Tensor loss = mse_loss(y, trace->input("target", shape));
    minimize(loss, trace->params(), AdamOptions{});
    trace->output("loss", loss);
    return trace;
}

namespace {

constexpr int64_t kPatternRows = 32;
// Sums over 65,536 rows in f32, in another order than the reference's: about 1e-5 of the gradient.
constexpr double kTolerance = 1e-3;
constexpr int kCheckedSteps = 2;

void set_costs(Row& row, int64_t rows, bool is_training) {
    constexpr double kParams = kMlpLayers * (kMlpWidth * kMlpWidth + kMlpWidth);
    const double rows_bytes = static_cast<double>(rows * kMlpWidth) * sizeof(float);
    // Training: each product three times, but no gradient of the input.
    const int products = is_training ? 3 * kMlpLayers - 1 : kMlpLayers;
    row.flops = 2.0 * static_cast<double>(rows * kMlpWidth * kMlpWidth) * products;
    // x, and y or target; weights once, or weights and two moments read and written.
    row.bytes = 2 * rows_bytes + kParams * sizeof(float) * (is_training ? 6 : 1);
}

template <int64_t kRowCount, bool kIsTraining>
Status run_mlp(Bench& bench, Row& row) {
    set_costs(row, kRowCount, kIsTraining);
    const Shape pattern{kPatternRows, kMlpWidth};
    NetworkRun network{.trace = trace_mlp(kIsTraining),
                       .inputs = {{"x", random_tensor("x", pattern)}},
                       .rows = kRowCount,
                       .pattern_rows = kPatternRows,
                       .trained_steps = kIsTraining ? kCheckedSteps : 0,
                       .tolerance = kTolerance};
    if (kIsTraining) network.inputs.emplace("target", random_tensor("target", pattern));
    return run_network(bench, row, network);
}

constexpr Scene kScenes[] = {
    {"mlp_infer_b256_f32", "five 64x64 layers, 256 rows", run_mlp<256, false>},
    {"mlp_infer_b65536_f32", "the same, 65,536 rows", run_mlp<65536, false>},
    {"mlp_train_b256_f32", "forward, mse, backward and Adam, 256 rows", run_mlp<256, true>},
    {"mlp_train_b65536_f32", "the same, 65,536 rows", run_mlp<65536, true>},
};

}  // namespace

std::span<const Scene> mlp_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
