// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The configuration of a training run, a small JSON file (docs/how-to/training_before_shipping.md).

#pragma once

#include <hearth/agents/learners.hpp>
#include <hearth/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::train {

/// The task whose environments are the game's clearings, with sixteen of ppo.agents each.
inline constexpr std::string_view kHatchlings = "Hatchlings";
/// The task in which each of ppo.agents drives a car alone on the game's circuit.
inline constexpr std::string_view kGhostLap = "GhostLap";

struct TrainConfig {
    std::string task = "CartPole";  ///< one of classic::kTaskNames, kHatchlings or kGhostLap
    uint64_t seed = 0;
    int64_t steps = 100'000;  ///< total over all environments
    std::vector<int64_t> network = {64, 64};
    bool decays = false;              ///< learning rate and clip range decay to zero over the run
    int64_t checkpoint_windows = 50;  ///< rollouts per checkpoint
    /// Steps of each environment per recording of the entry rollout. 0: automatic, at most 2 on a
    /// GPU, at most 4 without one; 1 for the games, whose steps are several frames.
    int64_t rollout_steps = 0;
    /// Randomizes the rules of each episode within the range of player settings. For Hatchlings
    /// only.
    bool varies_rules = false;
    /// A .demo file (docs/reference/demo_format.md) of agents with the task's specification, which
    /// PPO imitates with the weight ppo.bc_coef; empty: none.  If ppo.demo_capacity is 0, it is the
    /// number of the file's steps.
    std::string demonstrations;
    agents::Ppo ppo;  ///< learning rate and clip range are runtime settings

    /// Returns text that parses to an equal configuration.
    std::string text() const;
};

/// Missing keys have default values.
/// Errors: kInvalidArgument for invalid JSON, unknown keys, and values of another type or out of
/// range, naming each.
Result<TrainConfig> parse_config(std::string_view text);

}  // namespace hearth::train
