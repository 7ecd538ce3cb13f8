// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Losses, written in other operators.

#include <hearth/ops.hpp>

namespace hearth {

Tensor mse_loss(const Tensor& prediction, const Tensor& target) {
    return mean(square(prediction - target));
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta) {
    const Tensor distance = abs(prediction - target);
    const Tensor near = square(distance) * 0.5, far = (distance - 0.5 * delta) * delta;
    return mean(where(less_equal(distance, delta), near, far));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
    const Tensor picked = gather_elements(log_softmax(logits, -1), unsqueeze(labels, {-1}), -1);
    return neg(mean(picked));
}

Tensor bce_with_logits(const Tensor& logits, const Tensor& target) {
    // -t log(s) - (1 - t) log(1 - s) with s = sigmoid(x) is softplus(x) - x t.
    return mean(softplus(logits) - logits * target);
}

}  // namespace hearth
