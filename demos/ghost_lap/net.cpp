// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "net.hpp"

#include "ghost_lap/demonstrations.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth::ghost_lap {
namespace {

constexpr int kHidden = 32;

Tensor policy(Trace& trace, const Tensor& observation, uint64_t seed) {
    return nn::mlp(trace, "policy", observation, {kHidden, kHidden, kActionSize}, tanh,
                   {.init = nn::WeightInit::kXavier, .seed = seed});
}

}  // namespace

Result<Compiled> compile_net(const DeviceCaps& caps, BindingModel binding_model, uint64_t seed) {
    Trace act("act");
    act.output("action", policy(act, act.input("observation", {kRows, kObservationSize}), seed));

    Trace learn("learn");
    const Tensor predicted =
        policy(learn, learn.input("observations", {kRows, kObservationSize}), seed);
    const Tensor demonstrated = learn.input("actions", {kRows, kActionSize});
    const Tensor loss = mse_loss(predicted, demonstrated);
    learn.output("loss", loss);
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 1e-3});

    CompileOptions options;
    options.caps = caps;
    options.binding_model = binding_model;
    options.rows_capacity = kBatchSize;
    return compile({&act, &learn}, options);
}

}  // namespace hearth::ghost_lap
