// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What was learned: snapshots, rewind, forget, freeze, rollback, brains; and decisions that are cut.

#include "gates/driver_host.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace hearth::gates {
namespace {

using namespace agents;

class DriverWeightsTest : public DriverTest {};

using Weights = std::map<std::string, std::vector<float>>;

Weights weights_of(Host& host) {
    Weights out;
    for (const char* name :
         {"actor.0.weight", "actor.head.bias", "critic.0.weight", "actor.0.weight.m",
          "published.param.actor.0.weight", "published.state.observations.mean"})
        out[name] = host.slot(name);
    return out;
}

std::vector<AgentId> add_all(Host& host) {
    std::vector<AgentId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(*host.agents.add());
    return ids;
}

/// Frames [begin, end) of the same life.
void play(Host& host, const std::vector<AgentId>& ids, int begin, int end,
          AgentsFrame how = {.learn_us = 1e9}) {
    for (int frame = begin; frame < end; ++frame)
        ASSERT_TRUE(host.frame(how, [&] { live(host.agents, ids, frame); }).ok());
}

/// Takes a snapshot, and waits for it.
void keep(Host& host) {
    const uint32_t before = host.agents.snapshot_count();
    ASSERT_TRUE(host.agents.keep().ok());
    host.settle();
    host.agents.poll();
    ASSERT_GE(host.agents.snapshot_count(), std::min(before + 1, 3u));
}

TEST_F(DriverWeightsTest, RewindsToASnapshotAndToTheFactorys) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    EXPECT_FALSE(host->agents.rewind().ok()) << "there is no snapshot yet";
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
    const Weights first = weights_of(*host);
    play(*host, ids, 0, 10);
    keep(*host);
    const Weights kept = weights_of(*host);
    EXPECT_NE(kept, first);
    play(*host, ids, 10, 30);
    EXPECT_NE(weights_of(*host), kept);

    ASSERT_TRUE(host->agents.rewind().ok());
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
    EXPECT_EQ(weights_of(*host), kept);
    EXPECT_TRUE(host->agents.action(ids[0]).empty()) << "agents begin anew";
    const uint64_t windows = host->agents.status().windows;
    play(*host, ids, 30, 50);
    EXPECT_GT(host->agents.status().windows, windows) << "learning goes on";

    ASSERT_TRUE(host->agents.rewind(HEARTH_AGENTS_FACTORY).ok());
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
    EXPECT_EQ(weights_of(*host), first);
    EXPECT_EQ(host->agents.snapshot_count(), 1u) << "the others are still there";
    EXPECT_NE(host->agents.rewind(1).message().find("there are 1, and the factory's"),
              std::string::npos);
}

TEST_F(DriverWeightsTest, WhatGoesOnFromASnapshotDependsOnNothingElse) {
    // Two lives up to the snapshot, and the same one behind it.
    const auto after = [&](int detour) -> Weights {
        const auto host = small_host(device());
        if (host == nullptr) return {};
        const auto ids = add_all(*host);
        play(*host, ids, 0, 9);
        keep(*host);
        play(*host, ids, 100, 100 + detour);
        EXPECT_TRUE(host->agents.rewind().ok());
        host->settle();  // actions of before are gone
        play(*host, ids, 9, 30);
        return weights_of(*host);
    };
    EXPECT_EQ(after(0), after(13));
}

TEST_F(DriverWeightsTest, KeepsTheNewestSnapshotsAndTakesThemByItself) {
    const auto host = small_host(device(), {.snapshot_count = 2, .snapshot_period = 12});
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 40);
    host->settle();
    EXPECT_EQ(host->agents.snapshot_count(), 2u);
    EXPECT_EQ(host->agents.status().snapshots, 2u);
    EXPECT_EQ(host->agents.status().snapshots_refused, 0u);
    const auto newest = host->agents.save(0), older = host->agents.save(1);
    ASSERT_TRUE(newest.ok() && older.ok());
    EXPECT_NE(*newest, *older);
    EXPECT_FALSE(host->agents.save(2).ok());
}

