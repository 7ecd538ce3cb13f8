// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing of world.hpp as tensor code: the same rules and random numbers in f32, many
// clearings in parallel, on the device.

#pragma once

#include "hatchlings/world.hpp"

#include <hearth/agents/simulation.hpp>

#include <span>
#include <vector>

namespace hearth::hatchlings {

struct SimulationOptions {
    uint32_t hatchlings = 16;
    /// Rules of each clearing.
    Rules rules;
    /// Draws different rules for each clearing instead, with varied_rules().
    bool varies_rules = false;
    int64_t step_limit = 900;  ///< decisions: one minute
};

/// A step is a decision: kFramesPerDecision frames. For schema()'s agents, `hatchlings` per
/// clearing.
agents::VectorEnv make_simulation(const SimulationOptions& options);

/// Random numbers of frame `frame` of a step with this counter and key, for world `row` of `rows`.
/// World steps identically with them.
Chance chance_of_frame(uint32_t counter, uint64_t key, uint32_t frame, uint32_t row, uint32_t rows);
/// As above, for the initial state.
Chance chance_of_begin(uint32_t counter, uint64_t key, uint32_t row, uint32_t rows);

/// Converts a world to a row of the simulation's state. Asserts that the number of hatchlings
/// matches and that the drifters fit.
std::vector<float> state_of(const SimulationOptions& options, const WorldState& world);
/// The inverse; values that the simulation does not track (embers touched, the score) are zero.
WorldState world_of(const SimulationOptions& options, std::span<const float> state);

}  // namespace hearth::hatchlings
