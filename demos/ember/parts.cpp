// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "parts.hpp"

#include <hearth/agents/learner_def.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>

#include <algorithm>
#include <utility>

namespace hearth::ember {
namespace {

using agents::ActionSpec;
using agents::AgentGraphs;
using agents::AgentManifest;
using agents::AgentSpec;
using agents::ObservationSpec;
using agents::PolicyNetwork;
using agents::PolicyOutput;

/// A part before it is compiled.
struct PartGraphs {
    AgentGraphs graphs;
    AgentManifest manifest;
};

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

Result<PartPrograms> make_part_programs(const Context& context, BindingModel binding_model) {
    using Make = PartGraphs (*)();
    constexpr std::array<Make, kPartCount> kMake = {legs, will, heart, eyes};
    PartPrograms programs;
    for (size_t i = 0; i < kPartCount; ++i) {
        const PartGraphs part = kMake[i]();
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, context.device_caps());
        options.binding_model = binding_model;
        options.max_batch_size = part.manifest.n_agents;
        HEARTH_ASSIGN(const Compiled compiled,
                      compile(agents::runtime_entries(part.graphs, part.manifest), options));
        HEARTH_ASSIGN(programs[i].program, LoadedProgram::load(context, compiled.bytes));
        programs[i].manifest = part.manifest.save();
        HEARTH_ASSIGN(programs[i].fresh, initial_brain(compiled.bytes));
        programs[i].fresh.base_hash = hash_of(programs[i].fresh);
        programs[i].fresh.user_schema_hash = part.manifest.schema.hash();
    }
    return programs;
}

Result<std::vector<std::byte>> newborn(const PartProgram& part, uint64_t seed) {
    constexpr std::string_view kPublished = "published.param.";  // copies used for acting
    constexpr double kOwn = 0.15;  ///< of its own, relative to the size of a weight
    Brain brain = part.fresh;
    Dice dice{seed};
    for (BrainTensor& tensor : brain.tensors) {
        if (tensor.is_state || tensor.name.ends_with("log_std")) continue;
        for (int64_t i = 0; i < tensor.value.element_count(); ++i) {
            const double weight = tensor.value.get(i);
            tensor.value.set(i, weight * (1 + kOwn * double{dice.symmetric()}));
        }
    }
    for (BrainTensor& tensor : brain.tensors) {
        if (!tensor.name.starts_with(kPublished)) continue;
        const BrainTensor* const own = brain.find(tensor.name.substr(kPublished.size()));
        if (own != nullptr) tensor.value = own->value;
    }
    return save_brain(brain);
}

}  // namespace hearth::ember