TEST_F(DriverWeightsTest, ForgetsEverything) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
    const Weights first = weights_of(*host);
    const std::vector<float> ring = host->slot("rollout.observation");
    play(*host, ids, 0, 14);
    keep(*host);
    ASSERT_TRUE(host->agents.keep().ok());
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());  // another one is on its way
    host->agents.forget();
    host->settle();
    EXPECT_EQ(host->agents.snapshot_count(), 0u);
    EXPECT_FALSE(host->agents.save().ok());
    EXPECT_EQ(weights_of(*host), first);
    EXPECT_EQ(host->slot("rollout.observation"), ring);
    play(*host, ids, 14, 24);
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kPublications], 1u);
}

TEST_F(DriverWeightsTest, FrozenAgentsActAndNothingElse) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 12);
    host->agents.freeze(true);
    EXPECT_EQ(host->agents.status().frozen, 1u);
    play(*host, ids, 12, 13);  // what was decided before is stored, as cut off
    host->settle();
    const Weights before = weights_of(*host);
    const uint64_t samples = host->agents.status()[Counter::kSamples];
    play(*host, ids, 13, 40);
    host->settle();
    EXPECT_EQ(weights_of(*host), before);
    EXPECT_EQ(host->agents.status()[Counter::kSamples], samples) << "nothing is stored";
    EXPECT_EQ(host->agents.status()[Counter::kSamplesDropped], 0u);
    host->agents.freeze(false);
    play(*host, ids, 40, 60);
    EXPECT_NE(weights_of(*host), before) << "it learns again";
}

TEST_F(DriverWeightsTest, FreezingChangesNoDecision) {
    const auto frozen = small_host(device()), inference = small_host(device());
    ASSERT_TRUE(frozen != nullptr && inference != nullptr);
    const auto frozen_ids = add_all(*frozen), ids = add_all(*inference);
    frozen->agents.freeze(true);
    for (int frame = 0; frame < 30; ++frame) {
        play(*frozen, frozen_ids, frame, frame + 1);
        play(*inference, ids, frame, frame + 1, {.learn_us = 0});
        for (size_t i = 0; i < ids.size(); ++i)
            EXPECT_TRUE(std::ranges::equal(frozen->agents.action(frozen_ids[i]),
                                           inference->agents.action(ids[i])))
                << frame;
    }
    EXPECT_FALSE(frozen->agents.action(frozen_ids[0]).empty());
}

TEST_F(DriverWeightsTest, LikeliestActionsDependOnObservationsAlone) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    std::vector<float> first;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(host->frame({.learn_us = 0, .explore = 0},
                                [&] {
                                    for (const AgentId id : ids) host->agents.observe(id)[0] = 0.4f;
                                })
                        .ok());
        host->settle();
        for (const AgentId id : ids) {
            const auto action = host->agents.action(id);
            ASSERT_EQ(action.size(), 2u);
            if (first.empty()) first.assign(action.begin(), action.end());
            EXPECT_TRUE(std::equal(action.begin(), action.end(), first.begin())) << i;
        }
    }
}

