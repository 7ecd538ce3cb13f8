// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What was learned: snapshots, rewind, forget, freeze, rollback, brains; and decisions that are
// cut.

#include "gates/driver_host.hpp"

#include <hearth/brain.hpp>

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
          RecordOptions how = {.learning_budget_us = 1e9}) {
    for (int frame = begin; frame < end; ++frame)
        ASSERT_TRUE(host.frame(how, [&] { live(host.agents, ids, frame); }).ok());
}

/// Takes a snapshot, and waits for it.
void keep(Host& host) {
    const uint32_t before = host.agents.snapshot_count();
    ASSERT_TRUE(host.agents.take_snapshot().ok());
    host.settle();
    host.agents.poll();
    ASSERT_GE(host.agents.snapshot_count(), std::min(before + 1, 3u));
}

// A snapshot takes most of the room for what comes back, wherever in it that is.
TEST_F(DriverWeightsTest, ActionsOfEachFrameArriveWhileSnapshotsAreTaken) {
    for (const uint32_t in_flight : {2u, 3u}) {
        constexpr uint32_t kPeriod = 41;  // meets the ring anywhere
        const auto host = Host::create(
            device(), build_agent_graphs(small_schema(), mlp_network({32, 32}), small_ppo(), 1),
            make_manifest(small_schema(), small_ppo()),
            {.frames_in_flight = in_flight, .snapshot_interval = kPeriod});
        ASSERT_NE(host, nullptr);
        host->lag = in_flight - 1;
        const auto ids = add_all(*host);
        constexpr uint64_t kFrames = 400;
        for (uint64_t frame = 0; frame < kFrames; ++frame)
            ASSERT_TRUE(host->frame({.learning_budget_us = 1e9},
                                    [&] {
                                        live(host->agents, ids, static_cast<int>(frame));
                                        if (frame < in_flight) return;
                                        EXPECT_EQ(host->agents.status().frame_number,
                                                  frame + 1 - in_flight);
                                    })
                            .ok());
        EXPECT_GE(host->agents.status().snapshots_taken, kFrames / kPeriod - 1)
            << "each was taken when it was due";
    }
}

TEST_F(DriverWeightsTest, RewindsToASnapshotAndToTheFactorys) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    EXPECT_FALSE(host->agents.restore_snapshot().ok()) << "there is no snapshot yet";
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    const Weights first = weights_of(*host);
    play(*host, ids, 0, 10);
    keep(*host);
    const Weights kept = weights_of(*host);
    EXPECT_NE(kept, first);
    play(*host, ids, 10, 30);
    EXPECT_NE(weights_of(*host), kept);

    ASSERT_TRUE(host->agents.restore_snapshot().ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_EQ(weights_of(*host), kept);
    EXPECT_TRUE(host->agents.action(ids[0]).empty()) << "agents begin anew";
    const uint64_t windows = host->agents.status().rollouts;
    play(*host, ids, 30, 50);
    EXPECT_GT(host->agents.status().rollouts, windows) << "learning goes on";

    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_EQ(weights_of(*host), first);
    EXPECT_EQ(host->agents.snapshot_count(), 1u) << "the others are still there";
    EXPECT_NE(host->agents.restore_snapshot(1).message().find(
                  "expected an index below 1, or HEARTH_AGENTS_INITIAL_WEIGHTS"),
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
        EXPECT_TRUE(host->agents.restore_snapshot().ok());
        host->settle();  // actions of before are gone
        play(*host, ids, 9, 30);
        return weights_of(*host);
    };
    EXPECT_EQ(after(0), after(13));
}

