// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "game.hpp"

#include <algorithm>
#include <cmath>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr float kStep = 0.05f;  // the square reaches from -1 to 1
constexpr float kReach = 0.1f;
constexpr int kMaxAge = 100;

float distance(Point a, Point b) {
    return std::hypot(a.x - b.x, a.y - b.y);
}

}  // namespace

Result<Game> Game::create(Context& context) {
    // The runners observe the way to the flag, and act by a step.
    const AgentSpec spec(ObservationSpec().position("place", 2, 1).position("flag", 2, 1),
                         ActionSpec().continuous("step", 2));
    Game game;
    HEARTH_ASSIGN(game.agents_, make_agents(context, spec, mlp_network({32, 32}), Ppo{}));
    game.runners_.resize(game.agents_.capacity());
    for (Runner& runner : game.runners_) {
        HEARTH_ASSIGN(runner.id, game.agents_.add());
        runner.place = game.random_point(), runner.flag = game.random_point();
        game.observe(runner);
    }
    return game;
}

Status Game::play() {
    agents_.poll();
    for (Runner& runner : runners_) HEARTH_TRY(move(runner));
    return {};
}

Status Game::record(VkCommandBuffer commands) {
    return agents_.record(commands, {.learning_budget_us = 4'000}).status();
}

Status Game::move(Runner& runner) {
    const std::span<const float> step = agents_.action(runner.id);
    if (step.empty()) return {};  // the first decision has not arrived yet
    const float before = distance(runner.place, runner.flag);
    runner.place = {std::clamp(runner.place.x + kStep * step[0], -1.0f, 1.0f),
                    std::clamp(runner.place.y + kStep * step[1], -1.0f, 1.0f)};
    const float after = distance(runner.place, runner.flag);
    const bool is_there = after < kReach, is_late = ++runner.age >= kMaxAge;

    // The reward comes before the end of the episode that it belongs to.
    HEARTH_TRY(agents_.add_reward(runner.id, before - after + (is_there ? 1.0f : 0.0f)));
    if (is_there || is_late) {
        HEARTH_TRY(agents_.end_episode(
            runner.id, is_there ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
        runner.flag = random_point(), runner.age = 0;
    }
    observe(runner);
    return agents_.log("flags", is_there ? 1 : 0);
}

void Game::observe(const Runner& runner) {
    const std::span<float> seen = agents_.observation(runner.id);
    seen[0] = runner.place.x, seen[1] = runner.place.y;
    seen[2] = runner.flag.x - runner.place.x, seen[3] = runner.flag.y - runner.place.y;
}

Point Game::random_point() {
    std::uniform_real_distribution<float> anywhere(-1, 1);
    const float x = anywhere(random_), y = anywhere(random_);
    return {x, y};
}
