// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "hatchlings/learner.hpp"

#include "hatchlings/world.hpp"

namespace hearth::hatchlings {

using agents::Actions;
using agents::Fields;

agents::AgentSchema schema() {
    // The world scales what it shows, so ranges are as they are.
    return agents::AgentSchema(
        Fields()
            .numbers("velocity", 2)
            .numbers("place", 2)
            .array("embers", 3, Fields().numbers("toward", 2))
            .array("motes", 3,
                   Fields().numbers("toward", 2).numbers("velocity", 2).numbers("cold", 1))
            .flag("chilled")
            .flag("hot_night"),
        Actions().drive("thrust", kActionWidth));
}

agents::Ppo learner(uint32_t hatchlings) {
    agents::Ppo ppo;  // its defaults are for such a group
    ppo.agents = hatchlings;
    ppo.horizon = kHorizon;
    // A minibatch is one slice of learning at least: of a thousand hatchlings' window a fourth would take longer than
    // a frame has for it.
    constexpr int64_t kMostSamples = 2048;
    const int64_t samples = ppo.agents * ppo.horizon;
    while (samples > kMostSamples * ppo.minibatches && samples % (2 * ppo.minibatches) == 0)
        ppo.minibatches *= 2;
    // What they see and are rewarded with lies in the unit range already.  Normalized by what was seen so
    // far it keeps changing its meaning while it is rare: tried, and it takes them three times as long.
    ppo.normalize_observations = ppo.normalize_rewards = false;
    // Of twenty seeds on an H200 19 learned to find three times as many embers in three minutes, and none got
    // worse; with 1e-3 and 0.003 three stopped daring anything.
    ppo.learning_rate = 5e-4;
    ppo.entropy = 0.01;
    // What a possessed one is shown counts as much as rewards do while there is something; the ring holds the last
    // two minutes of it.
    ppo.demonstrations = 2048;
    ppo.first_log_deviation = 0;  // they begin as explorers: identical hatchlings share one meal
    return ppo;
}

agents::Network network(uint64_t seed) {
    return agents::mlp_network({64, 64}, tanh, seed);
}

}  // namespace hearth::hatchlings
