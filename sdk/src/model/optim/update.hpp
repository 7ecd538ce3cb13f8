// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What optimizers share.

#pragma once

#include <hearth/tensor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The trace of params that can be updated with these gradients, or null after reporting why not.
Trace* checked_trace(std::span<const Tensor> params, std::span<const Tensor> gradients,
                     std::string_view optimizer);

/// A state of the param's type and shape, zero at first, named "PARAM.suffix".
Tensor state_beside(const Tensor& param, std::string_view suffix);

/// target <- beta * target + weight * sample; returns the new value.
Tensor accumulate(const Tensor& target, double beta, const Tensor& sample, double weight);
/// The same with weights that add up to one.
inline Tensor moving_average(const Tensor& target, const Tensor& sample, double beta) {
    return accumulate(target, beta, sample, 1 - beta);
}

/// 1 - beta^steps, by which a moving average that began at zero is divided.  The state `name`, of
/// the param's type.
Tensor next_correction(const Tensor& param, const std::string& name, double beta);

/// The largest magnitude of x's elements, NaN if any is: f32 [1].
Tensor largest_magnitude(const Tensor& x);
/// Whether all of these magnitudes are finite: bool [].
Tensor is_finite_magnitude(std::vector<Tensor> magnitudes);

/// gradient + decay * param.
Tensor with_decay(const Tensor& gradient, const Tensor& param, double decay);
/// param * (1 - rate * decay), for decay apart from the gradient.
Tensor shrunk(const Tensor& param, const Tensor& rate, double decay);

}  // namespace hearth