TEST_F(DriverWeightsTest, WeightsThatAreNotFiniteAreNotPublishedAndTheLearnerGoesBack) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 10);
    keep(*host);
    const std::vector<float> good = host->slot("actor.0.weight");
    const std::vector<float> published = host->slot("published.param.actor.0.weight");
    const auto slot = host->program().find_slot("actor.0.weight");
    ASSERT_TRUE(slot.ok());
    const float poison = std::numeric_limits<float>::quiet_NaN();
    host->record([&](VkCommandBuffer commands) {
        return hearth_record_upload(host->agents.session(), commands, *slot, 0, &poison,
                                    sizeof poison);
    });
    ASSERT_TRUE(host->agents.keep().ok());
    host->settle();
    EXPECT_EQ(host->agents.status().snapshots_refused, 1u) << "it is no good snapshot";
    EXPECT_EQ(host->agents.snapshot_count(), 1u);
    int frame = 10;
    for (; frame < 40 && host->agents.status().rollbacks == 0; ++frame) {
        ASSERT_TRUE(host->frame({.learn_us = 1e9}, [&] { live(host->agents, ids, frame); }).ok());
        for (const AgentId id : ids)
            for (const float a : host->agents.action(id)) ASSERT_TRUE(std::isfinite(a));
    }
    EXPECT_EQ(host->agents.status().rollbacks, 1u);
    EXPECT_EQ(host->slot("published.param.actor.0.weight"), published);
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
    EXPECT_EQ(host->slot("actor.0.weight"), good);
    play(*host, ids, frame, frame + 24);
    host->settle();
    EXPECT_EQ(host->agents.status().rollbacks, 1u) << "once was enough";
    EXPECT_NE(host->slot("published.param.actor.0.weight"), published) << "it publishes again";
}

TEST_F(DriverWeightsTest, BrainsGoFromOneSessionToAnotherAndNoFurther) {
    const auto first = small_host(device()), second = small_host(device());
    ASSERT_TRUE(first != nullptr && second != nullptr);
    const auto ids = add_all(*first), other_ids = add_all(*second);
    play(*first, ids, 0, 20);
    keep(*first);
    const auto brain = first->agents.save();
    ASSERT_TRUE(brain.ok()) << brain.status().message();
    ASSERT_TRUE(second->agents.load(*brain).ok());
    ASSERT_TRUE(second->frame({.learn_us = 0, .decide = false}).ok());
    EXPECT_EQ(weights_of(*second), weights_of(*first));
    play(*second, other_ids, 0, 20);  // it goes on
    EXPECT_EQ(second->agents.status().rollbacks, 0u);

    const AgentSchema other(Fields().numbers("place", 2).numbers("pace"),
                            Actions().choose("move", 3, true).drive("aim", 1, {-2, 2}));
    const auto stranger = Host::create(device(), trace_agents(other, mlp_network({8}), small_ppo()),
                                       manifest_of(other, small_ppo()));
    ASSERT_NE(stranger, nullptr);
    const Status refused = stranger->agents.load(*brain);
    EXPECT_NE(refused.message().find("observations/pace: only here"), std::string::npos)
        << refused.message();
    const std::vector<std::byte> half(brain->begin(), brain->begin() + 200);
    EXPECT_FALSE(stranger->agents.load(half).ok());
}

// Opponents act from the ring of those that learn, and do not learn themselves.
TEST_F(DriverWeightsTest, OpponentsActFromTheRingOfThoseThatLearn) {
    const auto learners = small_host(device());
    ASSERT_NE(learners, nullptr);
    auto made = Agents::create(
        learners->context(), learners->program(),
        {.manifest = manifest_of(small_schema(), small_ppo()).save(), .snapshot_count = 0});
    ASSERT_TRUE(made.ok()) << made.status().message();
    Agents& opponents = *made;
    ASSERT_TRUE(opponents.build().ok());
    opponents.freeze(true);
    EXPECT_FALSE(opponents.keep().ok());
    const auto ids = add_all(*learners);
    const AgentId opponent = *opponents.add();
    play(*learners, ids, 0, 10);
    keep(*learners);
    play(*learners, ids, 10, 20);
    keep(*learners);

    const auto likeliest_of = [&](Agents& agents, AgentId id) {
        learners->record([&](VkCommandBuffer commands) {
            std::ranges::fill(agents.observe(id), 0.5f);
            const auto recorded = agents.record(commands, {.learn_us = 0, .explore = 0});
            EXPECT_TRUE(recorded.ok()) << recorded.status().message();
            return HEARTH_OK;
        });
        learners->settle();
        agents.poll();
        const auto action = agents.action(id);
        return std::vector<float>(action.begin(), action.end());
    };
    std::vector<std::vector<float>> theirs, own;
    for (const uint32_t snapshot : {0u, 1u, HEARTH_AGENTS_FACTORY}) {
        ASSERT_TRUE(opponents.load_snapshot(learners->agents, snapshot).ok());
        theirs.push_back(likeliest_of(opponents, opponent));
        ASSERT_TRUE(learners->agents.rewind(snapshot).ok());
        own.push_back(likeliest_of(learners->agents, ids[0]));
    }
    EXPECT_EQ(theirs, own);
    EXPECT_NE(theirs[0], theirs[1]);
    EXPECT_NE(theirs[1], theirs[2]);
    EXPECT_FALSE(opponents.load_snapshot(learners->agents, 7).ok());
}

