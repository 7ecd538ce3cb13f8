// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages of agents go into downloads and patches of games.

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>

#include <gtest/gtest.h>

namespace hearth::agents::test {
namespace {

/// Size in bytes of the package that a game without options gets, with two hidden layers of 64.
template <class Learner>
size_t package_bytes(const AgentSpec& spec, const Learner& learner) {
    const AgentManifest manifest = make_manifest(spec, learner);
    const AgentGraphs graphs = build_agent_graphs(spec, mlp_network({64, 64}), learner);
    const Result<Cooked> cooked =
        cook(runtime_entries(graphs, manifest),
             {.max_batch_size = manifest.n_agents, .agents = manifest.save()});
    EXPECT_TRUE(cooked.ok()) << cooked.status().message();
    return cooked.ok() ? cooked->bytes.size() : SIZE_MAX;
}

TEST(PackagesOfAgents, TakeAtMost600kBWithTwoLayersOf64) {
    constexpr size_t kMost = 600'000;
    const ObservationSpec seen = ObservationSpec().box("body", 8).entities(
        "others", 4, ObservationSpec().position("place", 2, 50));
    const AgentSpec pushes(seen, ActionSpec().discrete("push", 4)),
        aims(seen, ActionSpec().continuous("aim", 2));
    EXPECT_LE(package_bytes(pushes, Ppo{.n_agents = 16}), kMost);
    EXPECT_LE(package_bytes(pushes, Dqn{}), kMost);
    EXPECT_LE(package_bytes(aims, Sac{}), kMost);
}

}  // namespace
}  // namespace hearth::agents::test
