// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A PPO step on one minibatch: actor and critic with two hidden layers, two continuous actions.

#include "data.hpp"
#include "network.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::perf {

namespace {

constexpr int64_t kMinibatch = 128, kObservation = 8, kActions = 2, kHidden = 64;
// The critic's loss is not clipped, so it is a mean of squares, as in peers/pytorch.py.
constexpr double kValueWeight = 0.5, kEntropyWeight = 0.01, kMaxNorm = 0.5;

std::unique_ptr<Trace> trace_ppo() {
    auto trace = std::make_unique<Trace>("learn");
    const Tensor x = trace->input("x", {kBatch, kObservation});
    const Tensor action = trace->input("action", {kBatch, kActions});
    const Tensor old = trace->input("old_log_probability", {kBatch});
    const Tensor advantage = trace->input("advantage", {kBatch});
    const Tensor returns = trace->input("returns", {kBatch});
    const Tensor mean = nn::mlp(*trace, "actor", x, {kHidden, kHidden, kActions}, tanh);
    const Tensor log_deviation = trace->param("log_deviation", {kActions}, Init::zeros());
    const Tensor value = nn::mlp(*trace, "critic", x, {kHidden, kHidden, 1}, tanh);
    const Tensor log_probability = normal_log_prob(action, mean, log_deviation);
    const Tensor loss = ppo_clip_loss(log_probability, old, advantage) +
                        mse_loss(reshape(value, {kBatch}), returns) * kValueWeight -
                        normal_entropy(log_deviation) * kEntropyWeight;
    const std::vector<Tensor> params = trace->params();
    adam(params, clip_by_global_norm(grad(loss, params), kMaxNorm), {});
    trace->output("loss", loss);
    return trace;
}

}  // namespace

NetworkRun ppo_network(Row& row) {
    constexpr double kWeights =
        2 * (kObservation * kHidden + kHidden * kHidden) + kHidden * (kActions + 1);
    constexpr double kParams = kWeights + 4 * kHidden + 2 * kActions + 1;
    // Three products per layer, except for the gradient of the observation.
    row.flops = 2.0 * kMinibatch * (3 * kWeights - 2 * kObservation * kHidden);
    row.bytes = sizeof(float) * (kParams * 6 + kMinibatch * (kObservation + kActions + 3));
    NetworkRun network{
        .trace = trace_ppo(), .rows = kMinibatch, .pattern_rows = kMinibatch, .trained_steps = 2};
    network.inputs = {{"x", random_tensor("x", {kMinibatch, kObservation})},
                      {"action", random_tensor("action", {kMinibatch, kActions})},
                      {"old_log_probability", random_tensor("old_log_probability", {kMinibatch})},
                      {"advantage", random_tensor("advantage", {kMinibatch})},
                      {"returns", random_tensor("returns", {kMinibatch})}};
    return network;
}

namespace {

Status run_ppo(Bench& bench, Row& row) {
    return run_network(bench, row, ppo_network(row));
}

constexpr Scene kScenes[] = {
    {"ppo_step", "128 samples, actor and critic 2x64 tanh, clipped norm, Adam; f32", run_ppo},
};

}  // namespace

std::span<const Scene> policy_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
