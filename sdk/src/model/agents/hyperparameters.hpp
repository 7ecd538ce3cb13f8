// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The hyperparameters of each learner with their ranges, from which checks, manifests and the
// options of Python are made.

#pragma once

#include <hearth/agents/learners.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hearth::agents {

inline constexpr Range kAnyCount{1, 1 << 24};
inline constexpr Range kFraction{0, 1};
inline constexpr Range kCoefficient{0, 1000};
inline constexpr Range kLimit{0, 1e9};
inline constexpr Range kLogStd{-20, 10};

/// Calls visit(name, member, range) for the limits, all of which are double.
template <class Limits, class Visit>
void for_each_limit(Limits& limits, Visit&& visit) {
    visit("clip_obs", limits.clip_obs, kLimit);
    visit("clip_reward", limits.clip_reward, kLimit);
    visit("max_grad_norm", limits.max_grad_norm, kLimit);
    visit("target_kl", limits.target_kl, kLimit);
    visit("max_weight_drift", limits.max_weight_drift, kLimit);
    visit("max_update_ratio", limits.max_update_ratio, kLimit);
}

/// Calls visit(name, member, range) for each hyperparameter of a learner, except SafetyLimits and
/// lists, in the order of its struct.  Members are int64_t, double, bool (of any range) or
/// Hyperparameter; those of ReplayOptions are visited as if they were the learner's.
template <class Learner, class Visit>
void for_each_hyperparameter(Learner& l, Visit&& visit) {
    using Kind = std::remove_const_t<Learner>;
    if constexpr (std::is_same_v<Kind, Ppo>) {
        visit("n_agents", l.n_agents, kAnyCount);
        visit("n_steps", l.n_steps, kAnyCount);
        visit("n_minibatches", l.n_minibatches, kAnyCount);
        visit("n_epochs", l.n_epochs, kAnyCount);
        visit("bptt_length", l.bptt_length, kAnyCount);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("clip_range", l.clip_range, kFraction);
        visit("ent_coef", l.ent_coef, kCoefficient);
        visit("reference_kl_coef", l.reference_kl_coef, kCoefficient);
        visit("demo_capacity", l.demo_capacity, Range{0, kAnyCount.high});
        visit("bc_coef", l.bc_coef, kCoefficient);
        visit("gamma", l.gamma, kFraction);
        visit("gae_lambda", l.gae_lambda, kFraction);
        visit("vf_coef", l.vf_coef, kCoefficient);
        visit("clip_range_vf", l.clip_range_vf, kLimit);
        visit("adam_eps", l.adam_eps, Range{1e-12, 1});
        visit("log_std_init", l.log_std_init, kLogStd);
        visit("log_std_min", l.log_std_min, kLogStd);
        visit("log_std_max", l.log_std_max, kLogStd);
        visit("normalize_observations", l.normalize_observations, kFraction);
        visit("normalize_rewards", l.normalize_rewards, kFraction);
        visit("normalize_advantages", l.normalize_advantages, kFraction);
        visit("reward_scale", l.reward_scale, kLimit);
    } else if constexpr (std::is_same_v<Kind, ReplayOptions>) {
        visit("n_agents", l.n_agents, kAnyCount);
        visit("buffer_size", l.buffer_size, kAnyCount);
        visit("batch_size", l.batch_size, kAnyCount);
        visit("learning_starts", l.learning_starts, kAnyCount);
        visit("train_freq", l.train_freq, kAnyCount);
        visit("gradient_steps", l.gradient_steps, kAnyCount);
        visit("waiting_decisions", l.waiting_decisions, Range{1, 1 << 16});
        visit("reward_scale", l.reward_scale, kLimit);
        visit("normalize_observations", l.normalize_observations, kFraction);
    } else if constexpr (std::is_same_v<Kind, Dqn>) {
        for_each_hyperparameter(l.replay, visit);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("gamma", l.gamma, kFraction);
        visit("return_steps", l.return_steps, Range{1, 16});
        visit("double_q", l.double_q, kFraction);
        visit("dueling", l.dueling, kFraction);
        visit("prioritized_alpha", l.prioritized_alpha, Range{0, 10});
        visit("prioritized_beta", l.prioritized_beta, Range{0, 10});
        visit("target_update_interval", l.target_update_interval, kAnyCount);
        visit("tau", l.tau, kFraction);
        visit("huber_delta", l.huber_delta, kLimit);
    } else if constexpr (std::is_same_v<Kind, Sac>) {
        for_each_hyperparameter(l.replay, visit);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("gamma", l.gamma, kFraction);
        visit("tau", l.tau, kFraction);
        visit("ent_coef_init", l.ent_coef_init, Range{1e-9, 1e9});
        visit("target_entropy", l.target_entropy, Range{-1e6, 1e6});
        visit("log_std_min", l.log_std_min, kLogStd);
        visit("log_std_max", l.log_std_max, kLogStd);
    } else if constexpr (std::is_same_v<Kind, BehaviorCloning>) {
        visit("n_agents", l.n_agents, kAnyCount);
        visit("buffer_size", l.buffer_size, kAnyCount);
        visit("batch_size", l.batch_size, kAnyCount);
        visit("learning_starts", l.learning_starts, kAnyCount);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("log_std_init", l.log_std_init, kLogStd);
        visit("log_std_min", l.log_std_min, kLogStd);
        visit("log_std_max", l.log_std_max, kLogStd);
        visit("normalize_observations", l.normalize_observations, kFraction);
        visit("max_demonstrator_fraction", l.max_demonstrator_fraction, Range{1e-6, 1});
    } else if constexpr (std::is_same_v<Kind, Tamer>) {
        visit("n_agents", l.n_agents, kAnyCount);
        visit("buffer_size", l.buffer_size, kAnyCount);
        visit("batch_size", l.batch_size, kAnyCount);
        visit("learning_starts", l.learning_starts, kAnyCount);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("normalize_observations", l.normalize_observations, kFraction);
    } else {
        static_assert(std::is_same_v<Kind, Regression>);
        visit("input_size", l.input_size, kAnyCount);
        visit("output_size", l.output_size, kAnyCount);
        visit("buffer_size", l.buffer_size, kAnyCount);
        visit("batch_size", l.batch_size, kAnyCount);
        visit("learning_starts", l.learning_starts, kAnyCount);
        visit("learning_rate", l.learning_rate, kFraction);
        visit("huber_delta", l.huber_delta, kLimit);
        visit("target_limit", l.target_limit, Range{0, 1e15});
    }
}

