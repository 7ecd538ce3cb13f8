// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Optimizers with a step size per element, from squared gradients or from signs.

#include "model/optim/update.hpp"

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

void adagrad(std::span<const Tensor> params, std::span<const Tensor> gradients,
             const AdagradOptions& options) {
    Trace* trace = checked_trace(params, gradients, "adagrad");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor& param = params[i];
        const Tensor g = with_decay(gradients[i], param, options.weight_decay);
        const Tensor squares = accumulate(state_beside(param, "squares"), 1, square(g), 1);
        const Tensor step = g / (sqrt(squares) + options.epsilon);
        trace->assign(param, param - options.learning_rate.as_tensor(param) * step);
    }
}

void rmsprop(std::span<const Tensor> params, std::span<const Tensor> gradients,
             const RmspropOptions& options) {
    Trace* trace = checked_trace(params, gradients, "rmsprop");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor& param = params[i];
        const Tensor g = with_decay(gradients[i], param, options.weight_decay);
        Tensor v = moving_average(state_beside(param, "v"), square(g), options.decay);
        if (options.centered)
            v = v - square(moving_average(state_beside(param, "mean"), g, options.decay));
        Tensor step = g / (sqrt(v) + options.epsilon);
        if (options.momentum != 0)
            step = accumulate(state_beside(param, "momentum"), options.momentum, step, 1);
        trace->assign(param, param - options.learning_rate.as_tensor(param) * step);
    }
}

void lion(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const LionOptions& options) {
    Trace* trace = checked_trace(params, gradients, "lion");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor &param = params[i], &g = gradients[i];
        const Tensor rate = options.learning_rate.as_tensor(param);
        const Tensor m = state_beside(param, "m");
        const Tensor step = sign(m * options.beta1 + g * (1 - options.beta1));
        moving_average(m, g, options.beta2);
        trace->assign(param, shrunk(param, rate, options.weight_decay) - rate * step);
    }
}

}  // namespace hearth