TEST_F(DriverWeightsTest, AfterALostDeviceTheNewestSnapshotGoesOnLearningOnAnother) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    host->settle();
    const Weights first = weights_of(*host);
    play(*host, ids, 0, 20);
    keep(*host);
    const Weights kept = weights_of(*host);
    EXPECT_NE(kept, first);
    // Lost in the middle of an item.
    int frame = 20;
    do {
        ASSERT_LT(frame, 60);
        ASSERT_TRUE(
            host->frame({.learning_budget_us = 1}, [&] { live(host->agents, ids, frame); }).ok());
        ++frame;
    } while (host->agents.status().phase != HEARTH_AGENTS_UPDATE);
    hearth_context_notify_device_lost(host->context().handle());
    EXPECT_FALSE(host->frame({.learning_budget_us = 1e9}).ok());
    const auto saved = host->agents.save(0);
    ASSERT_TRUE(saved.ok()) << saved.status().message();

    const auto go_on = [&](standalone::Device& on) -> Weights {
        const auto next = small_host(on);
        if (next == nullptr) return {};
        const auto next_ids = add_all(*next);
        EXPECT_TRUE(next->agents.load(*saved).ok());
        EXPECT_TRUE(next->frame({.learning_budget_us = 0, .request_decision = false}).ok());
        EXPECT_EQ(weights_of(*next), kept);
        play(*next, next_ids, 0, 30);
        EXPECT_GT(next->agents.status().rollouts, 0u);
        return weights_of(*next);
    };
    const auto another = make_device(test::test_device_options());
    ASSERT_NE(another, nullptr);
    const Weights learned = go_on(*another);
    EXPECT_NE(learned, kept) << "learning goes on";
    EXPECT_EQ(learned, go_on(device())) << "as it would have where the device was not lost";
}

TEST_F(DriverWeightsTest, KeepsTheNewestSnapshotsAndTakesThemByItself) {
    const auto host = small_host(device(), {.max_snapshots = 2, .snapshot_interval = 12});
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 40);
    host->settle();
    EXPECT_EQ(host->agents.snapshot_count(), 2u);
    EXPECT_EQ(host->agents.status().snapshots, 2u);
    EXPECT_EQ(host->agents.status().snapshots_rejected, 0u);
    const auto newest = host->agents.save(0), older = host->agents.save(1);
    ASSERT_TRUE(newest.ok() && older.ok());
    EXPECT_NE(*newest, *older);
    EXPECT_FALSE(host->agents.save(2).ok());
}

// So that a game can put its own state beside the brain of the same moment.
TEST_F(DriverWeightsTest, TellsWhenASnapshotWasRecordedAndWhenItHasArrived) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 12);
    EXPECT_EQ(host->agents.status().snapshot_phase, HEARTH_AGENTS_SNAPSHOT_NONE);
    ASSERT_TRUE(host->agents.take_snapshot().ok());
    EXPECT_EQ(host->agents.status().snapshot_phase, HEARTH_AGENTS_SNAPSHOT_PENDING);
    play(*host, ids, 12, 13);
    EXPECT_EQ(host->agents.status().snapshot_phase, HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT);
    EXPECT_EQ(host->agents.status().snapshots_taken, 0u);
    host->settle();
    EXPECT_EQ(host->agents.status().snapshot_phase, HEARTH_AGENTS_SNAPSHOT_NONE);
    EXPECT_EQ(host->agents.status().snapshots_taken, 1u);
}

// A player may save in the first frame, and right after loading.
TEST_F(DriverWeightsTest, BeforeTheFirstSnapshotTheInitialOrTheLoadedBrainIsSaved) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const Result<std::vector<std::byte>> initial = host->agents.save();
    ASSERT_TRUE(initial.ok()) << initial.status().message();
    EXPECT_EQ(host->agents.save(1).status().code(), StatusCode::kNotFound);
    EXPECT_TRUE(host->agents.save_weights().ok());
    const auto ids = add_all(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    const Weights first = weights_of(*host);
    play(*host, ids, 0, 14);
    EXPECT_NE(weights_of(*host), first);
    ASSERT_TRUE(host->agents.load(*initial).ok());
    host->settle();
    EXPECT_EQ(weights_of(*host), first) << "the initial weights are back";

    keep(*host);
    const Result<std::vector<std::byte>> learned = host->agents.save();
    ASSERT_TRUE(learned.ok());
    const auto other = small_host(device());
    ASSERT_TRUE(other->agents.load(*learned).ok());
    const Result<std::vector<std::byte>> saved = other->agents.save();
    ASSERT_TRUE(saved.ok());
    EXPECT_EQ(*saved, *learned) << "in the frame in which it is loaded";
    other->agents.reset_brain();
    const Result<std::vector<std::byte>> again = other->agents.save();
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *initial);
    play(*host, ids, 14, 31);
    keep(*host);
    ASSERT_TRUE(other->agents.load(*host->agents.save()).ok());
    EXPECT_NE(*other->agents.save(), *initial);
    EXPECT_EQ(*other->agents.save(HEARTH_AGENTS_INITIAL_WEIGHTS), *initial)
        << "whatever was loaded";
    host->agents.reset_brain();
    EXPECT_EQ(*host->agents.save(), *initial) << "not even the length of the rollout is left";
    const auto none = small_host(device(), {.max_snapshots = 0});
    EXPECT_EQ(none->agents.save().status().code(), StatusCode::kNotFound);
    EXPECT_EQ(host->agents.capacity(), ids.size());
}

