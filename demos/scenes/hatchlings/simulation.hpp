// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing of world.hpp as tensor code: the same rules and the same random numbers in f32, many clearings at a
// time, on the device.

#pragma once

#include "hatchlings/world.hpp"

#include <hearth/agents/simulation.hpp>

#include <span>
#include <vector>

namespace hearth::hatchlings {

struct SimulationOptions {
    uint32_t hatchlings = 16;
    /// Those of each clearing.
    Rules rules;
    /// Each clearing has varied_rules() of its own instead.
    bool varies_rules = false;
    int64_t step_limit = 900;  ///< decisions: a minute
};

/// A step is a decision: kFramesPerDecision frames.  Clearings are for schema()'s agents, `hatchlings` in each.
agents::Simulation make_simulation(const SimulationOptions& options);

/// Random numbers of frame `frame` of a step with this counter and key, of world `row` of `rows`: World steps equally by
/// them.
Chance chance_of_frame(uint32_t counter, uint64_t key, uint32_t frame, uint32_t row, uint32_t rows);
/// The same for the beginning.
Chance chance_of_begin(uint32_t counter, uint64_t key, uint32_t row, uint32_t rows);

/// A world as a row of the simulation's state.  Errors are programming errors: a world with another number of
/// hatchlings, or with more drifters than the simulation has room for.
std::vector<float> state_of(const SimulationOptions& options, const WorldState& world);
/// The other way round; what a simulation does not know (embers touched, the score) is zero.
WorldState world_of(const SimulationOptions& options, std::span<const float> state);

}  // namespace hearth::hatchlings
