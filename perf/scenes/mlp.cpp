// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Inference and training of the small MLP at several batch sizes.

#include "mlp.hpp"

#include "data.hpp"
#include "network.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::perf {

namespace {

/// One row of the table.
struct Case {
    int64_t rows;
    bool is_training;
    /// f16: inputs, targets and outputs are f16 and products read f16; parameters stay f32.
    DType dtype = DType::kF32;
    bool has_biases = true;
};

/// Loss scale that makes gradients of a mean over many rows representable in f16; a power of two,
/// so that it is exact. Adam gets unscaled gradients.
constexpr double kLossScale = 1048576;

std::unique_ptr<Trace> trace_case(const Case& c) {
    auto trace = std::make_unique<Trace>(c.is_training ? "train" : "infer");
    const Shape shape{kBatch, kMlpWidth};
    const bool is_half = c.dtype == DType::kF16;
    const auto input = [&](const char* name) {
        const Tensor x = trace->input(name, shape, c.dtype);
        return is_half ? cast(x, DType::kF32) : x;
    };
    const Tensor y =
        nn::mlp(*trace, "net", input("x"), {kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth, kMlpWidth},
                relu, {.bias = c.has_biases});
    if (!c.is_training) {
        trace->output("y", is_half ? cast(y, DType::kF16) : y);
        return trace;
    }
    const Tensor loss = mse_loss(y, input("target"));
    trace->output("loss", loss);
    const std::vector<Tensor> params = trace->params();
    if (!is_half) {
        minimize(loss, params, AdamOptions{});
        return trace;
    }
    std::vector<Tensor> gradients = grad(loss * kLossScale, params);
    for (Tensor& g : gradients) g = g * (1 / kLossScale);
    adam(params, gradients, AdamOptions{});
    return trace;
}

constexpr int64_t kPatternRows = 32;
// Sums over 65,536 rows in f32, in another order than the reference's: about 1e-5 of the gradient.
constexpr double kTolerance = 1e-3;
// f16 has 11 bits; the moments contain gradients rounded by five layers, and their squares.
constexpr double kToleranceF16 = 5e-3, kTrainingToleranceF16 = 4e-2;
constexpr int kCheckedSteps = 2;

void set_costs(Row& row, const Case& c) {
    row.operands = c.dtype;
    const double params = kMlpLayers * (kMlpWidth * kMlpWidth + (c.has_biases ? kMlpWidth : 0));
    const double rows_bytes = static_cast<double>(c.rows * kMlpWidth) * size_bytes(c.dtype);
    // Training: three products per layer, except for the gradient of the input.
    const int products = c.is_training ? 3 * kMlpLayers - 1 : kMlpLayers;
    row.flops = 2.0 * static_cast<double>(c.rows * kMlpWidth * kMlpWidth) * products;
    // x, and y or target; weights once, or weights and two moments read and written.
    row.bytes = 2 * rows_bytes + params * sizeof(float) * (c.is_training ? 6 : 1);
}

NetworkRun network_of(const Case& c, Row& row) {
    set_costs(row, c);
    const Shape pattern{kPatternRows, kMlpWidth};
    const bool is_half = c.dtype == DType::kF16;
    NetworkRun network{.trace = trace_case(c),
                       .inputs = {{"x", random_tensor("x", pattern).cast(c.dtype)}},
                       .rows = c.rows,
                       .pattern_rows = kPatternRows,
                       .trained_steps = c.is_training ? kCheckedSteps : 0,
                       .tolerance = !is_half        ? kTolerance
                                    : c.is_training ? kTrainingToleranceF16
                                                    : kToleranceF16,
                       .precision = is_half ? Precision::kF16 : Precision::kF32};
    if (c.is_training)
        network.inputs.emplace("target", random_tensor("target", pattern).cast(c.dtype));
    return network;
}

template <const Case& c>
Status run_mlp(Bench& bench, Row& row) {
    return run_network(bench, row, network_of(c, row));
}

constexpr DType kHalf = DType::kF16;
constexpr Case kInferSmall{256, false}, kInferMany{65536, false}, kInferMost{262144, false};
constexpr Case kTrainSmall{256, true}, kTrainMany{65536, true}, kTrainMost{262144, true};
constexpr Case kInferSmallHalf{256, false, kHalf}, kInferManyHalf{65536, false, kHalf},
    kInferMostHalf{262144, false, kHalf};
constexpr Case kTrainSmallHalf{256, true, kHalf}, kTrainManyHalf{65536, true, kHalf},
    kTrainMostHalf{262144, true, kHalf};
constexpr Case kInferSmallBare{256, false, kHalf, false},
    kInferManyBare{65536, false, kHalf, false};
constexpr Case kTrainSmallBare{256, true, kHalf, false}, kTrainManyBare{65536, true, kHalf, false},
    kTrainMostBare{262144, true, kHalf, false};

constexpr Scene kScenes[] = {
    {"mlp_infer_b256_f32", "five 64x64 layers, 256 rows", run_mlp<kInferSmall>},
    {"mlp_infer_b65536_f32", "the same, 65,536 rows", run_mlp<kInferMany>},
    {"mlp_infer_b262144_f32", "the same, 262,144 rows", run_mlp<kInferMost>},
    {"mlp_train_b256_f32", "forward, mse, backward and Adam, 256 rows", run_mlp<kTrainSmall>},
    {"mlp_train_b65536_f32", "the same, 65,536 rows", run_mlp<kTrainMany>},
    {"mlp_train_b262144_f32", "the same, 262,144 rows", run_mlp<kTrainMost>},
    {"mlp_infer_b256_f16", "f16 products, inputs and outputs; f32 sums and params",
     run_mlp<kInferSmallHalf>},
    {"mlp_infer_b65536_f16", "the same, 65,536 rows", run_mlp<kInferManyHalf>},
    {"mlp_infer_b262144_f16", "the same, 262,144 rows", run_mlp<kInferMostHalf>},
    {"mlp_train_b256_f16", "forward, mse, backward and Adam, 256 rows", run_mlp<kTrainSmallHalf>},
    {"mlp_train_b65536_f16", "the same, 65,536 rows", run_mlp<kTrainManyHalf>},
    {"mlp_train_b262144_f16", "the same, 262,144 rows", run_mlp<kTrainMostHalf>},
    {"mlp_infer_b256_f16_bare", "without biases", run_mlp<kInferSmallBare>},
    {"mlp_infer_b65536_f16_bare", "without biases", run_mlp<kInferManyBare>},
    {"mlp_train_b256_f16_bare", "without biases", run_mlp<kTrainSmallBare>},
    {"mlp_train_b65536_f16_bare", "without biases", run_mlp<kTrainManyBare>},
    {"mlp_train_b262144_f16_bare", "without biases", run_mlp<kTrainMostBare>},
};

}  // namespace

std::unique_ptr<Trace> trace_mlp(bool is_training) {
    return trace_case({.rows = 0, .is_training = is_training});
}

NetworkRun mlp_infer_network(Row& row) {
    return network_of(kInferSmall, row);
}

NetworkRun mlp_train_network(Row& row) {
    return network_of(kTrainSmall, row);
}

std::span<const Scene> mlp_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
