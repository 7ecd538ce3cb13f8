// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr float kStep = 0.05f, kReach = 0.1f;
constexpr int kMaxAge = 100;

struct Point {
    float x = 0, y = 0;
};

/// A runner on the way to its flag.
struct Runner {
    AgentId id{};
    Point place, flag;
    int age = 0;
};

ObservationSpec embers(bool with_heat) {
    ObservationSpec ember;
    ember.position("place", 2, 1);
    if (with_heat) ember.box("heat");
    return ember;
}
AgentSpec before() {
    return {ObservationSpec()
                .position("place", 2, 1)
                .entities("embers", 3, embers(false))
                .position("flag", 2, 1),
            ActionSpec().continuous("step", 2)};
}
/// Fields are added before, between and behind the old ones, and within a set.
AgentSpec now() {
    return {ObservationSpec()
                .unit_vector("wind", 2)
                .position("place", 2, 1)
                .entities("embers", 3, embers(true))
                .discrete("season", 4)
                .position("flag", 2, 1)
                .entities("wolves", 2, embers(false)),
            ActionSpec().continuous("step", 2)};
}

class ExtendBrain : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = cpu::open_device({.progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
    }
    template <class Learner>
    Agents make(const AgentSpec& spec, const Learner& learner, uint64_t seed = 1,
                const PolicyNetwork& network = mlp_network({32, 32})) {
        auto agents = make_agents(device_->context(), spec, network, learner, {.seed = seed});
        EXPECT_TRUE(agents.ok()) << agents.status().message();
        return agents.ok() ? std::move(*agents) : Agents();
    }
    /// Writes a field by its path; the new fields have values that change.
    void observe(Agents& agents, const Runner& runner) {
        const auto seen = agents.observation(runner.id);
        std::uniform_real_distribution<float> any(-1, 1);
        const auto write = [&](const char* path, std::vector<float> values) {
            if (const auto field = agents.find_observation(path); field.ok())
                std::ranges::copy(values, seen.begin() + field->offset);
        };
        for (float& value : seen) value = any(noise_);
        write("place", {runner.place.x, runner.place.y});
        write("flag", {runner.flag.x - runner.place.x, runner.flag.y - runner.place.y});
        const float count = 1, x = runner.flag.x, y = runner.place.y;
        for (const char* set : {"embers", "wolves"}) write(set, {count, x, y});
        if (agents.find_observation("season").ok())
            write("season", {static_cast<float>(runner.age % 4)});
    }
    /// Plays frames, and returns the flags that were reached.
    Result<int> play(Agents& agents, int frames, float exploration = 1, bool learns = true) {
        agents.freeze(!learns);
        std::mt19937 random(1);
        std::uniform_real_distribution<float> anywhere(-1, 1);
        const auto point = [&] {
            const float x = anywhere(random);
            return Point{x, anywhere(random)};
        };
        std::vector<Runner> runners(16);
        for (Runner& r : runners) {
            HEARTH_ASSIGN(r.id, agents.add());
            r.place = point(), r.flag = point();
            observe(agents, r);
        }
        int flags = 0;
        for (int frame = 0; frame < frames; ++frame) {
            HEARTH_TRY(device_->context().begin_frame());
            agents.poll();
            for (Runner& r : runners) {
                const auto step = agents.action(r.id);
                if (step.empty()) continue;
                const float far = std::hypot(r.flag.x - r.place.x, r.flag.y - r.place.y);
                r.place.x = std::clamp(r.place.x + kStep * step[0], -1.0f, 1.0f);
                r.place.y = std::clamp(r.place.y + kStep * step[1], -1.0f, 1.0f);
                const float near = std::hypot(r.flag.x - r.place.x, r.flag.y - r.place.y);
                const bool is_there = near < kReach;
                HEARTH_TRY(agents.add_reward(r.id, far - near + (is_there ? 1.0f : 0.0f)));
                if (is_there || ++r.age >= kMaxAge) {
                    HEARTH_TRY(agents.end_episode(
                        r.id, is_there ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
                    r.flag = point(), r.age = 0, flags += is_there;
                }
                observe(agents, r);
            }
            HEARTH_TRY(device_->run([&](VkCommandBuffer commands) {
                return agents.record(commands,
                                     {.learning_budget_us = 1e5, .exploration = exploration});
            }));
        }
        for (const Runner& r : runners) HEARTH_TRY(agents.remove(r.id));
        return flags;
    }
    void expect_equal_score(Agents& old, Agents& fresh, std::span<const std::byte> brain) {
        const int untrained = *play(fresh, 300, 0, false);
        const Status loaded = load_extended(fresh, brain);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        const int before = *play(old, 300, 0, false), after = *play(fresh, 300, 0, false);
        std::printf("%d flags before training, %d with the old brain, %d extended\n", untrained,
                    before, after);
        EXPECT_GT(before, 3 * untrained + 10);
        EXPECT_NEAR(after, before, 0.05 * before);
    }
    /// The most likely actions of agents in 16 places.
    std::vector<float> actions(Agents& agents) {
        agents.freeze(true);
        std::vector<Runner> runners(16);
        std::vector<float> all;
        for (size_t i = 0; i < runners.size(); ++i) {
            runners[i].id = *agents.add();
            const float at = static_cast<float>(i) / 8 - 1;
            runners[i].place = {at, -at}, runners[i].flag = {0.5f - at, at * at};
        }
        for (int frame = 0; frame < 4; ++frame) {  // actions of these observations have arrived
            EXPECT_TRUE(device_->context().begin_frame().ok());
            agents.poll();
            for (const Runner& r : runners) observe(agents, r);
            EXPECT_TRUE(device_
                            ->run([&](VkCommandBuffer commands) {
                                return agents.record(commands, {.exploration = 0});
                            })
                            .ok());
        }
        for (const Runner& r : runners) {
            const auto action = agents.action(r.id);
            all.insert(all.end(), action.begin(), action.end());
            EXPECT_TRUE(agents.remove(r.id).ok());
        }
        return all;
    }
    /// Trains agents, loads their own brain into them so that they act by it, and returns it.
    std::vector<std::byte> train(Agents& agents, int frames) {
        EXPECT_TRUE(play(agents, frames).ok());
        EXPECT_TRUE(agents.take_snapshot().ok());
        EXPECT_TRUE(play(agents, 20).ok());
        std::vector<std::byte> brain = *agents.save();
        EXPECT_TRUE(agents.load(brain).ok());
        return brain;
    }

    std::optional<cpu::Device> device_;
    std::mt19937 noise_{7};
};

TEST_F(ExtendBrain, PpoKeepsItsScoreWithAddedFieldsAndLearnsOn) {
    const Ppo ppo{.gamma = 0.97};  // few frames
    Agents old = make(before(), ppo), fresh = make(now(), ppo, 2);
    const std::vector<std::byte> brain = train(old, 1'500);
    expect_equal_score(old, fresh, brain);
    const int at_once = *play(fresh, 300, 0, false);
    ASSERT_TRUE(play(fresh, 600).ok());
    EXPECT_GE(*play(fresh, 300, 0, false), 0.9 * at_once) << "learning goes on from there";
}

TEST_F(ExtendBrain, SacActsAsBeforeWhateverTheNewFieldsHold) {
    const Sac sac{.replay = {.learning_starts = 200, .train_freq = 16}};
    Agents old = make(before(), sac), fresh = make(now(), sac, 2);
    const std::vector<std::byte> brain = train(old, 200);
    const std::vector<float> wanted = actions(old), others = actions(fresh);
    ASSERT_TRUE(load_extended(fresh, brain).ok());
    const std::vector<float> extended = actions(fresh);
    float furthest = 0, furthest_before = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        furthest = std::max(furthest, std::abs(extended[i] - wanted[i]));
        furthest_before = std::max(furthest_before, std::abs(others[i] - wanted[i]));
    }
    EXPECT_LT(furthest, 1e-4f) << "sums of the same products and zeros, in another order";
    EXPECT_GT(furthest_before, 0.05f);
}

TEST_F(ExtendBrain, WeightsAloneAreExtendedToo) {
    Agents old = make(before(), Ppo{}), fresh = make(now(), Ppo{}, 2);
    (void)train(old, 1'000);
    const std::vector<std::byte> weights = *old.save_weights();
    ASSERT_TRUE(old.load(weights).ok());
    expect_equal_score(old, fresh, weights);
}

TEST_F(ExtendBrain, WhatIsMoreThanAddedFieldsIsRefusedByName) {
    Agents old = make(before(), Ppo{});
    const std::vector<std::byte> brain = *old.save();
    const auto refusal = [&](const AgentSpec& spec,
                             const PolicyNetwork& network = mlp_network({32, 32})) {
        Agents others = make(spec, Ppo{}, 1, network);
        const Status status = load_extended(others, brain);
        EXPECT_FALSE(status.ok());
        return status.message();
    };
    const auto expect_says = [](const std::string& message, const char* part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    const ActionSpec steps = ActionSpec().continuous("step", 2);
    expect_says(refusal({ObservationSpec().position("place", 2, 1).position("flag", 2, 1), steps}),
                "the field 'embers' of the brain is gone");
    expect_says(refusal({ObservationSpec()
                             .position("place", 2, 5)
                             .entities("embers", 3, embers(false))
                             .position("flag", 2, 1),
                         steps}),
                "the field 'place' differs");
    expect_says(refusal({ObservationSpec()
                             .position("place", 2, 1)
                             .position("flag", 2, 1)
                             .entities("embers", 3, embers(false)),
                         steps}),
                "the field 'flag' comes earlier");
    expect_says(refusal({ObservationSpec()
                             .position("place", 2, 1)
                             .entities("embers", 3, embers(false))
                             .position("flag", 2, 1),
                         ActionSpec().continuous("step", 3)}),
                "the actions or the frame stack differ");
    expect_says(refusal(now(), mlp_network({16, 32})), "expected the same network");

    Agents others = make(now(), Ppo{});
    EXPECT_FALSE(load_extended(others, std::vector<std::byte>(64)).ok());
    for (size_t size : {size_t{0}, size_t{40}, brain.size() / 2, brain.size() - 1})
        EXPECT_FALSE(load_extended(others, std::span(brain).first(size)).ok()) << size;
}

}  // namespace
