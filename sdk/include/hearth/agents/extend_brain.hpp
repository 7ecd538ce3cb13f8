// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of a game that has added fields to its observations: the new agents begin with what the
// old ones have learned.
//
//     HEARTH_ASSIGN(Agents agents, make_agents(context, spec_with_wind, network, Ppo{}));
//     HEARTH_TRY(load_extended(agents, *read_whole_file("before_wind.brain")));

#pragma once

#include <hearth/agents.hpp>
#include <hearth/core/cpp20.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace hearth::agents {

/// Returns the brain `fresh` with the weights and statistics of `brain`, whose agents lack some of
/// its observed fields.  Columns of weights are found by the fields' names; those of added fields
/// are zero, so that the brain acts as before until it learns to use them.  The optimizer and the
/// open rollout are those of `fresh`.
///
/// brain  any brain of agents, but no delta; fields keep their kind, size, range and order,
///        and others may stand between them
/// fresh  Agents::save(HEARTH_AGENTS_INITIAL_WEIGHTS) of the new agents, with the same network
///
/// Errors: kInvalidArgument naming the field that is gone or differs, or the tensor whose shape
/// follows from something else than the observations (other actions, another network); those of
/// load_brain().
Result<std::vector<std::byte>> extend_brain(std::span<const std::byte> brain,
                                            std::span<const std::byte> fresh);

/// Extends a brain to these agents and loads it with the next record.
/// Errors: those of extend_brain() and Agents::load().
inline Status load_extended(Agents& agents, std::span<const std::byte> brain) {
    HEARTH_ASSIGN(const std::vector<std::byte> fresh, agents.save(HEARTH_AGENTS_INITIAL_WEIGHTS));
    HEARTH_ASSIGN(const std::vector<std::byte> extended, extend_brain(brain, fresh));
    return agents.load(extended);
}

}  // namespace hearth::agents
