// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Muon: Keller Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024.

#include "compiler/ir/graph.hpp"
#include "model/optim/update.hpp"

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

/// Approximates u v^T of x = u s v^T: singular values between about 0.7 and 1.2 after five
/// iterations.
Tensor orthogonalized(const Tensor& x, int iterations) {
    // The quintic a s + b s^3 + c s^5 with the steepest slope at zero that keeps [0, 1] near one;
    // coefficients from the reference.
    constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
    const bool is_tall = x.dim(0).count > x.dim(1).count;
    Tensor y = is_tall ? transpose(x) : x;
    y = y / (sqrt(sum(square(y))) + 1e-7);
    for (int i = 0; i < iterations; ++i) {
        const Tensor gram = matmul(y, y, false, true);
        y = y * kA + matmul(gram * kB + matmul(gram, gram) * kC, y);
    }
    return is_tall ? transpose(y) : y;
}

}  // namespace

void muon(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const MuonOptions& options) {
    Trace* trace = checked_trace(params, gradients, "muon");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor &param = params[i], &g = gradients[i];
        if (param.rank() < 2 || param.shape().element_count(1) == 0)
            return trace->fail(invalid_argument(
                "muon: param '" + trace->graph().value(param.value()).name + "' is " +
                to_string(param.shape()) + ", not a matrix; leave it to another rule"));
        const Tensor rate = options.learning_rate.as_tensor(param);
        const Tensor after = moving_average(state_beside(param, "momentum"), g, options.momentum);
        const Tensor direction =
            options.nesterov ? g * (1 - options.momentum) + after * options.momentum : after;
        const Tensor matrix = flatten(direction, 1);
        const auto out = static_cast<double>(matrix.dim(0).count);
        const auto in = static_cast<double>(matrix.dim(1).count);
        const Tensor step = reshape(orthogonalized(matrix, options.iterations), param.shape()) *
                            std::sqrt(std::max(1.0, out / in));
        trace->assign(param, shrunk(param, rate, options.weight_decay) - rate * step);
    }
}

}  // namespace hearth
