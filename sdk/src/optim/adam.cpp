// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "optim/update.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

namespace {

// 1 - beta^steps without the cancellation of that formula: c <- beta c + (1 - beta), from zero.
Tensor next_correction(const Tensor& param, std::string_view name, double beta) {
    Trace& trace = *param.trace();
    const Tensor before = trace.state(name, {}, Init::zeros(), param.dtype());
    const Tensor after = before * beta + (1 - beta);
    trace.assign(before, after);
    return after;
}

// before <- beta before + (1 - beta) sample; returns the new value.
Tensor moving_average(const Tensor& before, const Tensor& sample, double beta) {
    const Tensor after = before * beta + sample * (1 - beta);
    before.trace()->assign(before, after);
    return after;
}

}  // namespace

void adam(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdamOptions& options) {
    Trace* trace = checked_trace(params, gradients, "adam");
    if (trace == nullptr) return;
    const Tensor correction1 =
        next_correction(params[0], options.name + ".correction1", options.beta1);
    const Tensor correction2 =
        next_correction(params[0], options.name + ".correction2", options.beta2);
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor &param = params[i], &g = gradients[i];
        const Tensor rate = options.learning_rate.as_tensor(param);
        const Tensor m = moving_average(state_beside(param, "m"), g, options.beta1);
        const Tensor v = moving_average(state_beside(param, "v"), square(g), options.beta2);
        const Tensor step = m / correction1 / (sqrt(v / correction2) + options.epsilon);
        const Tensor kept =
            options.weight_decay == 0 ? param : param * (1.0 - rate * options.weight_decay);
        trace->assign(param, kept - rate * step);
    }
}

std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdamOptions& options) {
    std::vector<Tensor> gradients = grad(loss, params);
    adam(params, gradients, options);
    return gradients;
}

}  // namespace hearth
