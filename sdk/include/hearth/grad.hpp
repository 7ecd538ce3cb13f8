// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reverse-mode differentiation of a trace.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace hearth {

/// Appends the gradient of `loss` to its trace and returns it, one tensor for each of `wrt`, of the
/// same type and shape (zeros where the loss does not depend on it).  loss: floating-point, [] or
/// [1].  The result is ordinary graph code and can be differentiated again.
/// Errors, kept by the trace: a loss that is not a scalar, a wrt that is not floating-point, an
/// operator without gradient between them (named).
std::vector<Tensor> grad(const Tensor& loss, std::span<const Tensor> wrt);
std::vector<Tensor> grad(const Tensor& loss, ParamList&& params);
Tensor grad(const Tensor& loss, const Tensor& wrt);

struct ValueAndGrad {
    Tensor value = {};
    std::vector<Tensor> gradients = {};
};

/// Calls `f` and differentiates its result.
ValueAndGrad value_and_grad(const std::function<Tensor()>& f, std::span<const Tensor> wrt);
ValueAndGrad value_and_grad(const std::function<Tensor()>& f, ParamList&& params);

/// Vector-Jacobian product: for each of `inputs`, the sum over the elements of `outputs` of
/// cotangent times derivative.  cotangents: one for each output, of its type and shape.
std::vector<Tensor> vjp(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                        std::span<const Tensor> inputs);

/// x, detached: no gradient flows through it.
Tensor stop_gradient(const Tensor& x);

size_t checkpoint_begin(const Trace& trace);
size_t checkpoint_begin(const Tensor& x);
Tensor checkpoint_end(const Tensor& y, size_t begin);
std::vector<Tensor> checkpoint_end(std::vector<Tensor> ys, size_t begin);

/// Gradient checkpointing: wraps f so that the backward pass recomputes the values inside f instead
/// of keeping them from the forward pass, which trades arithmetic for memory.  Results are equal up
/// to rounding, because kernels are fused differently.  f takes a Tensor or a Trace first and
/// returns a Tensor or a vector of them, so a layer of nn.hpp stays a layer:
/// checkpoint(block)(trace, "block", x).  A checkpointed region inside another one is part of the
/// outer one.  To select regions by a memory budget instead, see
/// CompileOptions::arena_budget_bytes.
template <class F>
auto checkpoint(F f) {
    return [f = std::move(f)](
        auto&& first,
        auto&&... rest) requires std::invocable<const F&, decltype(first), decltype(rest)...> {
        const size_t begin = checkpoint_begin(first);
        return checkpoint_end(f(first, rest...), begin);
    };
}

}  // namespace hearth
