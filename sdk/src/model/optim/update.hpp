// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Helpers shared by the optimizers.

#pragma once

#include <hearth/tensor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Returns the trace of the params after checking the gradients, or null after reporting an error.
Trace* checked_trace(std::span<const Tensor> params, std::span<const Tensor> gradients,
                     std::string_view optimizer);

/// A state of the param's type and shape, initially zero, named "PARAM.suffix".
Tensor state_beside(const Tensor& param, std::string_view suffix);

/// target <- beta * target + weight * sample; returns the new value.
Tensor accumulate(const Tensor& target, double beta, const Tensor& sample, double weight);
/// accumulate() with weights that add up to one.
inline Tensor moving_average(const Tensor& target, const Tensor& sample, double beta) {
    return accumulate(target, beta, sample, 1 - beta);
}

/// Bias correction 1 - beta^steps: divisor of a moving average that started at zero.  Kept in the
/// state `name`, of the param's type.
Tensor next_correction(const Tensor& param, const std::string& name, double beta);

/// The largest magnitude of x's elements, NaN if any element is NaN: f32 [1].
Tensor largest_magnitude(const Tensor& x);
/// True if all of these magnitudes are finite: bool [].
Tensor is_finite_magnitude(std::vector<Tensor> magnitudes);

/// gradient + decay * param.
Tensor with_decay(const Tensor& gradient, const Tensor& param, double decay);
/// param * (1 - rate * decay): decoupled weight decay.
Tensor shrunk(const Tensor& param, const Tensor& rate, double decay);

}  // namespace hearth
