// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Optimizers with bias-corrected moving averages per param.

#include "model/optim/update.hpp"

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

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
        trace->assign(param, shrunk(param, rate, options.weight_decay) - rate * step);
    }
}

void adan(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdanOptions& options) {
    Trace* trace = checked_trace(params, gradients, "adan");
    if (trace == nullptr) return;
    const auto correction = [&](const char* suffix, double beta) {
        return next_correction(params[0], options.name + suffix, beta);
    };
    const Tensor first =
        equal(trace->state(options.name + ".correction1", {}, Init::zeros(), params[0].dtype()), 0);
    const Tensor correction1 = correction(".correction1", options.beta1);
    const Tensor correction2 = correction(".correction2", options.beta2);
    const Tensor correction3 = correction(".correction3", options.beta3);
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor &param = params[i], &g = gradients[i];
        const Tensor rate = options.learning_rate.as_tensor(param);
        const Tensor previous = state_beside(param, "previous");
        const Tensor change = where(first, 0.0, g - previous);
        trace->assign(previous, g);
        const Tensor m = moving_average(state_beside(param, "m"), g, options.beta1);
        const Tensor d = moving_average(state_beside(param, "d"), change, options.beta2);
        const Tensor v = moving_average(state_beside(param, "v"),
                                        square(g + change * options.beta2), options.beta3);
        const Tensor step = (m / correction1 + d / correction2 * options.beta2) /
                            (sqrt(v / correction3) + options.epsilon);
        const Tensor next = param - rate * step;
        trace->assign(
            param, options.weight_decay == 0 ? next : next / (rate * options.weight_decay + 1.0));
    }
}

}  // namespace hearth
