// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Simulations written as tensor code: vectorized environments on the device, so that acting,
// stepping and storing are one entry of a program, without transfers to the CPU
// (docs/design/0015-simulations.md).
//
//     const AgentGraphs graphs = build_agent_graphs(spec, mlp_network({64, 64}), ppo, env, {});
//     // Per rollout: record rollout ppo.n_steps / steps_per_recording times, compute_advantages,
//     // learn (n_epochs * n_minibatches times), publish.

#pragma once

#include <hearth/agents/learners.hpp>
#include <hearth/core/cpp20.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace hearth::agents {

/// Result of a step of all worlds.
struct StepResult {
    Tensor state = {};   ///< f32 [worlds, state_size]
    Tensor reward = {};  ///< f32 [worlds * n_agents]
    /// bool [worlds].  Time limits do not belong here: see VectorEnv::max_episode_steps.
    Tensor terminated = {};
};

/// An environment of one or several agents, batched over worlds.  Agents are ordered world by
/// world.  Each world's part of a result must depend only on that world's part of the arguments.
struct VectorEnv {
    int64_t n_agents = 1;           ///< per world; they share the world's episode
    int64_t state_size = 0;         ///< floats per world
    int64_t max_episode_steps = 0;  ///< truncates episodes after this many steps; 0: never
    /// Initial states f32 [worlds, state_size], randomized by random_uniform() and similar with
    /// `counter` (u32 []) and streams of `key`.
    std::function<Tensor(const Tensor& counter, uint64_t key, int64_t worlds)> reset;
    /// Observations: state [worlds, state_size] -> [worlds * n_agents, observation size].
    std::function<Tensor(const Tensor& state)> observe;
    /// Advances all worlds by one step.  action: [worlds * n_agents, action size], in the game's
    /// units; counter, key: for randomness, as in reset().
    std::function<StepResult(const Tensor& state, const Tensor& action, const Tensor& counter,
                             uint64_t key)>
        step;
};

struct RolloutOptions {
    /// Steps of each world per recording of the entry `rollout`; divides Ppo::n_steps.  0: a whole
    /// rollout, for GPUs.  Code size grows with it.
    int64_t steps_per_recording = 0;
    /// Seed of the random streams of worlds and action sampling.
    uint64_t seed = 0;
    /// For data-parallel training on several devices, each with its own worlds: the entries
    /// gradient and step replace learn.
    bool data_parallel = false;
};

/// Traces the entries act, rollout, compute_advantages, learn, publish and shrink_and_perturb, for
/// ppo.n_agents agents in as many worlds as they fill.  `rollout` has no inputs.  It acts with the
/// published weights, steps all worlds, resets those whose episode ended, and writes the samples
/// into the rollout that `compute_advantages` reads; the worlds are non-persistent states.  A
/// rollout is bitwise equal however it is split into recordings, on one device.  It also has the
/// outputs
///
///     rollout.end             f32 [n_steps * n_agents], time-major: 0, 1 (terminated),
///                             2 (truncated)
///     rollout.episode_return  same shape: the episode's sum of rewards where end is not 0
///
/// as states, which stay until the next rollout overwrites them.  `compute_advantages` counts
/// samples and episodes, and scales rewards (Ppo::normalize_rewards) by statistics from before the
/// rollout.
///
/// With data_parallel a minibatch is two entries, between which gradients are summed over devices:
///
///     gradient  -> sums f32 [n]: the gradient of all parameters, then the loss and its terms
///     step      sums f32 [n], tunable hyperparameters: optimizer step, with all safety limits
///               applied to the sums
///
/// The state learn.minibatches f32 [n_epochs * n_minibatches, 3] holds per minibatch its number of
/// samples, and the mean and std (n - 1) of their advantages.  For the sum over devices to be the
/// gradient of all their samples, replace that state between compute_advantages and the first
/// gradient by the values over all devices.  Equal weights, statistics and sums give equal steps:
/// devices of one kind stay bitwise equal.
/// Errors, recorded in the graphs: as build_agent_graphs() without a simulation; kInvalidArgument
/// if agents do not fill worlds; kUnsupported for masked actions and recurrent networks.
AgentGraphs build_agent_graphs(const AgentSpec& schema, const PolicyNetwork& network,
                               const Ppo& ppo, const VectorEnv& simulation,
                               const RolloutOptions& options, uint64_t seed = 0);

/// For compile(): the entries of simulated training, without shrink_and_perturb.
std::vector<Trace*> simulation_entries(const AgentGraphs& graphs);

}  // namespace hearth::agents
