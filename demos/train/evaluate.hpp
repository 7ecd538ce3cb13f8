// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates brains: seeded episodes with deterministic actions, in the C++ environments.

#pragma once

#include "train/checkpoint.hpp"

#include <string>
#include <vector>

namespace hearth::train {

/// Embers minus frost per hatchling and minute, on average, that a trained brain reaches.
inline constexpr double kHatchlingsBar = 20;

struct Evaluation {
    std::string task;
    double bar = 0;                ///< minimum return of a successful episode
    std::vector<double> returns;   ///< per episode, in seed order
    std::vector<int64_t> lengths;  ///< per episode
    std::vector<int64_t>
        actions;  ///< histogram of discrete actions, or of tenths of a continuous action's range
    double seconds = 0;

    double mean() const;
    double deviation() const;
    double worst() const;
    double success() const;  ///< fraction of episodes with at least the bar's return
};

/// Episode i starts from seed + i, independently of the others.
Result<Evaluation> evaluate(standalone::Device& device, const Checkpoint& checkpoint,
                            int64_t episodes, uint64_t seed);

/// Rating of one brain in a league, with its confidence interval.
struct Rating {
    double elo = 0;            ///< the mean of all brains is 1500
    double low = 0, high = 0;  ///< 95 % confidence interval, by bootstrap over seeds
};

/// Rates brains that played the same seeds. In each pair the brain with the higher return wins that
/// seed; equal returns draw. Ratings are those of the Bradley-Terry model (Bradley and Terry, 1952)
/// in Elo units, with one draw against an average brain each, so that a brain that always wins has
/// a finite rating; intervals by bootstrap over seeds. returns: [brains][episodes], equally many
/// episodes. Deterministic.
std::vector<Rating> rate(const std::vector<std::vector<double>>& returns, uint64_t seed = 0);

}  // namespace hearth::train
