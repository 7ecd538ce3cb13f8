// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "net.hpp"

#include "ghost_lap/demonstrations.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace hearth::ghost_lap {
namespace {

constexpr int kHidden = 32;
constexpr double kLearningRate = 1e-3;

Tensor layer(Trace& trace, const std::string& name, const Tensor& x, int inputs, int outputs,
             uint64_t seed) {
    const double bound = std::sqrt(6.0 / (inputs + outputs));  // Glorot and Bengio 2010
    const Tensor weight =
        trace.param(name + ".weight", {outputs, inputs}, Init::uniform(-bound, bound, seed));
    const Tensor bias = trace.param(name + ".bias", {outputs});
    return linear(x, weight, bias);
}

Tensor policy(Trace& trace, const Tensor& observation, uint64_t seed) {
    Tensor x = tanh(layer(trace, "hidden1", observation, kObservationSize, kHidden, seed));
    x = tanh(layer(trace, "hidden2", x, kHidden, kHidden, seed));
    return layer(trace, "action", x, kHidden, kActionSize, seed);
}

/// One step of Adam (Kingma and Ba 2015, algorithm 1) on all params of the trace.
void adam_step(Trace& trace, const Tensor& loss, double learning_rate) {
    constexpr double kBeta1 = 0.9;
    constexpr double kBeta2 = 0.999;
    constexpr double kEpsilon = 1e-8;
    const std::vector<Tensor> params = trace.params();
    const std::vector<Tensor> gradients = grad(loss, params);
    const Tensor steps_before = trace.state("adam.steps", {1});
    const Tensor steps = steps_before + 1.0;
    trace.assign(steps_before, steps);
    const Tensor correction1 = 1.0 - exp(steps * std::log(kBeta1));
    const Tensor correction2 = 1.0 - exp(steps * std::log(kBeta2));
    for (size_t i = 0; i < params.size(); ++i) {
        const std::string name = "adam." + std::to_string(i);
        const Tensor first = trace.state(name + ".first", params[i].shape());
        const Tensor second = trace.state(name + ".second", params[i].shape());
        const Tensor m = first * kBeta1 + gradients[i] * (1.0 - kBeta1);
        const Tensor v = second * kBeta2 + square(gradients[i]) * (1.0 - kBeta2);
        trace.assign(first, m);
        trace.assign(second, v);
        trace.assign(params[i], params[i] - learning_rate * (m / correction1) /
                                                (sqrt(v / correction2) + kEpsilon));
    }
}

}  // namespace

Result<Compiled> compile_net(const DeviceCaps& caps, uint64_t seed) {
    Trace act("act");
    act.output("action", policy(act, act.input("observation", {kRows, kObservationSize}), seed));

    Trace learn("learn");
    const Tensor predicted =
        policy(learn, learn.input("observations", {kRows, kObservationSize}), seed);
    const Tensor demonstrated = learn.input("actions", {kRows, kActionSize});
    const Tensor loss = mean(square(predicted - demonstrated));
    learn.output("loss", loss);
    adam_step(learn, loss, kLearningRate);

    CompileOptions options;
    options.caps = caps;
    options.rows_capacity = kBatchSize;
    return compile({&act, &learn}, options);
}

}  // namespace hearth::ghost_lap
