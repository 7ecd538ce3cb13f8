// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/graph.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <string>

namespace hearth {

Tensor Rate::as_tensor(const Tensor& x) const {
    if (!x.ok() || tensor_) return tensor_.value_or(x);
    return x.trace()->constant(value_, x.dtype());
}

namespace {

// The trace of params that can be updated with these gradients, or null after reporting why not.
Trace* checked_trace(std::span<const Tensor> params, std::span<const Tensor> gradients,
                     std::string_view optimizer) {
    if (params.empty() || params[0].trace() == nullptr) return nullptr;
    Trace* trace = params[0].trace();
    const std::string who(optimizer);
    if (params.size() != gradients.size())
        trace->fail(invalid_argument(who + ": " + std::to_string(params.size()) + " params, " +
                                     std::to_string(gradients.size()) + " gradients"));
    for (size_t i = 0; i < params.size() && trace->status().ok(); ++i) {
        if (!params[i].ok() || !gradients[i].ok()) return nullptr;
        const Value& param = trace->graph().value(params[i].value());
        if (param.kind != ValueKind::kParam)
            trace->fail(invalid_argument(who + ": tensor " + std::to_string(i) + " is no param"));
        else if (gradients[i].shape() != param.shape || gradients[i].dtype() != param.dtype)
            trace->fail(invalid_argument(who + ": param '" + param.name + "' is " +
                                         to_string(param.shape) + ", its gradient " +
                                         to_string(gradients[i].shape())));
    }
    return trace->status().ok() ? trace : nullptr;
}

// A state of the param's type and shape, zero at first.
Tensor state_beside(const Tensor& param, std::string_view suffix) {
    Trace& trace = *param.trace();
    const std::string name = trace.graph().value(param.value()).name;
    return trace.state(name + "." + std::string(suffix), param.shape(), Init::zeros(),
                       param.dtype());
}

// 1 - beta^steps without the cancellation of that formula: c <- beta c + (1 - beta), from zero.
Tensor next_correction(const Tensor& param, std::string_view name, double beta) {
    Trace& trace = *param.trace();
    const Tensor before = trace.state(name, {}, Init::zeros(), param.dtype());
    const Tensor after = before * beta + (1 - beta);
    trace.assign(before, after);
    return after;
}

// before <- beta before + (1 - beta) sample; returns the new value.
Tensor moving_average(const Tensor& before, const Tensor& sample, double beta) {
    const Tensor after = before * beta + sample * (1 - beta);
    before.trace()->assign(before, after);
    return after;
}

}  // namespace

void sgd(std::span<const Tensor> params, std::span<const Tensor> gradients,
         const SgdOptions& options) {
    Trace* trace = checked_trace(params, gradients, "sgd");
    if (trace == nullptr) return;
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor& param = params[i];
        Tensor direction = gradients[i];
        if (options.weight_decay != 0) direction = direction + param * options.weight_decay;
        if (options.momentum != 0) {
            const Tensor before = state_beside(param, "momentum");
            const Tensor after = before * options.momentum + direction;
            trace->assign(before, after);
            direction = options.nesterov ? direction + after * options.momentum : after;
        }
        trace->assign(param, param - direction * options.learning_rate.as_tensor(param));
    }
}

void adam(std::span<const Tensor> params, std::span<const Tensor> gradients,
          const AdamOptions& options) {
    Trace* trace = checked_trace(params, gradients, "adam");
    if (trace == nullptr) return;
    const Tensor correction1 = next_correction(params[0], "adam.correction1", options.beta1);
    const Tensor correction2 = next_correction(params[0], "adam.correction2", options.beta2);
    for (size_t i = 0; i < params.size(); ++i) {
        const Tensor &param = params[i], &g = gradients[i];
        const Tensor rate = options.learning_rate.as_tensor(param);
        const Tensor m = moving_average(state_beside(param, "m"), g, options.beta1);
        const Tensor v = moving_average(state_beside(param, "v"), square(g), options.beta2);
        const Tensor step = m / correction1 / (sqrt(v / correction2) + options.epsilon);
        const Tensor kept =
            options.weight_decay == 0 ? param : param * (1.0 - rate * options.weight_decay);
        trace->assign(param, kept - rate * step);
    }
}

std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const SgdOptions& options) {
    std::vector<Tensor> gradients = grad(loss, params);
    sgd(params, gradients, options);
    return gradients;
}

std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdamOptions& options) {
    std::vector<Tensor> gradients = grad(loss, params);
    adam(params, gradients, options);
    return gradients;
}

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
