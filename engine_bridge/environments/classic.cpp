// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The classic control tasks (demos/scenes/classic) as environments, with Gymnasium's step limits.

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
constexpr char kDescription[] = R"({"version": 1, "environments": [
{"name": "CartPole", "agents": [1, 1], "step_limit": 500, "solved_at": 475,
 "observations": [{"name": "cart", "kind": "numbers", "width": 4}],
 "observation_low": [-4.8, null, -0.41887903, null], "observation_high": [4.8, null, 0.41887903, null],
 "actions": [{"name": "push", "kind": "choose", "count": 2}]},
{"name": "Acrobot", "agents": [1, 1], "step_limit": 500, "solved_at": -100,
 "observations": [{"name": "links", "kind": "numbers", "width": 6}],
 "observation_low": [-1, -1, -1, -1, -12.566371, -28.274334],
 "observation_high": [1, 1, 1, 1, 12.566371, 28.274334],
 "actions": [{"name": "torque", "kind": "choose", "count": 3}]},
{"name": "MountainCar", "agents": [1, 1], "step_limit": 200, "solved_at": -110,
 "observations": [{"name": "car", "kind": "numbers", "width": 2}],
 "observation_low": [-1.2, -0.07], "observation_high": [0.6, 0.07],
 "actions": [{"name": "push", "kind": "choose", "count": 3}]},
{"name": "MountainCarContinuous", "agents": [1, 1], "step_limit": 999, "solved_at": 90,
 "observations": [{"name": "car", "kind": "numbers", "width": 2}],
 "observation_low": [-1.2, -0.07], "observation_high": [0.6, 0.07],
 "actions": [{"name": "engine", "kind": "drive", "width": 1}]},
{"name": "Pendulum", "agents": [1, 1], "step_limit": 200, "solved_at": -200,
 "observations": [{"name": "pendulum", "kind": "numbers", "width": 3}],
 "observation_low": [-1, -1, -8], "observation_high": [1, 1, 8],
 "actions": [{"name": "torque", "kind": "drive", "width": 1, "low": -2, "high": 2}]}]})";

}  // namespace

struct hearth_environment {
    struct World {
        std::unique_ptr<Task> task;
        hearth::environments::EpisodeSeeds seeds;
        int steps = 0;
    };
    std::vector<World> worlds;

    std::span<float> row(float* observations, size_t world) const {
        const auto width = static_cast<size_t>(worlds[world].task->info().observation_width);
        return {observations + world * width, width};
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
        const bool is_cut_off = ++world.steps >= world.task->info().step_limit;
        ends[w] = static_cast<uint8_t>(outcome.terminated ? 1 : is_cut_off ? 2 : 0);
    }
}

void hearth_environment_destroy(hearth_environment* environment) {
    delete environment;
}

}  // extern "C"
