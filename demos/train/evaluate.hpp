// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How well a brain plays: seeded episodes without chance, in the worlds that are C++.

#pragma once

#include "train/checkpoint.hpp"

#include <string>
#include <vector>

namespace hearth::train {

/// Embers less frost of a hatchling in a minute, on average, that a brain has learned with.
inline constexpr double kHatchlingsBar = 20;

struct Evaluation {
    std::string task;
    double bar = 0;                ///< what an episode that succeeded returns at least
    std::vector<double> returns;   ///< of each episode, by seed
    std::vector<int64_t> lengths;  ///< of each episode
    std::vector<int64_t>
        actions;  ///< how often each choice was taken, or each tenth of a number's range
    double seconds = 0;

    double mean() const;
    double deviation() const;
    double worst() const;
    double success() const;  ///< the part of episodes whose return is the bar or more
};

/// Episode i begins from seed + i, whatever the others do.
Result<Evaluation> evaluate(standalone::Device& device, const Checkpoint& checkpoint,
                            int64_t episodes, uint64_t seed);

/// One brain of a league: its rating and how sure that is.
struct Rating {
    double elo = 0;            ///< the mean of all brains is 1500
    double low = 0, high = 0;  ///< 95 of 100 resamplings of the seeds lie between
};

/// Brains that played the same seeds: of two of them the one with the higher return wins that seed, equal ones draw.
/// Ratings are the Bradley-Terry model's (Bradley and Terry, 1952) in Elo's units, with a draw against an average brain for
/// each, so that one that always wins is rated, too; intervals by bootstrap over seeds.
/// returns: [brains][episodes], equally many episodes.  Deterministic.
std::vector<Rating> rate(const std::vector<std::vector<double>>& returns, uint64_t seed = 0);

}  // namespace hearth::train
