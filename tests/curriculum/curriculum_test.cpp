// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/brain.hpp>
#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr int kAgents = 16, kMaxAge = 26;
constexpr double kFar = 10;

/// The goal is a step away along both axes, then three, then more than chance walks.
constexpr std::string_view kLessons = R"({"environment_parameters": {"distance": {"curriculum": [
    {"name": "near", "value": 1,
     "completion_criteria": {"measure": "reward", "min_lesson_length": 50, "threshold": 0.8}},
    {"name": "middle", "value": 3,
     "completion_criteria": {"measure": "reward", "min_lesson_length": 50, "threshold": 0.8}},
    {"name": "any", "value": {"sampler_type": "uniform",
                              "sampler_parameters": {"min_value": 3, "max_value": 10}},
     "completion_criteria": {"measure": "reached", "min_lesson_length": 50, "threshold": 0.8}},
    {"name": "far", "value": 10}]}}})";

/// A walker on a grid, whose only reward is at the goal.
struct Walker {
    AgentId id{};
    int offset[2] = {};  ///< of the goal
    int age = 0;
};

class CurriculumTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = cpu::open_device({.progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
    }
    Result<Agents> try_make(std::string_view curriculum, bool saves_games = false) {
        const AgentSpec spec(ObservationSpec().box("goal", 2, {-1, 1}),
                             ActionSpec().discrete("step", 4));
        return make_agents(
            device_->context(), spec, mlp_network({16}), Ppo{.n_agents = kAgents, .n_steps = 32},
            {.agents = {.enable_saved_games = saves_games, .curriculum = curriculum}, .seed = 1});
    }
    Agents make(std::string_view curriculum, bool saves_games = false) {
        auto agents = try_make(curriculum, saves_games);
        EXPECT_TRUE(agents.ok()) << agents.status().message();
        return agents.ok() ? std::move(*agents) : Agents();
    }
    /// Plays, at the distance or, if it is 0, at that of the curriculum, and returns the share of
    /// the last quarter's episodes that reached the goal.
    Result<double> play(Agents& agents, int frames, double distance = 0) {
        std::mt19937 random(1);
        const auto start = [&](Walker& walker) -> Status {
            double steps = distance;
            if (steps == 0) {
                HEARTH_ASSIGN(steps, agents.parameter("distance"));
            }
            for (int& offset : walker.offset)
                offset = static_cast<int>(std::lround(steps)) * (random() % 2 == 0 ? 1 : -1);
            walker.age = 0;
            return {};
        };
        std::vector<Walker> walkers(kAgents);
        for (Walker& walker : walkers) {
            HEARTH_ASSIGN(walker.id, agents.add());
            HEARTH_TRY(start(walker));
        }
        double episodes = 0, reached = 0;
        for (int frame = 0; frame < frames; ++frame) {
            HEARTH_TRY(device_->context().begin_frame());
            agents.poll();
            for (Walker& walker : walkers) {
                if (const auto step = agents.action(walker.id); !step.empty())
                    walker.offset[step[0] > 1.5f] += std::fmod(step[0], 2) > 0.5f ? 1 : -1;
                const bool is_there = walker.offset[0] == 0 && walker.offset[1] == 0;
                if (is_there || ++walker.age == kMaxAge) {
                    if (is_there) HEARTH_TRY(agents.add_reward(walker.id, 1));
                    HEARTH_TRY(agents.end_episode(walker.id, EpisodeEnd::kTerminated));
                    HEARTH_TRY(agents.log("reached", is_there));
                    if (frame >= frames - frames / 4) ++episodes, reached += is_there;
                    HEARTH_TRY(start(walker));
                }
                for (size_t axis = 0; axis < 2; ++axis)
                    agents.observation(walker.id)[axis] =
                        static_cast<float>(walker.offset[axis] / kFar);
            }
            HEARTH_TRY(device_->run([&](VkCommandBuffer commands) {
                return agents.record(commands, {.learning_budget_us = 1e5});
            }));
        }
        for (Walker& walker : walkers) HEARTH_TRY(agents.remove(walker.id));
        return reached / episodes;
    }

    std::optional<cpu::Device> device_;
};

TEST_F(CurriculumTest, LessonsTeachWhatChanceDoesNotFind) {
    constexpr int kFrames = 4'000;
    Agents with = make(kLessons), without = make({});
    const auto taught = play(with, kFrames), untaught = play(without, kFrames, kFar);
    ASSERT_TRUE(taught.ok()) << taught.status().message();
    ASSERT_TRUE(untaught.ok()) << untaught.status().message();
    RecordProperty("with lessons", std::to_string(*taught));
    RecordProperty("without", std::to_string(*untaught));
    EXPECT_GT(*taught, 0.9);
    EXPECT_LT(*untaught, 0.1);
    const auto lessons = with.lessons();
    ASSERT_EQ(lessons.size(), 1u);
    EXPECT_STREQ(lessons[0].parameter, "distance");
    EXPECT_STREQ(lessons[0].lesson, "far");
    EXPECT_EQ(lessons[0].index, 3u);
    EXPECT_EQ(lessons[0].count, 4u);
    EXPECT_NE(run_log_sample(with, 1).find(R"("lesson":{"distance":3})"), std::string::npos);
    EXPECT_EQ(run_log_sample(without, 1).find("lesson"), std::string::npos);
}

