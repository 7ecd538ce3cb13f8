// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The classic control tasks (demos/scenes/classic) as environments, with Gymnasium's limits of
// steps.

#include "classic/task.hpp"
#include "episodes.hpp"
#include "hearth_environment.h"

#include <memory>
#include <span>
#include <vector>

using hearth::classic::make_task;
using hearth::classic::Outcome;
using hearth::classic::Task;

namespace {

// Bounds are those of Gymnasium's spaces; Acrobot's speed limits are 4 pi and 9 pi.
constexpr char kDescription[] = R"({"version": 2, "environments": [
{"name": "CartPole", "n_agents": [1, 1], "max_episode_steps": 500, "solved_at": 475,
 "observations": [{"name": "cart", "kind": "box", "size": 4}],
 "observation_low": [-4.8, null, -0.41887903, null], "observation_high": [4.8, null, 0.41887903, null],
 "actions": [{"name": "push", "kind": "discrete", "n": 2}]},
{"name": "Acrobot", "n_agents": [1, 1], "max_episode_steps": 500, "solved_at": -100,
 "observations": [{"name": "links", "kind": "box", "size": 6}],
 "observation_low": [-1, -1, -1, -1, -12.566371, -28.274334],
 "observation_high": [1, 1, 1, 1, 12.566371, 28.274334],
 "actions": [{"name": "torque", "kind": "discrete", "n": 3}]},
{"name": "MountainCar", "n_agents": [1, 1], "max_episode_steps": 200, "solved_at": -110,
 "observations": [{"name": "car", "kind": "box", "size": 2}],
 "observation_low": [-1.2, -0.07], "observation_high": [0.6, 0.07],
 "actions": [{"name": "push", "kind": "discrete", "n": 3}]},
{"name": "MountainCarContinuous", "n_agents": [1, 1], "max_episode_steps": 999, "solved_at": 90,
 "observations": [{"name": "car", "kind": "box", "size": 2}],
 "observation_low": [-1.2, -0.07], "observation_high": [0.6, 0.07],
 "actions": [{"name": "engine", "kind": "continuous", "size": 1}]},
{"name": "Pendulum", "n_agents": [1, 1], "max_episode_steps": 200, "solved_at": -200,
 "observations": [{"name": "pendulum", "kind": "box", "size": 3}],
 "observation_low": [-1, -1, -8], "observation_high": [1, 1, 8],
 "actions": [{"name": "torque", "kind": "continuous", "size": 1, "low": -2, "high": 2}]}]})";

}  // namespace

struct hearth_environment {
    struct World {
        std::unique_ptr<Task> task;
        hearth::environments::EpisodeSeeds seeds;
        int steps = 0;
    };
    std::vector<World> worlds;

    std::span<float> row(float* observations, size_t world) const {
        const auto size = static_cast<size_t>(worlds[world].task->info().observation_width);
        return {observations + world * size, size};
    }
};

extern "C" {

const char* hearth_environment_describe(void) {
    return kDescription;
}

hearth_environment* hearth_environment_create(const char* name, uint32_t worlds, uint32_t agents) {
    if (name == nullptr || agents != 1 || worlds == 0 || make_task(name) == nullptr) return nullptr;
    auto made = std::make_unique<hearth_environment>();
    made->worlds.resize(worlds);
    for (hearth_environment::World& world : made->worlds) world.task = make_task(name);
    return made.release();
}

void hearth_environment_reset(hearth_environment* environment, const uint8_t* which,
                              const uint64_t* seeds, float* observations) {
    for (size_t w = 0; w < environment->worlds.size(); ++w) {
        if (which != nullptr && which[w] == 0) continue;
        hearth_environment::World& world = environment->worlds[w];
        world.task->reset(seeds != nullptr ? world.seeds.begin(seeds[w]) : world.seeds.next());
        world.steps = 0;
        world.task->observe(environment->row(observations, w));
    }
}

void hearth_environment_step(hearth_environment* environment, const float* actions,
                             float* observations, float* rewards, uint8_t* ends) {
    for (size_t w = 0; w < environment->worlds.size(); ++w) {
        hearth_environment::World& world = environment->worlds[w];
        const Outcome outcome = world.task->step(actions[w]);
        world.task->observe(environment->row(observations, w));
        rewards[w] = static_cast<float>(outcome.reward);
        const bool is_truncated = ++world.steps >= world.task->info().step_limit;
        ends[w] = static_cast<uint8_t>(outcome.terminated ? 1 : is_truncated ? 2 : 0);
    }
}

void hearth_environment_destroy(hearth_environment* environment) {
    delete environment;
}

}  // extern "C"
