// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "optim/update.hpp"

#include "ir/graph.hpp"

#include <hearth/optim.hpp>

#include <string>

namespace hearth {

Tensor Rate::as_tensor(const Tensor& x) const {
    if (!x.ok() || tensor_) return tensor_.value_or(x);
    return x.trace()->constant(value_, x.dtype());
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

}  // namespace hearth
