// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of weights, and games that are killed and resumed.

#include "gates/driver_host.hpp"

#include <gtest/gtest-spi.h>

#include <bit>

namespace hearth::gates {
namespace {

using namespace agents;

class SavedGameTest : public test::VulkanTest {
  protected:
    static AgentsOptions options() {
        AgentsOptions options;
        options.enable_saved_games = true;
        return options;
    }
    static RecordOptions everything() { return {.learning_budget_us = 1e6}; }
    std::unique_ptr<Host> host(const AgentGraphs& graphs, const AgentManifest& manifest) {
        return Host::create(device(), graphs, manifest, options());
    }
};

AgentSpec moving_spec() {
    return AgentSpec(ObservationSpec().box("place", 2).box("speed"),
                     ActionSpec().continuous("aim", 2, {-2, 2}));
}
AgentSpec choosing_spec() {
    return AgentSpec(ObservationSpec().box("place", 2).box("speed"),
                     ActionSpec().discrete("move", 3, true).discrete("chirp", 2));
}

struct Game {
    const char* name;
    AgentGraphs graphs;
    AgentManifest manifest;
};

/// PPO is none of them: what it decides depends on when the budget lets it publish.
std::vector<Game> games() {
    Dqn dqn;
    dqn.replay.n_agents = 4;
    dqn.replay.buffer_size = 64;
    dqn.replay.batch_size = 8;
    dqn.replay.learning_starts = 8;
    Sac sac;
    sac.replay = dqn.replay;
    const PolicyNetwork network = mlp_network({8});
    std::vector<Game> games;
    games.push_back({"Dqn", build_agent_graphs(choosing_spec(), network, dqn, 1),
                     make_manifest(choosing_spec(), dqn)});
    games.push_back({"Sac", build_agent_graphs(moving_spec(), network, sac, 1),
                     make_manifest(moving_spec(), sac)});
    return games;
}

/// A world that depends on the frame and on what its agents do.
struct World {
    std::vector<AgentId> ids;
    void play(Agents& agents, int frame) {
        for (size_t i = 0; i < ids.size(); ++i) {
            const auto action = agents.action(ids[i]);
            const float moved = action.empty() ? 0.0f : action[0];
            const std::span<float> seen = agents.observation(ids[i]);
            seen[0] = std::sin(0.3f * static_cast<float>(frame) + static_cast<float>(i));
            seen[1] = moved;
            seen[2] = 0.1f * static_cast<float>(i);
            EXPECT_TRUE(agents.add_reward(ids[i], seen[0] * moved).ok());
            if ((frame + static_cast<int>(i) * 3) % 11 == 10) {
                EXPECT_TRUE(agents.end_episode(ids[i], EpisodeEnd::kTruncated).ok());
            }
        }
    }
};

/// A frame of the game, and frames of nothing but learning until none is owed.
void step(Host& host, World& world, int frame) {
    ASSERT_TRUE(
        host.frame({.learning_budget_us = 1e6}, [&] { world.play(host.agents, frame); }).ok());
    for (int i = 0; i < 20 && (i == 0 || host.agents.status().owed_gradient_steps > 0); ++i) {
        host.agents.finish_update();
        ASSERT_TRUE(host.frame({.learning_budget_us = 1e6, .request_decision = false}).ok());
    }
    ASSERT_EQ(host.agents.status().owed_gradient_steps, 0);
}

std::vector<std::byte> saved(Host& host) {
    EXPECT_TRUE(host.agents.save_game().ok());
    host.settle();
    const auto game = host.agents.saved_game();
    EXPECT_TRUE(game.ok());
    return game.ok() ? *game : std::vector<std::byte>();
}

// The second half is played once by those who played the first, and once by a new process.
TEST_F(SavedGameTest, AGameThatIsKilledAndResumedGoesOnToTheByte) {
    constexpr int kHalf = 30, kFrames = 60;
    for (const Game& game : games()) {
        SCOPED_TRACE(game.name);
        std::vector<std::byte> middle, end;
        World world;
        {
            const auto first = host(game.graphs, game.manifest);
            ASSERT_NE(first, nullptr);
            for (int i = 0; i < 3; ++i) world.ids.push_back(*first->agents.add());
            ASSERT_TRUE(first->agents.remove(world.ids[1]).ok());
            world.ids[1] = *first->agents.add();
            for (int frame = 1; frame <= kFrames; ++frame) {
                step(*first, world, frame);
                if (frame == kHalf) middle = saved(*first);
            }
            end = saved(*first);
        }
        ASSERT_FALSE(middle.empty());
        const auto second = host(game.graphs, game.manifest);
        ASSERT_NE(second, nullptr);
        ASSERT_TRUE(second->agents.load(middle).ok()) << second->agents.load(middle).message();
        ASSERT_TRUE(second->frame({.learning_budget_us = 1e6, .request_decision = false}).ok());
        EXPECT_EQ(second->agents.count(), 3u);
        for (int frame = kHalf + 1; frame <= kFrames; ++frame) step(*second, world, frame);
        const std::vector<std::byte> resumed = saved(*second);
        EXPECT_EQ(resumed.size(), end.size());
        EXPECT_TRUE(resumed == end);
        EXPECT_GT(second->agents.status()[Counter::kGradientSteps], 0u);
    }
}

// Agents that never publish decide by the same weights whatever they have learned.
TEST_F(SavedGameTest, ABudgetDelaysWhatIsLearnedAndChangesNothing) {
    for (Game& game : games()) {
        SCOPED_TRACE(game.name);
        game.manifest.sync_interval = 1u << 20;
        std::vector<std::byte> expected;
        for (const double budget : {1.0, 20.0, 500.0, 1e9}) {
            const auto played = host(game.graphs, game.manifest);
            ASSERT_NE(played, nullptr);
            World world;
            for (int i = 0; i < 3; ++i) world.ids.push_back(*played->agents.add());
            for (int frame = 1; frame <= 60; ++frame) {
                ASSERT_TRUE(played
                                ->frame({.learning_budget_us = budget},
                                        [&] { world.play(played->agents, frame); })
                                .ok());
            }
            const AgentsStatus status = played->agents.status();
            if (budget == 1) {
                EXPECT_GT(status.owed_gradient_steps, 0) << "nothing was delayed";
            }
            EXPECT_EQ(status.samples_paused, 0u);
            for (int i = 0; i < 100 && played->agents.status().owed_gradient_steps > 0; ++i) {
                played->agents.finish_update();
                ASSERT_TRUE(
                    played->frame({.learning_budget_us = budget, .request_decision = false}).ok());
            }
            // The status is of the last decision.
            step(*played, world, 61);
            EXPECT_TRUE(played->agents.take_snapshot().ok());
            played->settle();
            const auto brain = played->agents.save();
            ASSERT_TRUE(brain.ok());
            if (expected.empty()) expected = *brain;
            EXPECT_TRUE(*brain == expected) << budget;
            EXPECT_GT(played->agents.status()[Counter::kGradientSteps], 40u);
        }
    }
}

TEST_F(SavedGameTest, ASlowLearnerPausesCollectionAndCatchesUp) {
    Sac sac;
    sac.replay.n_agents = 4;
    sac.replay.buffer_size = 64;
    sac.replay.batch_size = 8;
    sac.replay.learning_starts = 2;
    sac.replay.waiting_decisions = 4;
    const auto played = host(build_agent_graphs(moving_spec(), mlp_network({8}), sac, 1),
                             make_manifest(moving_spec(), sac));
    ASSERT_NE(played, nullptr);
    World world;
    for (int i = 0; i < 3; ++i) world.ids.push_back(*played->agents.add());
    for (int frame = 1; frame <= 10; ++frame) {
        ASSERT_TRUE(
            played->frame({.learning_budget_us = 0}, [&] { world.play(played->agents, frame); })
                .ok());
    }
    // The first decision ends no other, four wait, and those after them are not collected.
    AgentsStatus status = played->agents.status();
    EXPECT_EQ(status.owed_gradient_steps, 4 * 3 - 2);
    EXPECT_EQ(status.samples_paused, 5u * 3);
    step(*played, world, 11);
    step(*played, world, 12);
    played->settle();
    status = played->agents.status();
    EXPECT_EQ(status.owed_gradient_steps, 0);
    EXPECT_EQ(status.samples_paused, 6u * 3);
    EXPECT_EQ(played->slot("replay.size")[0], std::bit_cast<float>(5 * 3));

    // A manifest of another queue than the program's is refused.
    AgentManifest other = make_manifest(moving_spec(), sac);
    other.waiting_decisions = 8;
    EXPECT_NONFATAL_FAILURE(
        (void)host(build_agent_graphs(moving_spec(), mlp_network({8}), sac, 1), other),
        "waiting.id");
}

TEST_F(SavedGameTest, ABrainForPlayHoldsWeightsAndStatisticsAlone) {
    Ppo ppo = small_ppo();
    ppo.n_steps = 128;
    ppo.n_agents = 16;
    const AgentSpec spec(ObservationSpec().box("rays", 12).box("place", 2),
                         ActionSpec().discrete("move", 4).continuous("aim", 2));
    const auto make = [&] {
        return host(build_agent_graphs(spec, mlp_network({64, 64}), ppo, 1),
                    make_manifest(spec, ppo));
    };
    const auto learned = make();
    ASSERT_NE(learned, nullptr);
    World world;
    for (int i = 0; i < 16; ++i) world.ids.push_back(*learned->agents.add());
    for (int frame = 1; frame <= 300; ++frame) {
        ASSERT_TRUE(learned->frame(everything(), [&] { world.play(learned->agents, frame); }).ok());
    }
    ASSERT_GT(learned->agents.status()[Counter::kPublications], 0u);
    ASSERT_TRUE(learned->agents.take_snapshot().ok());
    learned->settle();
    const auto whole = learned->agents.save(), weights = learned->agents.save_weights();
    ASSERT_TRUE(whole.ok());
    ASSERT_TRUE(weights.ok());
    EXPECT_LE(weights->size(), 60'000u);
    EXPECT_GT(whole->size(), 3 * weights->size());

    // Both act alike, and the learner of the small one goes on.
    std::vector<std::vector<float>> actions;
    for (const auto* brain : {&*whole, &*weights}) {
        const auto player = make();
        ASSERT_TRUE(player->agents.load(*brain).ok());
        std::vector<AgentId> ids;
        for (int i = 0; i < 16; ++i) ids.push_back(*player->agents.add());
        World other{ids};
        ASSERT_TRUE(player
                        ->frame({.learning_budget_us = 0, .exploration = 0},
                                [&] { other.play(player->agents, 5); })
                        .ok());
        player->settle();
        auto& all = actions.emplace_back();
        for (const AgentId id : ids) {
            const auto action = player->agents.action(id);
            all.insert(all.end(), action.begin(), action.end());
        }
        for (int frame = 6; frame <= 150; ++frame) {
            ASSERT_TRUE(
                player->frame(everything(), [&] { other.play(player->agents, frame); }).ok());
        }
        player->settle();
        EXPECT_GT(player->agents.status()[Counter::kPublications], 0u);
    }
    ASSERT_EQ(actions[0].size(), 16u * 3);
    EXPECT_EQ(actions[0], actions[1]);
}

TEST_F(SavedGameTest, IsRefusedWhereItDoesNotFit) {
    const auto with = host(build_agent_graphs(small_schema(), mlp_network({8}), small_ppo(), 1),
                           make_manifest(small_schema(), small_ppo()));
    ASSERT_NE(with, nullptr);
    EXPECT_EQ(with->agents.saved_game().status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(with->agents.save_game().ok());
    with->settle();
    const auto saved = with->agents.saved_game();
    ASSERT_TRUE(saved.ok());
    ASSERT_FALSE(saved->empty());

    const auto without = small_host(device());
    EXPECT_EQ(without->agents.save_game().code(), StatusCode::kUnsupported);
    EXPECT_TRUE(without->agents.load(*saved).ok()) << "loading needs no enable_saved_games";

    Ppo other = small_ppo();
    other.n_agents = 5;
    const auto more = host(build_agent_graphs(small_schema(), mlp_network({8}), other, 1),
                           make_manifest(small_schema(), other));
    EXPECT_FALSE(more->agents.load(*saved).ok());
    for (size_t at = 0; at < saved->size(); at += 97) {
        std::vector<std::byte> damaged = *saved;
        damaged[at] ^= std::byte{0x40};
        EXPECT_FALSE(with->agents.load(damaged).ok()) << at;
    }
}

}  // namespace
}  // namespace hearth::gates
