// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exponential moving averages of weights (after Polyak and Juditsky, 1992), and target networks.

#include "compiler/ir/graph.hpp"
#include "model/optim/update.hpp"

#include <hearth/optim.hpp>

namespace hearth {

namespace {

constexpr std::string_view kSuffix = ".average";

Tensor next_value(const Tensor& param) {
    for (const Assignment& u : param.trace()->graph().updates)
        if (u.target == param.value()) return {param.trace(), u.value};
    return {param.trace(), kInvalidId};
}

bool is_under(std::string_view name, std::string_view prefix) {
    return prefix.empty() || (name.starts_with(prefix) &&
                              (name.size() == prefix.size() || name[prefix.size()] == '.'));
}

}  // namespace

void update_ema(std::span<const Tensor> params, double decay) {
    for (const Tensor& param : params) {
        if (!param.ok()) return;
        Trace& trace = *param.trace();
        const Tensor next = next_value(param);
        const Value v = trace.graph().value(param.value());
        if (!next.ok())
            return trace.fail(invalid_argument(
                "update_ema: '" + v.name +
                "' is not updated in this trace; call update_ema after the update rule"));
        const Init init = v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
        const Tensor average = trace.state(v.name + std::string(kSuffix), v.shape, init, v.dtype);
        moving_average(average, next, decay);
    }
}

void use_ema(Trace& trace, std::string_view prefix) {
    bool any = false;
    for (Value& v : mutable_graph(trace).values) {
        if (v.kind != ValueKind::kParam || !is_under(v.name, prefix)) continue;
        any = true;
        v.kind = ValueKind::kState;
        v.name += kSuffix;
    }
    if (!any)
        trace.fail(invalid_argument("use_ema: trace '" + trace.graph().name +
                                    "' has no param under '" + std::string(prefix) + "'"));
}

void polyak_update(Trace& trace, std::string_view prefix, std::string_view original,
                   const ScalarOrTensor& rate) {
    if (!trace.status().ok()) return;
    const std::string who = "follow: '" + std::string(prefix) + "' of '" + std::string(original);
    bool any = false;
    const auto count = static_cast<ValueId>(trace.graph().values.size());
    for (ValueId id = 0; id < count; ++id) {
        const Value v = trace.graph().value(id);
        if (v.kind != ValueKind::kState || !is_under(v.name, prefix)) continue;
        any = true;
        const std::string name = std::string(original) + v.name.substr(prefix.size());
        const ValueId from = trace.graph().find(name);
        if (from == kInvalidId || trace.graph().value(from).shape != v.shape ||
            trace.graph().value(from).dtype != v.dtype)
            return trace.fail(invalid_argument(who + "': trace '" + trace.graph().name +
                                               "' has no '" + name + "' like '" + v.name + "'"));
        const Tensor state(&trace, id), present(&trace, from);
        const Tensor updated = next_value(present);
        const Tensor next = updated.ok() ? updated : present;
        if (rate.is_always(1)) {
            trace.assign(state, next);
            continue;
        }
        const Tensor weight = rate.as_tensor(state);
        trace.assign(state, state * (1.0 - weight) + next * weight);
    }
    if (!any)
        trace.fail(invalid_argument(
            who + "': trace '" + trace.graph().name +
            "' has no state under the first prefix; make it by Trace::target_copy()"));
}

}  // namespace hearth