/// Value of a hyperparameter of any type.
template <class Member>
double number_of(const Member& member) {
    if constexpr (std::is_same_v<Member, Hyperparameter>)
        return member.value();
    else
        return static_cast<double>(member);
}

/// OK, or "PPO: gamma is 1.5, expected 0 to 1".
Status check_in_range(std::string_view learner, std::string_view name, double value, Range range);

/// Checks that all hyperparameters are in their ranges, and that the warm-up of a replay buffer
/// fits into it.
template <class Learner>
Status check_hyperparameters(std::string_view learner, const Learner& l) {
    Status first;
    const auto check = [&](const std::string& name, const auto& member, Range range) {
        const double value = number_of(member);
        // NaN is the default of target_entropy.
        if (first.ok() && !(name == "target_entropy" && std::isnan(value)))
            first = check_in_range(learner, name, value, range);
    };
    double buffer_size = 0, learning_starts = 0;
    for_each_hyperparameter(l, [&](const char* name, const auto& member, Range range) {
        check(name, member, range);
        if (std::string_view(name) == "buffer_size") buffer_size = number_of(member);
        if (std::string_view(name) == "learning_starts") learning_starts = number_of(member);
    });
    for_each_limit(l.limits, [&](const char* name, const auto& member, Range range) {
        check(std::string("limits.") + name, member, range);
    });
    if (first.ok() && buffer_size > 0)
        return check_in_range(learner, "learning_starts", learning_starts, {1, buffer_size});
    return first;
}

}  // namespace hearth::agents