TEST_F(DriverWeightsTest, ForgetsEverything) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    const Weights first = weights_of(*host);
    const std::vector<float> ring = host->slot("rollout.observation");
    play(*host, ids, 0, 14);
    keep(*host);
    ASSERT_TRUE(host->agents.take_snapshot().ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false})
                    .ok());  // another one is on its way
    host->agents.reset_brain();
    host->settle();
    EXPECT_EQ(host->agents.snapshot_count(), 0u);
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
        play(*inference, ids, frame, frame + 1, {.learning_budget_us = 0});
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
        ASSERT_TRUE(host->frame({.learning_budget_us = 0, .exploration = 0},
                                [&] {
                                    for (const AgentId id : ids)
                                        host->agents.observation(id)[0] = 0.4f;
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
    const auto slot = host->program().find_variable("actor.0.weight");
    ASSERT_TRUE(slot.ok());
    const float poison = std::numeric_limits<float>::quiet_NaN();
    host->record([&](VkCommandBuffer commands) {
        return hearth_record_update_variable(host->agents.session(), commands, *slot, 0, &poison,
                                             sizeof poison);
    });
    ASSERT_TRUE(host->agents.take_snapshot().ok());
    host->settle();
    EXPECT_EQ(host->agents.status().snapshots_rejected, 1u) << "it is no good snapshot";
    EXPECT_EQ(host->agents.snapshot_count(), 1u);
    int frame = 10;
    for (; frame < 40 && host->agents.status().rollbacks == 0; ++frame) {
        ASSERT_TRUE(
            host->frame({.learning_budget_us = 1e9}, [&] { live(host->agents, ids, frame); }).ok());
        for (const AgentId id : ids)
            for (const float a : host->agents.action(id)) ASSERT_TRUE(std::isfinite(a));
    }
    EXPECT_EQ(host->agents.status().rollbacks, 1u);
    EXPECT_EQ(host->slot("published.param.actor.0.weight"), published);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_EQ(host->slot("actor.0.weight"), good);
    play(*host, ids, frame, frame + 24);
    host->settle();
    EXPECT_EQ(host->agents.status().rollbacks, 1u) << "once was enough";
    EXPECT_NE(host->slot("published.param.actor.0.weight"), published) << "it publishes again";
}

/// Sets all elements of a variable, and of its copy that acts.
void set_all(Host& host, const std::string& name, float value) {
    for (const std::string& variable : {name, "published.param." + name}) {
        const auto slot = host.program().find_variable(variable.c_str());
        ASSERT_TRUE(slot.ok()) << variable;
        const std::vector<float> values(host.slot(variable.c_str()).size(), value);
        host.record([&](VkCommandBuffer commands) {
            return hearth_record_update_variable(host.agents.session(), commands, *slot, 0,
                                                 values.data(), values.size() * sizeof(float));
        });
    }
}

std::unique_ptr<Host> small_sac(standalone::Device& device) {
    Sac sac;
    sac.replay.n_agents = 4;
    sac.replay.buffer_size = 64;
    sac.replay.batch_size = 8;
    sac.replay.learning_starts = 8;
    const AgentSpec spec(ObservationSpec().box("place", 2).box("speed"),
                         ActionSpec().continuous("aim", 2, {-2, 2}));
    return Host::create(device, build_agent_graphs(spec, mlp_network({8, 8}, relu), sac, 1),
                        make_manifest(spec, sac));
}

// They are finite, and what they compute is not.
TEST_F(DriverWeightsTest, BrainsWithWeightsThatNoTrainingReachesAreNotLoaded) {
    const auto check = [&](std::unique_ptr<Host> host, std::unique_ptr<Host> other) {
        ASSERT_TRUE(host != nullptr && other != nullptr);
        host->settle();
        other->settle();
        const std::vector<float> initial = host->slot("published.param.actor.0.weight");
        set_all(*other, "actor.0.weight", 3e38f);
        keep(*other);
        const auto brain = other->agents.save(), weights = other->agents.save_weights();
        ASSERT_TRUE(brain.ok() && weights.ok()) << "it is finite";
        for (const auto& bytes : {*brain, *weights}) {
            const Status loaded = host->agents.load(bytes);
            EXPECT_NE(loaded.message().find("actor.0.weight': element 0 has a magnitude of 2^60 or "
                                            "more, which no training reaches"),
                      std::string::npos)
                << loaded.message();
        }
        EXPECT_FALSE(host->agents.load_snapshot(other->agents, 0).ok());
        host->settle();
        EXPECT_EQ(host->slot("published.param.actor.0.weight"), initial);
        EXPECT_EQ(host->agents.status().rollbacks, 0u);
    };
    check(small_sac(device()), small_sac(device()));
    check(small_host(device()), small_host(device()));
}

// Weights of 9e17 are accepted, and what three layers of them compute is not finite.
TEST_F(DriverWeightsTest, ABrainThatActsBeyondAllNumbersIsRolledBack) {
    const auto other = small_sac(device());
    ASSERT_NE(other, nullptr);
    other->settle();
    set_all(*other, "actor.0.weight", 9e17f);
    set_all(*other, "actor.1.weight", 9e17f);
    keep(*other);
    const auto saved = other->agents.save();
    ASSERT_TRUE(saved.ok()) << "it is finite";
    // A program saves brains that say nothing about agents.
    Brain of_program = load_brain(*saved).value();
    of_program.user_schema_hash = 0;
    of_program.user_data.clear();
    for (const std::vector<std::byte>& brain : {*saved, *save_brain(of_program)}) {
        const auto host = small_sac(device());
        ASSERT_NE(host, nullptr);
        host->settle();
        const std::vector<float> initial = host->slot("published.param.actor.0.weight");
        const auto ids = add_all(*host);
        ASSERT_TRUE(host->agents.load(brain).ok());
        const auto observe = [&] {
            for (const AgentId id : ids)
                for (size_t k = 0; k < 3; ++k)
                    host->agents.observation(id)[k] = k % 2 == 0 ? 2000.0f : -0.4f;
        };
        // The load that counts is that of a frame which is not discarded.
        ASSERT_TRUE(host->begin(observe).ok());
        ASSERT_TRUE(host->discard_frame({.learning_budget_us = 0}).ok());
        ASSERT_TRUE(host->record_agents({.learning_budget_us = 0}).ok());
        for (int frame = 0; frame < 12; ++frame) {
            ASSERT_TRUE(host->frame({.learning_budget_us = 0}, observe).ok());
            for (const AgentId id : ids)
                for (const float a : host->agents.action(id)) {
                    EXPECT_TRUE(a >= -2 && a <= 2) << frame;
                }
        }
        EXPECT_EQ(host->agents.status().brains_rejected, 1u);
        EXPECT_EQ(host->agents.status().rollbacks, 1u);
        EXPECT_EQ(host->slot("published.param.actor.0.weight"), initial);
    }
}

TEST_F(DriverWeightsTest, ObservationsThatAreNotFiniteSayNothingAboutABrain) {
    const auto host = small_sac(device());
    ASSERT_NE(host, nullptr);
    host->settle();
    const auto ids = add_all(*host);
    keep(*host);
    const auto good = host->agents.save();
    ASSERT_TRUE(good.ok());
    ASSERT_TRUE(host->agents.load(*good).ok());
    const auto observe = [&] {
        for (const AgentId id : ids)
            host->agents.observation(id)[0] = std::numeric_limits<float>::quiet_NaN();
    };
    for (int frame = 0; frame < 12; ++frame) {
        ASSERT_TRUE(host->frame({.learning_budget_us = 0}, observe).ok());
    }
    EXPECT_EQ(host->agents.status().brains_rejected, 0u);
}

TEST_F(DriverWeightsTest, ALearnerThatTakesNoStepGoesBackAndSaysSo) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 20);
    keep(*host);
    const std::vector<float> good = host->slot("actor.0.weight");
    const std::vector<float> huge(host->slot("critic.head.weight").size(), 3e38f);
    const auto slot = host->program().find_variable("critic.head.weight");
    ASSERT_TRUE(slot.ok());
    host->record([&](VkCommandBuffer commands) {
        return hearth_record_update_variable(host->agents.session(), commands, *slot, 0,
                                             huge.data(), huge.size() * sizeof(float));
    });
    int frame = 20;
    for (; frame < 400 && host->agents.status().rollbacks == 0; ++frame) {
        ASSERT_TRUE(
            host->frame({.learning_budget_us = 1e9}, [&] { live(host->agents, ids, frame); }).ok());
    }
    EXPECT_EQ(host->agents.status().rollbacks, 1u);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_EQ(host->slot("actor.0.weight"), good);
    play(*host, ids, frame, frame + 40);
    host->settle();
    EXPECT_EQ(host->agents.status().rollbacks, 1u) << "once was enough";
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
    ASSERT_TRUE(second->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_EQ(weights_of(*second), weights_of(*first));
    play(*second, other_ids, 0, 20);  // it goes on
    EXPECT_EQ(second->agents.status().rollbacks, 0u);

    const AgentSpec other(ObservationSpec().box("place", 2).box("pace"),
                          ActionSpec().discrete("move", 3, true).continuous("aim", 1, {-2, 2}));
    const auto stranger =
        Host::create(device(), build_agent_graphs(other, mlp_network({8}), small_ppo()),
                     make_manifest(other, small_ppo()));
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
        {.manifest = make_manifest(small_schema(), small_ppo()).save(), .max_snapshots = 0});
    ASSERT_TRUE(made.ok()) << made.status().message();
    Agents& opponents = *made;
    ASSERT_TRUE(opponents.create_pipelines().ok());
    opponents.freeze(true);
    EXPECT_FALSE(opponents.take_snapshot().ok());
    const auto ids = add_all(*learners);
    const AgentId opponent = *opponents.add();
    play(*learners, ids, 0, 10);
    keep(*learners);
    play(*learners, ids, 10, 20);
    keep(*learners);

    const auto likeliest_of = [&](Agents& agents, AgentId id) {
        learners->record([&](VkCommandBuffer commands) {
            std::ranges::fill(agents.observation(id), 0.5f);
            const auto recorded =
                agents.record(commands, {.learning_budget_us = 0, .exploration = 0});
            EXPECT_TRUE(recorded.ok()) << recorded.status().message();
            return HEARTH_OK;
        });
        learners->settle();
        agents.poll();
        const auto action = agents.action(id);
        return std::vector<float>(action.begin(), action.end());
    };
    std::vector<std::vector<float>> theirs, own;
    for (const uint32_t snapshot : {0u, 1u, HEARTH_AGENTS_INITIAL_WEIGHTS}) {
        ASSERT_TRUE(opponents.load_snapshot(learners->agents, snapshot).ok());
        theirs.push_back(likeliest_of(opponents, opponent));
        ASSERT_TRUE(learners->agents.restore_snapshot(snapshot).ok());
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
    play(*host, ids, 0, 9, {.learning_budget_us = 0});
    for (int i = 0; i < 60; ++i) {
        ASSERT_TRUE(host->agents.set_hyperparameter("learning_rate", 1e-3 / (1 + i)).ok());
        const Status recorded = host->frame({.learning_budget_us = 1, .request_decision = false});
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    }
}

TEST_F(DriverWeightsTest, FlushFinishesAWindowWithoutRegardToTheBudget) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    play(*host, ids, 0, 9, {.learning_budget_us = 0});
    ASSERT_TRUE(host->frame({.learning_budget_us = 1, .request_decision = false}).ok());
    ASSERT_EQ(host->agents.status().phase, HEARTH_AGENTS_UPDATE);
    host->agents.finish_update();
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false})
                    .ok());  // four items: at once
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
    EXPECT_EQ(host->slot("actor.0.weight"), host->slot("published.param.actor.0.weight"));
}

