// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stochastic gradient descent with momentum.

#include "model/optim/update.hpp"

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

void sgd(std::span<const Tensor> params, std::span<const Tensor> gradients,
         const SgdOptions& options) {
    Trace* trace = checked_trace(params, gradients, "sgd");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor& param = params[i];
        Tensor direction = with_decay(gradients[i], param, options.weight_decay);
        if (options.momentum != 0) {
            const Tensor after =
                accumulate(state_beside(param, "momentum"), options.momentum, direction, 1);
            direction = options.nesterov ? direction + after * options.momentum : after;
        }
        trace->assign(param, param - direction * options.learning_rate.as_tensor(param));
    }
}

}  // namespace hearth
