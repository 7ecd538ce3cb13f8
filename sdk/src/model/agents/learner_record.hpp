// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Helpers to write the record of a learner.

#pragma once

#include <hearth/agents/learner_def.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace hearth::agents {

inline constexpr Range kAgents{1, 1 << 20};
inline constexpr Range kSteps{1, 1 << 16};
inline constexpr Range kAnyCount{1, 1 << 24};
inline constexpr Range kFraction{0, 1};
inline constexpr Range kCoefficient{0, 1000};
inline constexpr Range kLimit{0, 1e9};
inline constexpr Range kLogStd{-20, 10};

/// The class of a pointer to a member.
template <class Class, class Type>
Class class_of(Type Class::*);

/// The member at a path: that of a struct, or of a struct in it.
template <auto Member, auto... Rest>
constexpr auto& member_at(auto& object) {
    if constexpr (sizeof...(Rest) == 0)
        return object.*Member;
    else
        return member_at<Rest...>(object.*Member);
}

template <auto Member, auto... Rest>
HyperparameterValue get_member(const void* learner) {
    const auto& value =
        member_at<Member, Rest...>(*static_cast<const decltype(class_of(Member))*>(learner));
    if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>)
        return static_cast<int64_t>(value);
    else
        return value;
}

template <auto Member, auto... Rest>
void set_member(void* learner, const HyperparameterValue& value) {
    auto& member = member_at<Member, Rest...>(*static_cast<decltype(class_of(Member))*>(learner));
    using Type = std::decay_t<decltype(member)>;
    if constexpr (std::is_enum_v<Type>)
        member = static_cast<Type>(*std::get_if<int64_t>(&value));
    else
        member = *std::get_if<Type>(&value);
}

/// Completes the record of the member at a path.
template <auto... Path>
constexpr HyperparameterDef member(HyperparameterDef def) {
    def.get = get_member<Path...>;
    def.set = set_member<Path...>;
    return def;
}

/// Converts to every type, to count members.
struct AnyMember {
    template <class Type>
    operator Type() const;
};

/// Number of members of an aggregate.
template <class Aggregate, class... Members>
consteval size_t member_count() {
    if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; })
        return member_count<Aggregate, Members..., AnyMember>();
    else
        return sizeof...(Members);
}

template <size_t... Sizes>
constexpr auto concat_defs(const std::array<HyperparameterDef, Sizes>&... parts) {
    std::array<HyperparameterDef, (Sizes + ...)> all{};
    size_t count = 0;
    const auto append = [&](const auto& part) {
        for (const HyperparameterDef& def : part) all[count++] = def;
    };
    (append(parts), ...);
    return all;
}

// --- Records of members that several learners have ---

template <auto... Path>
constexpr HyperparameterDef n_agents_def(std::string_view symbol = {}) {
    return member<Path...>({.name = "n_agents",
                            .description = "maximum number of agents",
                            .range = kAgents,
                            .symbol = symbol,
                            .sb3 = "n_envs"});
}
template <auto... Path>
constexpr HyperparameterDef learning_rate_def(std::string_view symbol = {}) {
    return member<Path...>({.name = "learning_rate",
                            .description = "of Adam",
                            .range = kFraction,
                            .symbol = symbol,
                            .sb3 = "learning_rate",
                            .ml_agents = "learning_rate"});
}
template <auto... Path>
constexpr HyperparameterDef gamma_def() {
    return member<Path...>({.name = "gamma",
                            .description = "discount of a decision",
                            .range = kFraction,
                            .symbol = "gamma",
                            .sb3 = "gamma",
                            .ml_agents = "reward_signals.extrinsic.gamma"});
}
template <auto... Path>
constexpr HyperparameterDef log_std_init_def() {
    return member<Path...>({.name = "log_std_init",
                            .description = "initial log std of continuous actions",
                            .range = kLogStd,
                            .sb3 = "policy_kwargs.log_std_init"});
}
template <auto... Path>
constexpr HyperparameterDef log_std_min_def() {
    return member<Path...>(
        {.name = "log_std_min", .description = "lower bound of log std", .range = kLogStd});
}
template <auto... Path>
constexpr HyperparameterDef log_std_max_def() {
    return member<Path...>(
        {.name = "log_std_max", .description = "upper bound of log std", .range = kLogStd});
}
template <auto... Path>
constexpr HyperparameterDef normalize_observations_def() {
    return member<Path...>({.name = "normalize_observations",
                            .description = "subtracts the mean and divides by the std",
                            .sb3 = "VecNormalize.norm_obs",
                            .ml_agents = "normalize"});
}
template <auto... Path>
constexpr HyperparameterDef huber_delta_def() {
    return member<Path...>(
        {.name = "huber_delta", .description = "Huber delta; 0: squared error", .range = kLimit});
}

// Of a replay buffer without a pace; those of ReplayOptions have names elsewhere.
template <auto Member>
constexpr HyperparameterDef buffer_size_def() {
    return member<Member>(
        {.name = "buffer_size", .description = "samples of the replay buffer", .range = kAnyCount});
}
template <auto Member>
constexpr HyperparameterDef batch_size_def() {
    return member<Member>(
        {.name = "batch_size", .description = "samples of a minibatch", .range = kAnyCount});
}
template <auto Member>
constexpr HyperparameterDef learning_starts_def() {
    return member<Member>({.name = "learning_starts",
                           .description = "samples before the first step of the optimizer",
                           .range = kAnyCount});
}

