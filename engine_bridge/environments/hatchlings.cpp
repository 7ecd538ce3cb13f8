// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing of Hatchlings (demos/scenes/hatchlings) as an environment: each hatchling is an
// agent, rewarded for the embers and motes that it touches. A decision is held for
// kFramesPerDecision frames, as in the demo, and an episode is one minute.

#include "episodes.hpp"
#include "hatchlings/world.hpp"
#include "hearth_environment.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

using hearth::hatchlings::kActionWidth;
using hearth::hatchlings::kFramesPerDecision;
using hearth::hatchlings::Observation;
using hearth::hatchlings::World;

namespace {

constexpr int kMaxSteps = 900;  // one minute of 15 decisions per second; as in kDescription
constexpr uint32_t kMaxAgents = 256;

// The fields match the demo's schema (demos/scenes/hatchlings/learner.cpp): a policy trained here
// plays there.
constexpr char kDescription[] = R"({"version": 2, "environments": [
{"name": "Hatchlings", "n_agents": [1, 256], "max_episode_steps": 900,
 "observations": [
  {"name": "velocity", "kind": "box", "size": 2},
  {"name": "place", "kind": "box", "size": 2},
  {"name": "embers", "kind": "array", "count": 3,
   "fields": [{"name": "toward", "kind": "box", "size": 2}]},
  {"name": "motes", "kind": "array", "count": 3,
   "fields": [{"name": "toward", "kind": "box", "size": 2},
              {"name": "velocity", "kind": "box", "size": 2},
              {"name": "cold", "kind": "box", "size": 1}]},
  {"name": "chilled", "kind": "binary"},
  {"name": "hot_night", "kind": "binary"}],
 "actions": [{"name": "thrust", "kind": "continuous", "size": 2}]}]})";

}  // namespace

struct hearth_environment {
    struct Arena {
        std::unique_ptr<World> world;
        hearth::environments::EpisodeSeeds seeds;
        int steps = 0;
    };
    uint32_t agents = 1;
    std::vector<Arena> arenas;

    void observe(size_t arena, float* observations) const {
        for (uint32_t i = 0; i < agents; ++i) {
            const Observation seen = arenas[arena].world->observe(i);
            std::copy(seen.begin(), seen.end(), observations + (arena * agents + i) * seen.size());
        }
    }
};

extern "C" {

const char* hearth_environment_describe(void) {
    return kDescription;
}

hearth_environment* hearth_environment_create(const char* name, uint32_t worlds, uint32_t agents) {
    if (name == nullptr || std::string_view(name) != "Hatchlings" || worlds == 0 || agents == 0 ||
        agents > kMaxAgents)
        return nullptr;
    auto made = std::make_unique<hearth_environment>();
    made->agents = agents;
    made->arenas.resize(worlds);
    return made.release();
}

void hearth_environment_reset(hearth_environment* environment, const uint8_t* which,
                              const uint64_t* seeds, float* observations) {
    for (size_t w = 0; w < environment->arenas.size(); ++w) {
        if (which != nullptr && which[w] == 0) continue;
        hearth_environment::Arena& arena = environment->arenas[w];
        hearth::hatchlings::WorldOptions options;
        options.seed = seeds != nullptr ? arena.seeds.begin(seeds[w]) : arena.seeds.next();
        options.hatchling_count = environment->agents;
        arena.world = std::make_unique<World>(options);
        arena.steps = 0;
        environment->observe(w, observations);
    }
}

void hearth_environment_step(hearth_environment* environment, const float* actions,
                             float* observations, float* rewards, uint8_t* ends) {
    const uint32_t agents = environment->agents;
    for (size_t w = 0; w < environment->arenas.size(); ++w) {
        hearth_environment::Arena& arena = environment->arenas[w];
        const float* const thrusts = actions + w * agents * size_t{kActionWidth};
        for (uint32_t i = 0; i < agents; ++i)
            arena.world->set_thrust(i, {thrusts[2 * i], thrusts[2 * i + 1]});
        for (int frame = 0; frame < kFramesPerDecision; ++frame) arena.world->step();
        const bool is_truncated = ++arena.steps >= kMaxSteps;
        for (uint32_t i = 0; i < agents; ++i) {
            rewards[w * agents + i] = arena.world->take_reward(i);
            ends[w * agents + i] = is_truncated ? 2 : 0;
        }
        environment->observe(w, observations);
    }
}

void hearth_environment_destroy(hearth_environment* environment) {
    delete environment;
}

}  // extern "C"
