// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Optimizers: graph code that assigns params, and keeps what it must remember in states.
//
//     const Tensor loss = mse_loss(net(x), target);
//     minimize(loss, trace.params(), AdamOptions{.learning_rate = 1e-3});

#pragma once

#include <hearth/tensor.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// A number fixed when the program is compiled, or a scalar of the trace: a tensor [] that the host
/// binds, say, so that it can change from frame to frame.
class Rate {
  public:
    Rate(double value) : value_(value) {}
    Rate(const Tensor& value) : tensor_(value) {}
    /// As a tensor that multiplies `x`.
    Tensor as_tensor(const Tensor& x) const;

  private:
    double value_ = 0;
    std::optional<Tensor> tensor_;
};

/// Stochastic gradient descent with momentum (Sutskever et al., 2013), as PyTorch's SGD.
struct SgdOptions {
    Rate learning_rate = 1e-2;
    double momentum = 0;
    bool nesterov = false;
    double weight_decay = 0;  ///< adds weight_decay * param to the gradient
};

/// Adam (Kingma and Ba, 2015, with bias correction), as PyTorch's Adam; with weight decay it is
/// AdamW (Loshchilov and Hutter, 2019): params shrink by learning_rate * weight_decay, apart from
/// the moments.
struct AdamOptions {
    Rate learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    /// Of the states that all params share.  Params updated by another call, or in another entry,
    /// take steps of their own and need another name.
    std::string name = "adam";
};

/// Assigns each param its next value.  gradients: one for each param, of its type and shape.
/// States: "PARAM.momentum" [as the param], if momentum is not zero.
void sgd(std::span<const Tensor> params, std::span<const Tensor> gradients,
         const SgdOptions& options = {});

/// States: "PARAM.m" and "PARAM.v" [as the param], and "NAME.correction1" and "NAME.correction2"
/// []: 1 - beta^steps, from which the moments' bias follows.
void adam(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdamOptions& options = {});

/// Differentiates `loss` and applies an optimizer to `params`.  Returns the gradients.
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const SgdOptions& options);
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdamOptions& options);

/// The gradients scaled down together so that their common Euclidean norm is at most `max_norm`.
std::vector<Tensor> clip_by_norm(std::span<const Tensor> gradients, double max_norm);

}  // namespace hearth
