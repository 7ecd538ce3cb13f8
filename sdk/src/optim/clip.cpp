// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

std::vector<Tensor> clip_by_norm(std::span<const Tensor> gradients, double max_norm) {
    std::vector<Tensor> clipped(gradients.begin(), gradients.end());
    if (gradients.empty()) return clipped;
    Tensor total = sum(square(gradients[0]));
    for (const Tensor& g : gradients.subspan(1)) total = total + sum(square(g));
    // The small number keeps a zero gradient from dividing by zero, as PyTorch's clip_grad_norm_.
    const Tensor scale = minimum(max_norm / (sqrt(total) + 1e-6), 1.0);
    for (Tensor& g : clipped) g = g * scale;
    return clipped;
}

}  // namespace hearth
