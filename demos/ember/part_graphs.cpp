// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "part_graphs.hpp"

#include <hearth/agents/learner_def.hpp>
#include <hearth/agents/learners.hpp>

namespace hearth::ember {
namespace {

using agents::ActionSpec;
using agents::AgentSpec;
using agents::ObservationSpec;
using agents::PolicyNetwork;
using agents::PolicyOutput;

template <class Learner>
PartGraphs trace(const AgentSpec& spec, const PolicyNetwork& network, const Learner& learner) {
    return {agents::build_agent_graphs(spec, network, learner),
            agents::make_manifest(spec, learner)};
}

PartGraphs legs() {
    const AgentSpec spec(ObservationSpec()
                             .box("toward", 2)
                             .box("distance", 1, {0, 1})
                             .box("speed", 1, {0, 1})
                             .box("turning", 1),
                         ActionSpec().continuous("turn").continuous("push"));
    agents::Ppo ppo{.n_agents = 1, .n_steps = 128, .n_minibatches = 4, .n_epochs = 6};
    ppo.learning_rate = 2e-3;
    ppo.ent_coef = 0.001;
    ppo.gamma = 0.9, ppo.gae_lambda = 0.9;  // progress is felt at once
    ppo.log_std_init = -0.7;
    ppo.demo_capacity = 1024, ppo.bc_coef = 0.5;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    return trace(spec, agents::mlp_network({32, 32}), ppo);
}

ObservationSpec senses() {
    return ObservationSpec()
        .box("things", kThingCount, {0, 1})
        .box("hand", 2, {0, 1})
        .box("sign", 2, {0, 1})
        .box("needs", 3, {0, 1})
        .binary("night")
        .box("place", kPlaceCount, {0, 1});
}

PartGraphs will() {
    const AgentSpec spec(senses(), ActionSpec().discrete("act", kActCount, true));
    agents::Tamer tamer{.n_agents = 1, .batch_size = 64, .credit_window = {1}};
    tamer.learning_rate = 1e-3;
    PartGraphs part = trace(spec, agents::mlp_network({48, 48}), tamer);
    // It decides every few seconds and has time to think meanwhile.
    part.manifest.updates_per_rollout = 8;
    return part;
}

PartGraphs heart() {
    const AgentSpec spec(senses(), ActionSpec().continuous("feeling"));
    return trace(spec, agents::mlp_network({32, 32}),
                 agents::BehaviorCloning{.n_agents = 2,
                                         .buffer_size = 4096,
                                         .batch_size = 64,
                                         .learning_starts = 16,
                                         .loss = agents::BcLoss::kMse});
}

/// Three convolutions of stride 2, and a linear layer.
PolicyOutput look(Trace& trace, std::string_view prefix, const Tensor& features, const Tensor&) {
    constexpr auto kSide = static_cast<int64_t>(kGazeSide);
    Tensor x = reshape(features, {features.shape()[0], 3, kSide, kSide});
    struct Step {
        int64_t channels, kernel;
    };
    constexpr Step kSteps[] = {{6, 5}, {12, 3}, {16, 3}};
    size_t index = 0;
    for (const Step& step : kSteps) {
        nn::ConvLayerOptions options;
        options.window.strides = {2, 2};
        options.window.pad_begin = {step.kernel / 2, step.kernel / 2};
        // Few pictures at first: units of plain relu would die of them.
        x = leaky_relu(nn::conv2d(trace, nn::join_name(prefix, index++), x, step.channels,
                                  {step.kernel}, options),
                       0.1);
    }
    x = flatten(x, 1);
    return {tanh(nn::linear(trace, nn::join_name(prefix, index), x, 32)), {}};
}

PartGraphs eyes() {
    const AgentSpec spec(
        ObservationSpec().box("picture", static_cast<int64_t>(Gaze().size()), {0, 1}),
        ActionSpec().discrete("word", kWordCount));
    return trace(spec, PolicyNetwork{.forward = look},
                 agents::BehaviorCloning{.n_agents = 2,
                                         .buffer_size = 512,
                                         .batch_size = 16,
                                         .learning_starts = 4,
                                         .learning_rate = 1e-3});
}

}  // namespace

PartGraphs trace_part(Part part) {
    constexpr std::array kTrace = {legs, will, heart, eyes};
    return kTrace[static_cast<size_t>(part)]();
}

}  // namespace hearth::ember
