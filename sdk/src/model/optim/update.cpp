// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Helpers of the update rules: argument checks, optimizer states and moving averages.

#include "model/optim/update.hpp"

#include "compiler/ir/graph.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

Tensor ScalarOrTensor::as_tensor(const Tensor& x) const {
    if (!x.ok()) return x;
    if (!tensor_) return x.trace()->constant(value_, x.dtype());
    return tensor_->dtype() == x.dtype() ? *tensor_ : cast(*tensor_, x.dtype());
}

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

Tensor state_beside(const Tensor& param, std::string_view suffix) {
    Trace& trace = *param.trace();
    const std::string name = trace.graph().value(param.value()).name;
    return trace.state(name + "." + std::string(suffix), param.shape(), Init::zeros(),
                       param.dtype());
}

Tensor accumulate(const Tensor& target, double beta, const Tensor& sample, double weight) {
    const Tensor after = target * beta + (weight == 1 ? sample : sample * weight);
    target.trace()->assign(target, after);
    return after;
}

Tensor next_correction(const Tensor& param, const std::string& name, double beta) {
    // Computed without the cancellation of 1 - beta^steps: c <- beta c + (1 - beta), from zero.
    Trace& trace = *param.trace();
    const Tensor before = trace.state(name, {}, Init::zeros(), param.dtype());
    const Tensor after = before * beta + (1 - beta);
    trace.assign(before, after);
    return after;
}

Tensor with_decay(const Tensor& gradient, const Tensor& param, double decay) {
    return decay == 0 ? gradient : gradient + param * decay;
}

Tensor shrunk(const Tensor& param, const Tensor& rate, double decay) {
    return decay == 0 ? param : param * (1.0 - rate * decay);
}

namespace {

template <class Options>
std::vector<Tensor> minimize_with(void (*rule)(std::span<const Tensor>, std::span<const Tensor>,
                                               const Options&),
                                  const Tensor& loss, std::span<const Tensor> params,
                                  const Options& options) {
    if (params.empty() && loss.trace() != nullptr)
        loss.trace()->fail(
            invalid_argument("minimize: there are no params to train; is their prefix misspelt, or "
                             "was params() called "
                             "before the net declared them?"));
    std::vector<Tensor> gradients = grad(loss, params);
    rule(params, gradients, options);
    return gradients;
}

}  // namespace

std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const SgdOptions& options) {
    return minimize_with(sgd, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdamOptions& options) {
    return minimize_with(adam, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdagradOptions& options) {
    return minimize_with(adagrad, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const RmspropOptions& options) {
    return minimize_with(rmsprop, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const LionOptions& options) {
    return minimize_with(lion, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const AdanOptions& options) {
    return minimize_with(adan, loss, params, options);
}
std::vector<Tensor> minimize(const Tensor& loss, std::span<const Tensor> params,
                             const MuonOptions& options) {
    return minimize_with(muon, loss, params, options);
}

}  // namespace hearth