/// What agents did, decision by decision, however long each may take.
std::vector<std::vector<float>> actions_within(standalone::Device& device, uint32_t within,
                                               int* frames, uint64_t decisions = 24) {
    const auto host = small_host(device);
    if (host == nullptr) return {};
    const auto ids = add_all(*host);
    std::vector<std::vector<float>> all;
    *frames = 0;
    for (uint64_t decision = 0; decision < decisions; ++decision) {
        bool has_begun = false;
        while (host->agents.status().decisions <= decision && *frames < 5000) {
            // Without a budget nothing is decided; with one, as soon as enough of it is saved.
            const bool waits = within == HEARTH_AGENTS_BEST_EFFORT;
            const double learn_us = waits && has_begun ? 1e4 : 0.0;
            EXPECT_TRUE(host->frame({.learning_budget_us = learn_us, .max_decision_frames = within},
                                    [&] {
                                        // A decision sees the frame in which it starts.
                                        const bool is_seen = has_begun == waits;
                                        for (const AgentId id : ids) {
                                            host->agents.observation(id)[0] =
                                                is_seen ? 0.1f * static_cast<float>(decision)
                                                        : 9.0f;
                                            const float reward = has_begun ? 0.0f : 1.0f;
                                            EXPECT_TRUE(host->agents.add_reward(id, reward).ok());
                                        }
                                        has_begun = true;
                                    })
                            .ok());
            ++*frames;
        }
        EXPECT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
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

TEST_F(DriverWeightsTest, DecisionsForWheneverThereIsTimeWaitForItAndAreTheSame) {
    // So few that no window is full and nothing is learned from.
    constexpr uint64_t kDecisions = 6;
    int at_once = 0, whenever = 0;
    const auto whole = actions_within(device(), 1, &at_once, kDecisions);
    const auto spread = actions_within(device(), HEARTH_AGENTS_BEST_EFFORT, &whenever, kDecisions);
    EXPECT_EQ(at_once, 6);
    EXPECT_GE(whenever, 6 * 2);
    EXPECT_LT(whenever, 5000);
    EXPECT_EQ(whole, spread);
}

// --- What the game's own buffers hold ---

/// A buffer of the game's with these words, and how a decision is given it.
struct GameBuffer {
    standalone::Buffer buffer;
    hearth_tensor_binding bound{};
};
template <class T>
GameBuffer game_buffer(standalone::Device& device, uint32_t binding, const std::vector<T>& words) {
    GameBuffer out;
    auto made = standalone::Buffer::create(device, std::max<size_t>(words.size() * sizeof(T), 256),
                                           standalone::MemoryKind::kUpload);
    EXPECT_TRUE(made.ok()) << made.status().message();
    out.buffer = std::move(made).value();
    std::memcpy(out.buffer.data(), words.data(), words.size() * sizeof(T));
    out.bound = hearth_bind_buffer(binding, out.buffer.handle(), 0, words.size() * sizeof(T),
                                   out.buffer.usage());
    return out;
}

TEST_F(DriverWeightsTest, ObservationsMayComeFromTheGamesOwnBuffer) {
    const auto by_value = small_host(device()), by_buffer = small_host(device());
    ASSERT_TRUE(by_value != nullptr && by_buffer != nullptr);
    const auto ids = add_all(*by_value), same_ids = add_all(*by_buffer);
    const auto binding = by_buffer->agents.find_input("observation");
    ASSERT_TRUE(binding.ok());
    EXPECT_NE(by_buffer->agents.find_input("observations").status().message().find("'reward'"),
              std::string::npos);
    for (int frame = 0; frame < 12; ++frame) {
        std::vector<float> seen;
        for (int i = 0; i < 12; ++i) seen.push_back(std::sin(0.7f * static_cast<float>(frame + i)));
        const GameBuffer buffer = game_buffer(device(), *binding, seen);
        ASSERT_TRUE(by_value
                        ->frame({.learning_budget_us = 1e9},
                                [&] {
                                    for (size_t i = 0; i < 4; ++i)
                                        std::copy_n(&seen[3 * i], 3,
                                                    by_value->agents.observation(ids[i]).begin());
                                })
                        .ok());
        ASSERT_TRUE(
            by_buffer->frame({.learning_budget_us = 1e9, .inputs = {&buffer.bound, 1}}).ok());
        ASSERT_TRUE(by_buffer->frame({.learning_budget_us = 0, .request_decision = false}).ok());
        ASSERT_TRUE(by_value->frame({.learning_budget_us = 0, .request_decision = false}).ok());
        by_value->agents.poll();
        by_buffer->agents.poll();
        for (size_t i = 0; i < 4; ++i)
            EXPECT_TRUE(std::ranges::equal(by_value->agents.action(ids[i]),
                                           by_buffer->agents.action(same_ids[i])))
                << frame;
    }
    EXPECT_EQ(weights_of(*by_value), weights_of(*by_buffer));
    const GameBuffer stranger = game_buffer(device(), 1000, std::vector<float>(12));
    EXPECT_NE(by_buffer->frame({.inputs = {&stranger.bound, 1}})
                  .message()
                  .find("not an input of the entry frame"),
              std::string::npos);
}

TEST_F(DriverWeightsTest, TheGpuMayDecideWhoDecides) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    host->settle();
    const std::vector<float> before = host->slot("last.action");

    // Agents 3 and 1; what lies behind the GPU's count is not looked at.
    const auto find = [&](const char* name) { return *host->agents.find_input(name); };
    const std::vector<GameBuffer> buffers = [&] {
        std::vector<GameBuffer> all;
        all.push_back(game_buffer<uint32_t>(device(), find("id"), {3, 1, 0, 2}));
        all.push_back(game_buffer<float>(device(), find("observation"),
                                         {0.9f, -0.9f, 5, -0.9f, 0.9f, -5, 1, 1, 1, 1, 1, 1}));
        all.push_back(game_buffer<float>(device(), find("mask"), std::vector<float>(12, 1)));
        all.push_back(game_buffer<float>(device(), find("reward"), {1, 2, 3, 4}));
        all.push_back(game_buffer<float>(device(), find("done_kind"), {0, 0, 0, 0}));
        all.push_back(game_buffer<float>(device(), find("episode_start"), {0, 0, 0, 0}));
        all.push_back(
            game_buffer<float>(device(), find("final_observation"), std::vector<float>(12)));
        return all;
    }();
    std::vector<hearth_tensor_binding> inputs;
    for (const GameBuffer& b : buffers) inputs.push_back(b.bound);
    const GameBuffer count = game_buffer<uint32_t>(device(), 0, {2, 0, 0, 0});

    const std::span<const hearth_tensor_binding> some = std::span(inputs).first(6);
    EXPECT_NE(host->frame({.learning_budget_us = 0,
                           .inputs = some,
                           .indirect_agent_count_buffer = &count.bound})
                  .message()
                  .find("'final_observation' must be a buffer"),
              std::string::npos);
    const RecordOptions how{
        .learning_budget_us = 0, .inputs = inputs, .indirect_agent_count_buffer = &count.bound};
    const Status recorded = host->frame(how);
    ASSERT_TRUE(recorded.ok()) << recorded.message();
    host->settle();
    const std::vector<float> after = host->slot("last.action");
    for (size_t i = 0; i < 4; ++i) {
        const bool decided = i == 1 || i == 3;
        EXPECT_EQ(decided, !std::equal(&after[2 * i], &after[2 * i + 2], &before[2 * i])) << i;
        EXPECT_TRUE(
            std::ranges::equal(host->agents.action(ids[i]), std::span(after).subspan(2 * i, 2)));
    }
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 2u);
}