/// LearnerDef::set_schedule of a learner with ReplayOptions.
template <class Learner>
void set_learning_starts(const void* learner, AgentManifest& manifest) {
    manifest.learning_starts =
        static_cast<uint32_t>(static_cast<const Learner*>(learner)->replay.learning_starts);
}

/// Records of SafetyLimits, the member `Limits` of a learner.
template <auto Limits>
constexpr auto limit_defs() {
    const auto defs = std::to_array<HyperparameterDef>({
        member<Limits, &SafetyLimits::clip_obs>({.name = "clip_obs",
                                                 .description = "clamps normalized observations",
                                                 .range = kLimit,
                                                 .sb3 = "VecNormalize.clip_obs"}),
        member<Limits, &SafetyLimits::clip_reward>({.name = "clip_reward",
                                                    .description = "clamps rewards, after scaling",
                                                    .range = kLimit,
                                                    .sb3 = "VecNormalize.clip_reward"}),
        member<Limits, &SafetyLimits::max_grad_norm>(
            {.name = "max_grad_norm",
             .description = "clips the global gradient norm",
             .range = kLimit,
             .sb3 = "max_grad_norm"}),
        member<Limits, &SafetyLimits::target_kl>(
            {.name = "target_kl",
             .description = "PPO: stops the update of a rollout beyond this KL; 0: off",
             .range = kLimit,
             .sb3 = "target_kl"}),
        member<Limits, &SafetyLimits::max_weight_drift>(
            {.name = "max_weight_drift",
             .description = "relative distance of weights from their initial values beyond which "
                            "nothing is published; 0: off",
             .range = kLimit}),
        member<Limits, &SafetyLimits::max_update_ratio>(
            {.name = "max_update_ratio",
             .description = "skips optimizer steps that change a weight matrix by more than this "
                            "fraction; 0: off",
             .range = kLimit}),
    });
    static_assert(defs.size() == member_count<SafetyLimits>(), "a member has no record");
    return defs;
}

/// Records of ReplayOptions, the member `Replay` of a learner.
template <auto Replay>
constexpr auto replay_defs() {
    const auto defs = std::to_array<HyperparameterDef>({
        n_agents_def<Replay, &ReplayOptions::n_agents>(),
        member<Replay, &ReplayOptions::buffer_size>({.name = "buffer_size",
                                                     .description = "samples of the replay buffer",
                                                     .range = kAnyCount,
                                                     .symbol = "N",
                                                     .sb3 = "buffer_size",
                                                     .ml_agents = "buffer_size"}),
        member<Replay, &ReplayOptions::batch_size>({.name = "batch_size",
                                                    .description = "samples of a minibatch",
                                                    .range = kAnyCount,
                                                    .sb3 = "batch_size",
                                                    .ml_agents = "batch_size"}),
        member<Replay, &ReplayOptions::learning_starts>(
            {.name = "learning_starts",
             .description = "samples before the first step of the optimizer",
             .range = kAnyCount,
             .sb3 = "learning_starts",
             .ml_agents = "buffer_init_steps"}),
        member<Replay, &ReplayOptions::train_freq>({.name = "train_freq",
                                                    .description = "samples between updates",
                                                    .range = kAnyCount,
                                                    .sb3 = "train_freq",
                                                    .ml_agents = "steps_per_update"}),
        member<Replay, &ReplayOptions::gradient_steps>({.name = "gradient_steps",
                                                        .description = "minibatches of an update",
                                                        .range = kAnyCount,
                                                        .sb3 = "gradient_steps"}),
        member<Replay, &ReplayOptions::waiting_decisions>(
            {.name = "waiting_decisions",
             .description = "decisions that may wait for the learner before collection pauses",
             .range = {1, 1 << 16}}),
        member<Replay, &ReplayOptions::reward_scale>({.name = "reward_scale",
                                                      .description = "factor of rewards",
                                                      .range = kLimit,
                                                      .ml_agents = "reward_signals.extrinsic."
                                                                   "strength"}),
        normalize_observations_def<Replay, &ReplayOptions::normalize_observations>(),
    });
    static_assert(defs.size() == member_count<ReplayOptions>(), "a member has no record");
    return defs;
}

/// OK, or "PPO: gamma is 1.5, expected 0 to 1": the first value out of its range, or a warm-up that
/// does not fit into the replay buffer.
Status check_hyperparameters(std::string_view title, std::span<const HyperparameterDef> defs,
                             const void* learner);

/// Completes the record of a learner.  Build: AgentGraphs(spec, network, learner, seed).
template <class Learner, auto Build>
LearnerDef define_learner(LearnerDef def) {
    def.create = [](const void* copied) -> std::shared_ptr<void> {
        return copied == nullptr ? std::make_shared<Learner>()
                                 : std::make_shared<Learner>(*static_cast<const Learner*>(copied));
    };
    def.build = [](const AgentSpec& spec, const PolicyNetwork& network, const void* learner,
                   uint64_t seed) {
        return Build(spec, network, *static_cast<const Learner*>(learner), seed);
    };
    return def;
}

}  // namespace hearth::agents
