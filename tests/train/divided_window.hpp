// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One window of 16 worlds x 32 steps, and what learners of a part of its worlds each make of it.

#pragma once

#include "classic/simulations.hpp"
#include "compiler/ir/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::train {

inline constexpr int64_t kDividedWorlds = 16, kDividedHorizon = 32;

/// Entries rollout, prepare, gradient or learn, step, publish of so many worlds.
inline agents::AgentGraphs divided_traces(int64_t worlds, bool data_parallel) {
    agents::Ppo ppo;
    ppo.n_agents = worlds;
    ppo.n_steps = kDividedHorizon;
    ppo.n_minibatches = ppo.n_epochs = 1;
    agents::AgentGraphs traces = agents::build_agent_graphs(
        classic::schema_of(classic::make_task("CartPole")->info()), agents::mlp_network({16}), ppo,
        classic::make_simulation("CartPole").value(),
        {.steps_per_recording = 2, .seed = 5, .data_parallel = data_parallel}, 3);
    std::erase_if(traces, [](const auto& trace) {
        const std::string& name = trace->graph().name;
        return name == "act" || name == "shrink_and_perturb";
    });
    return traces;
}

/// What a learner of `part` of so many parts holds where one of all worlds holds `whole`; own: its
/// slots.
inline NamedTensors part_of_window(const NamedTensors& whole, const NamedTensors& own, int64_t part,
                                   int64_t parts) {
    NamedTensors out;
    const int64_t worlds = kDividedWorlds / parts;
    for (const auto& [name, value] : own) {
        const HostTensor& from = whole.at(name);
        if (from.shape() == value.shape()) {
            out[name] = from;
            continue;
        }
        if (!name.starts_with("rollout.")) continue;
        HostTensor slice(value.dtype(), value.shape());
        const int64_t width = value.element_count() / (kDividedHorizon * worlds);
        for (int64_t t = 0; t < kDividedHorizon; ++t)
            for (int64_t i = 0; i < worlds * width; ++i)
                slice.set(t * worlds * width + i,
                          from.get((t * kDividedWorlds + part * worlds) * width + i));
        out[name] = slice;
    }
    return out;
}

/// |a - b| / |b|
inline double relative_distance(std::span<const float> a, std::span<const float> b) {
    double apart = 0, size = 0;
    for (size_t i = 0; i < b.size(); ++i) {
        const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        apart += (x - y) * (x - y);
        size += y * y;
    }
    return std::sqrt(apart / size);
}

}  // namespace hearth::train