// --- Limits ---

/// What is steered after one person demonstrated 1 nine times as often as another -1.
float steered_by_two(standalone::Device& device, double source_share) {
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().continuous("steer"));
    BehaviorCloning clone;
    clone.n_agents = 2;
    clone.buffer_size = 256;
    clone.batch_size = 64;
    clone.learning_starts = 64;
    clone.learning_rate = 1e-2;
    clone.loss = BcLoss::kMse;
    clone.max_demonstrator_fraction = source_share;
    const auto host = Host::create(device, build_agent_graphs(schema, mlp_network({8}), clone, 1),
                                   make_manifest(schema, clone));
    if (host == nullptr) return 0;
    const AgentId car = *host->agents.add();
    const bool has_sources = source_share < 1;
    EXPECT_EQ(host->agents.add_demonstration(car, std::vector<float>{0}, 3).ok(), has_sources);
    for (int frame = 0; frame < 200; ++frame)
        EXPECT_TRUE(host->frame({.learning_budget_us = 1e9, .exploration = 0},
                                [&] {
                                    const uint32_t who = frame % 10 == 9 ? 2 : 1;
                                    const float steer = who == 1 ? 1.0f : -1.0f;
                                    EXPECT_TRUE(host->agents
                                                    .add_demonstration(car, std::span(&steer, 1),
                                                                       has_sources ? who : 0)
                                                    .ok());
                                })
                        .ok());
    host->settle();
    host->agents.poll();
    const auto action = host->agents.action(car);
    return action.empty() ? 0 : action[0];
}

