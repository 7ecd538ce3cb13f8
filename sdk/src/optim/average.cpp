// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Moving averages of weights (Polyak and Juditsky, 1992, with exponential weights).

#include "ir/graph.hpp"
#include "optim/update.hpp"

#include <hearth/optim.hpp>

namespace hearth {

namespace {

constexpr std::string_view kSuffix = ".average";

Tensor next_value(const Tensor& param) {
    for (const GraphUpdate& u : param.trace()->graph().updates)
        if (u.target == param.value()) return {param.trace(), u.value};
    return {param.trace(), kNone};
}

}  // namespace

void track_averages(std::span<const Tensor> params, double decay) {
    for (const Tensor& param : params) {
        if (!param.ok()) return;
        Trace& trace = *param.trace();
        const Tensor next = next_value(param);
        const Value v = trace.graph().value(param.value());
        if (!next.ok())
            return trace.fail(
                invalid_argument("track_averages: '" + v.name +
                                 "' is not updated in this trace; call it after the update rule"));
        const Init init = v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
        const Tensor average = trace.state(v.name + std::string(kSuffix), v.shape, init, v.dtype);
        moving_average(average, next, decay);
    }
}

void use_averages(Trace& trace) {
    for (Value& v : trace.graph().values) {
        if (v.kind != ValueKind::kParam) continue;
        v.kind = ValueKind::kState;
        v.name += kSuffix;
    }
}

}  // namespace hearth