TEST_F(DriverWeightsTest, SettingsMayChangeWhileAnItemIsCut) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 9, {.learn_us = 0});
    for (int i = 0; i < 60; ++i) {
        ASSERT_TRUE(host->agents.set("learning_rate", 1e-3 / (1 + i)).ok());
        const Status recorded = host->frame({.learn_us = 1, .decide = false});
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    }
}

TEST_F(DriverWeightsTest, FlushFinishesAWindowWithoutRegardToTheBudget) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 9, {.learn_us = 0});
    ASSERT_TRUE(host->frame({.learn_us = 1, .decide = false}).ok());
    ASSERT_EQ(host->agents.status().phase, HEARTH_AGENTS_LEARNING);
    host->agents.flush();
    ASSERT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());  // four items: at once
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_COLLECTING);
    EXPECT_EQ(host->slot("actor.0.weight"), host->slot("published.param.actor.0.weight"));
}

/// What agents did, decision by decision, however long each may take.
std::vector<std::vector<float>> actions_within(standalone::Device& device, uint32_t within,
                                               int* frames) {
    const auto host = small_host(device);
    if (host == nullptr) return {};
    const auto ids = add_all(*host);
    std::vector<std::vector<float>> all;
    *frames = 0;
    for (uint64_t decision = 0; decision < 24; ++decision) {
        bool has_begun = false;
        while (host->agents.status().frames <= decision && *frames < 5000) {
            const double learn_us = within == HEARTH_AGENTS_WHENEVER ? 1.0 : 0.0;
            EXPECT_TRUE(host->frame({.learn_us = learn_us, .decide_within = within},
                                    [&] {
                                        // Behind the first slice it is too late to be seen by this one.
                                        for (const AgentId id : ids) {
                                            host->agents.observe(id)[0] =
                                                has_begun ? 9.0f
                                                          : 0.1f * static_cast<float>(decision);
                                            const float reward = has_begun ? 0.0f : 1.0f;
                                            EXPECT_TRUE(host->agents.reward(id, reward).ok());
                                        }
                                        has_begun = true;
                                    })
                            .ok());
            ++*frames;
        }
        EXPECT_TRUE(host->frame({.learn_us = 0, .decide = false}).ok());
        host->agents.poll();
        for (const AgentId id : ids) {
            const auto action = host->agents.action(id);
            all.emplace_back(action.begin(), action.end());
        }
    }
    host->settle();
    const std::vector<float> rewards = host->slot("rollout.reward");
    all.push_back(rewards);
    return all;
}

TEST_F(DriverWeightsTest, DecisionsAreTheSameHoweverTheyAreCut) {
    int at_once = 0, in_four = 0;
    const auto whole = actions_within(device(), 1, &at_once);
    const auto pieces = actions_within(device(), 4, &in_four);
    EXPECT_EQ(at_once, 24);
    EXPECT_GT(in_four, 24 * 2);
    EXPECT_LE(in_four, 24 * 4);
    EXPECT_EQ(whole, pieces);
}

}  // namespace
}  // namespace hearth::gates