TEST_F(DriverWeightsTest, NobodysDemonstrationsWeighMoreThanTheirShare) {
    EXPECT_GT(steered_by_two(device(), 1), 0.5f) << "whoever demonstrates most";
    EXPECT_LT(std::abs(steered_by_two(device(), 0.1)), 0.35f) << "both alike";
}

TEST_F(DriverWeightsTest, WeightsThatDriftedTooFarAreNotPublished) {
    Ppo ppo = small_ppo();
    ppo.limits.max_weight_drift = 1e-6;
    const auto host =
        Host::create(device(), build_agent_graphs(small_schema(), mlp_network({8}), ppo, 1),
                     make_manifest(small_schema(), ppo));
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    const std::vector<float> shipped = host->slot("actor.0.weight");
    play(*host, ids, 0, 24);
    host->settle();
    const AgentsStatus status = host->agents.status();
    EXPECT_NE(host->slot("actor.0.weight"), shipped) << "it learns";
    EXPECT_EQ(host->slot("published.param.actor.0.weight"), shipped);
    EXPECT_EQ(status[Counter::kPublications], 0u);
    EXPECT_GE(status[Counter::kPublicationsFar], 1u);
    EXPECT_EQ(status.rollbacks, 0u);

    ppo.limits.max_weight_drift = 10;
    const auto free =
        Host::create(device(), build_agent_graphs(small_schema(), mlp_network({8}), ppo, 1),
                     make_manifest(small_schema(), ppo));
    ASSERT_NE(free, nullptr);
    play(*free, add_all(*free), 0, 24);
    free->settle();
    EXPECT_GE(free->agents.status()[Counter::kPublications], 1u);
    EXPECT_EQ(free->agents.status()[Counter::kPublicationsFar], 0u);
}

