// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game: runners look for their flags in a square, and learn to walk to them while the game runs.

#pragma once

#include <hearth/hearth.hpp>

#include <random>
#include <vector>

struct Point {
    float x = 0, y = 0;
};

struct Runner {
    hearth::agents::AgentId id{};
    Point place, flag;
    int age = 0;  // frames since the flag was placed
};

class Game {
  public:
    /// Compiles the networks for the context's device, which takes seconds, and adds the runners.
    static hearth::Result<Game> create(hearth::Context& context);

    /// Advances the runners by one frame.  Call it after Context::begin_frame().
    hearth::Status play();
    /// Records decisions, and learning that takes up to 4 ms, into the frame's commands.
    hearth::Status record(VkCommandBuffer commands);

    const std::vector<Runner>& runners() const { return runners_; }
    hearth::agents::Agents& agents() { return agents_; }
    /// Mean return of the latest episodes: larger is better.
    float score() const { return agents_.status()[hearth::agents::AgentMetric::kEpisodeReturn]; }

  private:
    hearth::Status move(Runner& runner);
    void observe(const Runner& runner);
    Point random_point();

    hearth::agents::Agents agents_;
    std::vector<Runner> runners_;
    std::mt19937 random_{1};
};
