// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines the observations, actions, network and learner of hatchlings.

#include "hatchlings/learner.hpp"

#include "hatchlings/world.hpp"

namespace hearth::hatchlings {

using agents::ActionSpec;
using agents::ObservationSpec;

agents::AgentSpec schema() {
    // Observations are already scaled, so default ranges fit.
    return agents::AgentSpec(
        ObservationSpec()
            .box("velocity", 2)
            .box("place", 2)
            .array("embers", 3, ObservationSpec().box("toward", 2))
            .array("motes", 3, ObservationSpec().box("toward", 2).box("velocity", 2).box("cold", 1))
            .binary("chilled")
            .binary("hot_night"),
        ActionSpec().continuous("thrust", kActionWidth));
}

agents::Ppo learner(uint32_t hatchlings) {
    agents::Ppo ppo;
    ppo.n_agents = hatchlings;
    ppo.n_steps = kHorizon;
    // A minibatch is at least one slice of learning: a quarter of a thousand hatchlings' rollout
    // would take longer than a frame's budget.
    constexpr int64_t kMostSamples = 2048;
    const int64_t samples = ppo.n_agents * ppo.n_steps;
    while (samples > kMostSamples * ppo.n_minibatches && samples % (2 * ppo.n_minibatches) == 0)
        ppo.n_minibatches *= 2;
    // Observations and rewards are already in the unit range. Running normalization would keep
    // shifting them while the rare ones are sparse: it makes learning three times slower
    // (measured).
    ppo.normalize_observations = ppo.normalize_rewards = false;
    ppo.gamma = 0.97;  // embers lie seconds away
    // On an H200, 19 of twenty seeds learned to find three times as many embers in three minutes,
    // and none got worse; with a learning rate of 1e-3 and an entropy coefficient of 0.003 three
    // became passive.
    ppo.learning_rate = 5e-4;
    ppo.ent_coef = 0.01;
    // Demonstrations of a possessed hatchling weigh as much as rewards while there are any; the
    // replay buffer holds the last two minutes.
    ppo.demo_capacity = 2048;
    ppo.log_std_init = 0;  // explores first: identical policies share one ember
    return ppo;
}

agents::PolicyNetwork network(uint64_t seed) {
    return agents::mlp_network({64, 64}, tanh, seed);
}

}  // namespace hearth::hatchlings