TEST_F(DriverWeightsTest, StuckAndChangedRulesAreReported) {
    const auto host = small_host(device(), {.progress_window = 4});
    ASSERT_NE(host, nullptr);
    const auto ids = add_all(*host);
    const auto feed = [&](int decisions, float reward) {
        for (int i = 0; i < decisions; ++i)
            ASSERT_TRUE(host->frame({.learning_budget_us = 0},
                                    [&] {
                                        for (const AgentId id : ids)
                                            ASSERT_TRUE(host->agents.add_reward(id, reward).ok());
                                    })
                            .ok());
    };
    feed(1 + 4 * 5, 1.0f);
    EXPECT_EQ(host->agents.status().reward_shift_detected, 0u);
    EXPECT_EQ(host->agents.status().initial_score, 1.0);
    feed(4, -1.0f);
    EXPECT_EQ(host->agents.status().reward_shift_detected, 1u);
    EXPECT_EQ(host->agents.status().is_plateaued, 0u);
    feed(12, 0.1f);
    EXPECT_EQ(host->agents.status().is_plateaued, 1u);
    ASSERT_TRUE(host->agents.shrink_and_perturb(1).ok());
    EXPECT_EQ(host->agents.status().reward_shift_detected + host->agents.status().is_plateaued, 0u);
    // The game's own score counts more than rewards do.
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(host->agents.report_score(8).ok());
        feed(1, 0);
    }
    EXPECT_EQ(host->agents.status().score, 2.0) << "a quarter of it for each agent";
}

}  // namespace
}  // namespace hearth::gates