TEST_F(CurriculumTest, ASavedGameGoesOnInItsLesson) {
    Agents saved = make(kLessons, true), resumed = make(kLessons, true);
    ASSERT_TRUE(play(saved, 600).ok());
    ASSERT_TRUE(saved.save_game().ok());
    ASSERT_TRUE(play(saved, 4, kFar).ok());
    const auto game = saved.saved_game();
    ASSERT_TRUE(game.ok() && !game->empty());
    ASSERT_TRUE(resumed.load(*game).ok());
    ASSERT_TRUE(device_->context().begin_frame().ok());
    ASSERT_TRUE(device_
                    ->run([&](VkCommandBuffer commands) {
                        return resumed.record(commands, {.learning_budget_us = 0});
                    })
                    .ok());
    const hearth_agents_lesson before = saved.lessons()[0], after = resumed.lessons()[0];
    EXPECT_GT(after.index, 0u);
    EXPECT_EQ(after.index, before.index);
    // A game with another curriculum has another state.
    Agents other = make({}, true);
    const Status loaded = other.load(*game);
    EXPECT_NE(loaded.message().find("the same curriculum"), std::string::npos) << loaded.message();
}

TEST_F(CurriculumTest, AWrongOneIsRefusedAtCreation) {
    const auto made = try_make(R"({"environment_parameters": 1})");
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.status().message().find("curriculum, line 1: expected an object"),
              std::string::npos)
        << made.status().message();
    Agents none = make({});
    EXPECT_NE(none.parameter("wall").status().message().find("no parameter 'wall'; there is none"),
              std::string::npos);
    Agents some = make(kLessons);
    EXPECT_NE(some.parameter("wall").status().message().find("there are 'distance'"),
              std::string::npos);
}

TEST_F(CurriculumTest, FrozenAgentsMeasureNothingAndAResetBeginsAnew) {
    Agents agents = make(R"({"environment_parameters": {"distance": {"curriculum": [
        {"name": "near", "value": 1,
         "completion_criteria": {"measure": "reached", "threshold": 0.5}},
        {"name": "far", "value": 10}]}}})");
    agents.freeze(true);
    EXPECT_TRUE(agents.log("reached", 1).ok());
    EXPECT_EQ(agents.lessons()[0].index, 0u);
    agents.freeze(false);
    EXPECT_TRUE(agents.log("reached", 1).ok());
    EXPECT_EQ(agents.lessons()[0].index, 1u);
    agents.reset_brain();
    EXPECT_EQ(agents.lessons()[0].index, 0u);
}

TEST_F(CurriculumTest, EpisodesThatEndWhileFrozenEndNoLesson) {
    Agents agents = make(R"({"environment_parameters": {"distance": {"curriculum": [
        {"name": "near", "value": 1,
         "completion_criteria": {"measure": "reward", "threshold": 0.5}},
        {"name": "far", "value": 10}]}}})");
    const AgentId frozen = agents.add().value(), learning = agents.add().value();
    agents.freeze(true);
    EXPECT_TRUE(agents.add_reward(frozen, 1).ok());
    EXPECT_TRUE(agents.end_episode(frozen, EpisodeEnd::kTerminated).ok());
    EXPECT_EQ(agents.lessons()[0].episodes, 0u);
    EXPECT_EQ(agents.lessons()[0].index, 0u);
    agents.freeze(false);
    EXPECT_TRUE(agents.add_reward(learning, 1).ok());
    EXPECT_TRUE(agents.end_episode(learning, EpisodeEnd::kTerminated).ok());
    EXPECT_EQ(agents.lessons()[0].index, 1u);
}

TEST_F(CurriculumTest, RewardsInBuffersOfTheGameAreNoMeasure) {
    Agents agents = make(kLessons);
    const uint32_t reward = agents.find_input("reward").value();
    const hearth_tensor_binding inputs[] = {{.binding = reward}};
    ASSERT_TRUE(device_->context().begin_frame().ok());
    const Status recorded = device_->run(
        [&](VkCommandBuffer commands) { return agents.record(commands, {.inputs = inputs}); });
    EXPECT_NE(recorded.message().find("the curriculum measures rewards, which are in a buffer"),
              std::string::npos)
        << recorded.message();
}

