// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a training run is made of, as one small JSON file (docs/training_before_shipping.md).

#pragma once

#include <hearth/agents/learners.hpp>
#include <hearth/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::train {

/// The task whose worlds are the clearings of the game, each with sixteen of ppo.agents.
inline constexpr std::string_view kHatchlings = "Hatchlings";
/// The task in which each of ppo.agents drives a car alone on the game's circuit.
inline constexpr std::string_view kGhostLap = "GhostLap";

struct TrainConfig {
    std::string task = "CartPole";  ///< of classic::kTaskNames, kHatchlings or kGhostLap
    uint64_t seed = 0;
    int64_t steps = 100'000;  ///< of all worlds together
    std::vector<int64_t> network = {64, 64};
    bool decays = false;              ///< learning rate and clip fall to zero over the run
    int64_t checkpoint_windows = 50;  ///< from one checkpoint to the next
    /// Steps of each world in one recording of the entry rollout; 0: at most 8 on a GPU, at most 4 without one; of
    /// the games, whose steps are several frames, 1.
    int64_t rollout_steps = 0;
    /// Each episode has rules of its own, as a player may come to set them.  Of Hatchlings alone.
    bool varies_rules = false;
    agents::Ppo ppo;  ///< learning rate and clip are live

    /// Text that parses to an equal config.
    std::string text() const;
};

/// Missing keys are defaults.
/// Errors: kInvalidArgument for what is no JSON, for keys that do not exist, values of another type or out of range,
/// each by name.
Result<TrainConfig> parse_config(std::string_view text);

}  // namespace hearth::train
