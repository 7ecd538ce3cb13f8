// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Simulations written as tensor code: worlds that live on the device, so that acting, stepping and storing
// are one entry of a program and nothing returns to the host (docs/design/0015-simulations.md).
//
//     const Traces traces = trace_agents(schema, mlp_network({64, 64}), ppo, simulation, {});
//     // Each window: record rollout ppo.horizon / steps times, prepare, learn (epochs * minibatches times), publish.

#pragma once

#include <hearth/agents/learners.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace hearth::agents {

/// What a step of each world comes to.
struct SimulationStep {
    Tensor state;   ///< f32 [worlds, state width]
    Tensor reward;  ///< f32 [worlds * agents in each]
    Tensor
        is_over;  ///< bool [worlds]: the episode has ended; limits of time are those of Simulation
};

/// A world of one agent or several, for as many worlds at a time as there are rows.  Agents lie world by world.  Each
/// world's part of a result must depend on that world's part of the arguments alone.
struct Simulation {
    int64_t agents = 1;       ///< in each world; their episode is the world's
    int64_t state_width = 0;  ///< floats that a world is
    int64_t step_limit = 0;   ///< episodes are cut off after so many steps; 0: never
    /// First states f32 [worlds, state width], by random_uniform() and its like with `counter` (u32 []) and streams
    /// of `key`.
    std::function<Tensor(const Tensor& counter, uint64_t key, int64_t worlds)> begin;
    /// state [worlds, state width] -> what the schema's agents observe: [worlds * agents, observation width].
    std::function<Tensor(const Tensor& state)> observe;
    /// action: [worlds * agents, action width], in the game's units; counter and key: as those of begin(), for
    /// what happens by chance.
    std::function<SimulationStep(const Tensor& state, const Tensor& action, const Tensor& counter,
                                 uint64_t key)>
        step;
};

struct RolloutOptions {
    /// Steps of each world in one recording of the entry `rollout`; divides the horizon.  0: a whole window, for
    /// GPUs.  The code of the entry grows with it.
    int64_t steps = 0;
    /// Streams of random numbers of worlds, and of what agents choose.
    uint64_t seed = 0;
    /// For training one brain on several devices, each with worlds of its own: the entries gradient and step in place
    /// of learn.
    bool data_parallel = false;
};

/// The entries act, rollout, prepare, learn, publish and adapt: ppo.agents agents in as many worlds as they fill.  `rollout`
/// has no inputs.  It acts by the published weights, steps all worlds, begins anew where an episode ended, and writes
/// what they did into the window that `prepare` reads; the worlds are transient states.  A window is the same to the
/// bit however it is cut into recordings, on one device.  Each also tells
///
///     rollout.end             f32 [horizon * agents], time first: 0, 1 (over) or 2 (cut off) for each step
///     rollout.episode_return  the same shape: where end is not 0, the sum of the episode's rewards
///
/// which stay until the next window overwrites them.  `prepare` counts samples and episodes, and scales rewards
/// (Ppo::normalize_rewards) by what was known before the window.
///
/// With data_parallel a minibatch is two entries, so that what devices found can be summed in between:
///
///     gradient  -> sums f32 [n]: the gradient of all params, then the loss and its parts
///     step      sums f32 [n], live settings: takes the step behind all rails, which see the sums
///
/// and the state learn.minibatches f32 [epochs * minibatches, 3] holds of each minibatch how many samples it has, and
/// the mean and deviation (n - 1) of their advantages.  The sum over devices is the gradient of all their samples
/// together where that state was replaced, between prepare and the first gradient, by what is true of all of them.
/// Equal weights, statistics and sums give equal steps: devices of one kind stay equal to the bit.
/// Errors, kept by the traces: as trace_agents(); kInvalidArgument if agents do not fill worlds; kUnsupported for masked choices and for networks with memory.
Traces trace_agents(const AgentSchema& schema, const Network& network, const Ppo& ppo,
                    const Simulation& simulation, const RolloutOptions& options, uint64_t seed = 0);

/// For compile(): what plays and learns, without adapt.
std::vector<Trace*> simulated_entries_of(const Traces& traces);

}  // namespace hearth::agents