TEST_F(CurriculumTest, AnAgentThatTakesAnIndexBeginsWithNoReturn) {
    Agents agents = make(kLessons);
    const AgentId first = agents.add().value();
    EXPECT_TRUE(agents.add_reward(first, 50).ok());
    EXPECT_TRUE(agents.remove(first).ok());
    const AgentId second = agents.add().value();
    EXPECT_EQ(second.index, first.index);
    EXPECT_TRUE(agents.end_episode(second, EpisodeEnd::kTerminated).ok());
    for (int i = 1; i < 50; ++i) {
        const AgentId id = agents.add().value();
        EXPECT_TRUE(agents.end_episode(id, EpisodeEnd::kTerminated).ok());
        EXPECT_TRUE(agents.remove(id).ok());
    }
    EXPECT_EQ(agents.lessons()[0].episodes, 50u);
    EXPECT_EQ(agents.lessons()[0].index, 0u) << "the mean return is 0, not 1";
}

// --- Curiosity ---

/// Decisions per agent until 40 of 50 episodes end at the far corner of a grid, which alone is
/// rewarded; `frames` if they never do.
Result<int> frames_to_solve(cpu::Device& device, double rnd_coef, uint64_t seed, int frames) {
    constexpr int kSide = 12, kMostSteps = 30;
    const AgentSpec spec(ObservationSpec().box("place", 2, {0, kSide - 1}),
                         ActionSpec().discrete("step", 4));
    HEARTH_ASSIGN(Agents agents, make_agents(device.context(), spec, mlp_network({32}),
                                             Ppo{.n_agents = kAgents,
                                                 .n_steps = 32,
                                                 .ent_coef = 0.01,
                                                 .rnd_coef = rnd_coef,
                                                 .gamma = 0.97},
                                             {.seed = seed}));
    struct Explorer {
        AgentId id{};
        int place[2] = {}, age = 0;
    };
    std::vector<Explorer> explorers(kAgents);
    for (Explorer& e : explorers) {
        HEARTH_ASSIGN(e.id, agents.add());
    }
    std::vector<int> ends;  // 1: at the goal
    for (int frame = 0; frame < frames; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        agents.poll();
        for (Explorer& e : explorers) {
            if (const auto step = agents.action(e.id); !step.empty()) {
                int& along = e.place[step[0] > 1.5f];
                along = std::clamp(along + (std::fmod(step[0], 2) > 0.5f ? 1 : -1), 0, kSide - 1);
            }
            const bool is_there = e.place[0] == kSide - 1 && e.place[1] == kSide - 1;
            if (is_there || ++e.age == kMostSteps) {
                if (is_there) HEARTH_TRY(agents.add_reward(e.id, 1));
                const float last[] = {static_cast<float>(e.place[0]),
                                      static_cast<float>(e.place[1])};
                HEARTH_TRY(agents.end_episode(
                    e.id, is_there ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated, last));
                ends.push_back(is_there);
                e.place[0] = e.place[1] = e.age = 0;
            }
            for (size_t axis = 0; axis < 2; ++axis)
                agents.observation(e.id)[axis] = static_cast<float>(e.place[axis]);
        }
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = 1e5});
        }));
        if (ends.size() >= 50 && std::accumulate(ends.end() - 50, ends.end(), 0) >= 40)
            return frame;
    }
    return frames;
}

TEST_F(CurriculumTest, CuriositySolvesASparseGridSooner) {
    constexpr int kFrames = 6'000;
    int all_with = 0, all_without = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        const auto with = frames_to_solve(*device_, 0.3, seed, kFrames);
        const auto without = frames_to_solve(*device_, 0, seed, kFrames);
        ASSERT_TRUE(with.ok()) << with.status().message();
        ASSERT_TRUE(without.ok()) << without.status().message();
        RecordProperty("seed " + std::to_string(seed),
                       std::to_string(*with) + " with, " + std::to_string(*without) + " without");
        all_with += *with, all_without += *without;
        EXPECT_LT(*with, kFrames / 2) << seed;
    }
    EXPECT_GT(all_without, 2 * all_with);
}

// Agents that play need none of it.
TEST_F(CurriculumTest, BrainsForPlayHoldNoCuriosity) {
    const AgentSpec spec(ObservationSpec().box("place", 2), ActionSpec().discrete("step", 4));
    auto agents = make_agents(device_->context(), spec, mlp_network({8}),
                              Ppo{.n_agents = 2, .n_steps = 8, .rnd_coef = 0.1, .rnd_size = 8});
    ASSERT_TRUE(agents.ok()) << agents.status().message();
    const auto count_in = [](const Result<std::vector<std::byte>>& bytes) {
        size_t count = 0;
        const Result<Brain> brain = load_brain(*bytes);
        for (const BrainTensor& tensor : brain->tensors) count += tensor.name.starts_with("rnd.");
        return count;
    };
    EXPECT_GT(count_in(agents->save()), 10u);
    EXPECT_EQ(count_in(agents->save_weights()), 0u);
    Agents& own = *agents;
    EXPECT_TRUE(own.load(*own.save_weights()).ok());
}

}  // namespace
