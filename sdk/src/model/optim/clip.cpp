// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gradient clipping by value, by norm and by global norm.

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

namespace {

Tensor scale_for(const Tensor& norm, double max_norm) {
    // The epsilon avoids a division by zero for zero gradients, as in PyTorch's clip_grad_norm_.
    return minimum(max_norm / (norm + 1e-6), 1.0);
}

}  // namespace

std::vector<Tensor> clip_by_value(std::span<const Tensor> gradients, double limit) {
    std::vector<Tensor> clipped;
    for (const Tensor& g : gradients) clipped.push_back(clamp(g, -limit, limit));
    return clipped;
}

std::vector<Tensor> clip_by_norm(std::span<const Tensor> gradients, double max_norm) {
    std::vector<Tensor> clipped;
    for (const Tensor& g : gradients)
        clipped.push_back(g * scale_for(global_norm(std::span(&g, 1)), max_norm));
    return clipped;
}

std::vector<Tensor> clip_by_global_norm(std::span<const Tensor> gradients, double max_norm) {
    std::vector<Tensor> clipped(gradients.begin(), gradients.end());
    if (gradients.empty()) return clipped;
    const Tensor scale = scale_for(global_norm(gradients), max_norm);
    for (Tensor& g : clipped) g = g * scale;
    return clipped;
}

Tensor global_norm(std::span<const Tensor> gradients) {
    Tensor total;
    for (const Tensor& g : gradients)
        total = total.trace() == nullptr ? sum(square(g)) : total + sum(square(g));
    return sqrt(total);
}

}  // namespace hearth
