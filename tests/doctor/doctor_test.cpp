// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// `hearth doctor` on games that learn with one fault each, and on healthy ones.  The faults are in
// the games; the doctor sees their run logs alone.

#include "classic/task.hpp"
#include "tool/run_tool.hpp"

#include <hearth/file.hpp>
#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace hearth::agents {
namespace {

constexpr uint32_t kAgents = 16;

/// A game of a classic task, whose parts a fault replaces.
struct Game {
    const char* task = "CartPole";
    int frames = 600;
    double learning_budget_us = 1e9;
    double seconds_per_frame = 0;  ///< 0: the log's axis is in frames
    Range range = {-100, 100};     ///< of observations
    bool masks_everything = false;
    bool rewards_after_end = false;
    bool ends_episodes = true;
    bool goal_after_end = false;  ///< a further reward behind each end_episode
    int step_limit = 0;           ///< of an episode; 0: the task's
    /// Changes what an agent observes.
    std::function<void(int frame, std::span<float> seen)> show = [](int, std::span<float>) {};
    /// The reward of a step that the task gives `reward`.
    std::function<double(int frame, double reward)> reward = [](int, double r) { return r; };
};

cpu::DeviceOptions device_options() {
    return {.flags = "-O1", .cache_folder = ::testing::TempDir() + "hearth_doctor", .progress = {}};
}

Ppo small_ppo() {
    Ppo ppo{.n_agents = kAgents, .n_steps = 32};
    ppo.learning_rate = 3e-3;
    ppo.gamma = 0.98;
    return ppo;
}

struct Player {
    AgentId id{};
    std::unique_ptr<classic::Task> task;
    int steps = 0;
};

/// The specification of a task's agents: "state", and "push" or "torque".
AgentSpec spec_of(const Game& game, const classic::TaskInfo& info) {
    const ActionSpec actions =
        info.choices > 0 ? ActionSpec().discrete("push", info.choices, game.masks_everything)
                         : ActionSpec().continuous("torque", 1, {info.low, info.high});
    return {ObservationSpec().box("state", info.observation_width, game.range), actions};
}

Status step(Agents& agents, const Game& game, int frame, Player& player, uint64_t& seed) {
    const std::span<const float> action = agents.action(player.id);
    const std::span<float> seen = agents.observation(player.id);
    const auto show = [&] {
        player.task->observe(seen);
        game.show(frame, seen);
    };
    if (float* const mask = agents.action_mask(player.id); mask != nullptr)
        std::fill_n(mask, agents.action_mask_size(), game.masks_everything ? 0.0f : 1.0f);
    if (action.empty()) return show(), Status();
    const classic::Outcome outcome = player.task->step(action[0]);
    const auto reward = static_cast<float>(game.reward(frame, outcome.reward));
    show();
    // As a game in C does that does not look at the results.
    if (!game.rewards_after_end) (void)agents.add_reward(player.id, reward);
    const int step_limit =
        game.step_limit > 0 ? game.step_limit : static_cast<int>(player.task->info().step_limit);
    if (outcome.terminated || ++player.steps >= step_limit) {
        if (game.ends_episodes)
            HEARTH_TRY(agents.end_episode(
                player.id, outcome.terminated ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
        if (game.goal_after_end) HEARTH_TRY(agents.add_reward(player.id, 1));
        player.task->reset(++seed);
        player.steps = 0;
        show();
    }
    if (game.rewards_after_end) HEARTH_TRY(agents.add_reward(player.id, reward));
    return {};
}

/// Plays the game and returns its run log.
template <class Learner>
Result<std::string> play(const Game& game, const Learner& learner) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device(device_options()));
    const auto task = classic::make_task(game.task);
    HEARTH_ASSIGN(Agents agents, make_agents(device.context(), spec_of(game, task->info()),
                                             mlp_network({32, 32}), learner));
    std::vector<Player> players(agents.capacity());
    uint64_t seed = 0;
    for (Player& player : players) {
        HEARTH_ASSIGN(player.id, agents.add());
        player.task = classic::make_task(game.task);
        player.task->reset(++seed);
    }
    const bool is_in_seconds = game.seconds_per_frame > 0;
    std::string log = run_log_begin(game.task, is_in_seconds ? "seconds" : "frames");
    for (int frame = 1; frame <= game.frames; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        agents.poll();
        for (Player& player : players) HEARTH_TRY(step(agents, game, frame, player, seed));
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = game.learning_budget_us});
        }));
        if (frame % 10 == 0)
            log += run_log_sample(agents, frame * (is_in_seconds ? game.seconds_per_frame : 1));
    }
    return log;
}

/// What `hearth doctor` says of a log.
template <class Learner>
testing::Ran examine(const Game& game, const Learner& learner) {
    const Result<std::string> log = play(game, learner);
    EXPECT_TRUE(log.ok()) << log.status().message();
    if (!log.ok()) return {};
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    const std::string path = ::testing::TempDir() + "doctor_" + test.name() + ".jsonl";
    EXPECT_TRUE(write_file_atomically(path, std::string_view(*log)).ok());
    return testing::run("doctor '" + path + "'");
}

/// Expects a finding that names `name`, with a text.
void expect_named(const testing::Ran& ran, const std::string& name, const std::string& text = "") {
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_TRUE(ran.says(name + ": ")) << "expected " << name << ", found:\n" << ran.text;
    EXPECT_TRUE(ran.says(text)) << "expected '" << text << "', found:\n" << ran.text;
    EXPECT_TRUE(ran.says("\n  try: ")) << ran.text;
}

// --- Faults that the rules were written for ---

TEST(DoctorNames, ARewardThatIsNeverEarned) {
    Game game;
    game.reward = [](int, double) { return 0; };
    expect_named(examine(game, small_ppo()), "sparse_reward");
}

TEST(DoctorNames, ABudgetThatIsTooSmall) {
    Game game{.learning_budget_us = 1};
    expect_named(examine(game, small_ppo()), "starved_budget", "learning_budget_us");
}

TEST(DoctorNames, AFieldThatNeverChanges) {
    Game game;
    game.show = [](int, std::span<float> seen) { seen[2] = 7; };
    expect_named(examine(game, small_ppo()), "constant_observation", "'state[2]' never changed");
}

TEST(DoctorNames, AFieldThatIsAlwaysAtItsLimit) {
    Game game;
    game.show = [](int frame, std::span<float> seen) { seen[1] = frame % 2 == 0 ? 1e30f : 2e30f; };
    expect_named(examine(game, small_ppo()), "observation_at_limit", "'state[1]' is at its limit");
}

TEST(DoctorNames, AFieldThatIsNotFinite) {
    Game game;
    game.show = [](int frame, std::span<float> seen) {
        if (frame % 20 == 0) seen[3] = std::numeric_limits<float>::quiet_NaN();
    };
    expect_named(examine(game, small_ppo()), "non_finite", "'state[3]' was NaN");
}

TEST(DoctorNames, MasksWithoutAnOption) {
    Game game{.masks_everything = true};
    expect_named(examine(game, small_ppo()), "all_masked");
}

TEST(DoctorNames, AnEntropyThatRises) {
    Game game{.task = "Pendulum"};
    Ppo ppo = small_ppo();
    ppo.ent_coef = 0.5;
    expect_named(examine(game, ppo), "entropy_rising", "ent_coef");
}

TEST(DoctorNames, RewardsThatNothingObservedPredicts) {
    Game game;
    uint32_t noise = 1;
    game.reward = [&](int, double) {
        noise = noise * 1664525 + 1013904223;  // Numerical Recipes' generator
        return noise >> 31 == 0 ? 1.0 : -1.0;
    };
    expect_named(examine(game, small_ppo()), "low_explained_variance");
}

TEST(DoctorNames, StepsThatAreTooLargeForThePolicy) {
    Ppo ppo = small_ppo();
    ppo.learning_rate = 0.05;
    ppo.limits.max_update_ratio = 0;
    expect_named(examine({}, ppo), "kl_stops", "learning_rate");
}

TEST(DoctorNames, AValueLossThatExplodes) {
    Game game;
    game.reward = [](int frame, double) { return -std::pow(1.02, frame); };
    Ppo ppo = small_ppo();
    ppo.normalize_rewards = false;
    ppo.limits.clip_reward = 1e9;
    expect_named(examine(game, ppo), "value_loss_explodes");
}

TEST(DoctorNames, TooFewSamplesAMinute) {
    const Game game{.frames = 160, .seconds_per_frame = 4};
    expect_named(examine(game, small_ppo()), "few_samples", "240 samples a minute");
}

TEST(DoctorNames, RewardsAfterTheEndOfAnEpisode) {
    const Game game{.rewards_after_end = true};
    expect_named(examine(game, small_ppo()), "reward_after_end", "before end_episode");
}

// --- Faults of kinds that users of trainers report.  The rules named three of ten such before four
// rules were added; docs/reference/doctor.md lists those that they do not name. ---

TEST(DoctorNamesToo, PlacesFarFromTheOriginOfTheWorld) {
    Game game;
    game.show = [](int, std::span<float> seen) { seen[0] += 1e7f; };
    expect_named(examine(game, small_ppo()), "observation_unresolved", "'state[0]'");
}

TEST(DoctorNamesToo, APenaltyForEachStepUntilAGoalThatNobodyReaches) {
    Game game{.task = "Pendulum", .frames = 1200};
    game.reward = [](int, double) { return -1; };
    expect_named(examine(game, small_ppo()), "constant_return");
}

TEST(DoctorNamesToo, RewardsInTheThousands) {
    Game game;
    game.reward = [](int, double reward) { return 1e4 * reward; };
    Ppo ppo = small_ppo();
    ppo.normalize_rewards = false;
    expect_named(examine(game, ppo), "reward_clamped", "reward_scale");
}

TEST(DoctorNamesToo, EpisodesThatNeverEnd) {
    const Game game{.ends_episodes = false};
    expect_named(examine(game, small_ppo()), "no_episodes", "end_episode");
}

TEST(DoctorNamesToo, RewardsThatAreNotFinite) {
    Game game;
    game.reward = [](int frame, double reward) { return frame % 9 == 0 ? std::nan("") : reward; };
    expect_named(examine(game, small_ppo()), "reward_rejected");
}

TEST(DoctorNamesToo, RaysThatReportTheLargestFloatWhereTheyHitNothing) {
    Game game;
    game.show = [](int frame, std::span<float> seen) {
        if (frame % 10 != 0) seen[1] = std::numeric_limits<float>::max();
    };
    expect_named(examine(game, small_ppo()), "observation_at_limit", "'state[1]'");
}

TEST(DoctorNamesToo, ALearningRateThatIsFarTooSmall) {
    Ppo ppo = small_ppo();
    ppo.learning_rate = 1e-9;
    expect_named(examine({}, ppo), "steps_too_small", "learning_rate");
}

// --- A third ten, chosen from public reports before they were tried.  The rules as they were named
// four; three rules were added.  Three are not named, of which these are the tests that say so. ---

TEST(DoctorThirdTen, ObservationsThatNobodyWrites) {
    Game game;
    game.show = [](int, std::span<float> seen) { std::ranges::fill(seen, 0.0f); };
    expect_named(examine(game, small_ppo()), "constant_observation");
}

TEST(DoctorThirdTen, DoesNotNameDegreesInARangeOfRadians) {
    Game game{.range = {-1, 1}};
    game.show = [](int, std::span<float> seen) {
        for (float& value : seen) value = 57.2957795f * (value + 1);
    };
    Ppo ppo = small_ppo();
    ppo.normalize_observations = false;
    EXPECT_EQ(examine(game, ppo).exit_code, 0);
}

TEST(DoctorThirdTen, ASpeedThatIsDividedByATimeOfZeroWhenAnEpisodeBegins) {
    Game game;
    game.show = [](int frame, std::span<float> seen) {
        if (frame % 15 == 0) seen[1] = std::numeric_limits<float>::infinity();
    };
    expect_named(examine(game, small_ppo()), "non_finite", "'state[1]'");
}

TEST(DoctorThirdTen, ALearningRateThatIsFarTooLarge) {
    Ppo ppo = small_ppo();
    ppo.learning_rate = 0.5;
    expect_named(examine({}, ppo), "rolls_back", "learning_rate");
}

TEST(DoctorThirdTen, EpisodesOfOneStep) {
    Game game{.step_limit = 1};
    expect_named(examine(game, small_ppo()), "constant_return");
}

TEST(DoctorThirdTen, AGoalWhoseRewardComesAfterTheEnd) {
    Game game{.frames = 600, .goal_after_end = true};
    expect_named(examine(game, small_ppo()), "reward_after_end");
}

TEST(DoctorThirdTen, RolloutsThatAreLongerThanTheRun) {
    Ppo ppo = small_ppo();
    ppo.n_steps = 4096;
    expect_named(examine({}, ppo), "never_learned", "n_steps");
}

TEST(DoctorThirdTen, ALearningRateThatHasReachedZero) {
    Ppo ppo = small_ppo();
    ppo.learning_rate = 0;
    expect_named(examine({}, ppo), "steps_too_small", "learning_rate");
}

TEST(DoctorThirdTen, DoesNotNameAnEntropyBonusThatOutweighsTheRewards) {
    Ppo ppo = small_ppo();
    ppo.ent_coef = 10;
    EXPECT_EQ(examine({.frames = 1200}, ppo).exit_code, 0);
}

TEST(DoctorThirdTen, DoesNotNameARewardWithTheWrongSign) {
    Game game{.frames = 1200};
    game.reward = [](int, double reward) { return -reward; };
    EXPECT_EQ(examine(game, small_ppo()).exit_code, 0);
}

// --- Healthy runs ---

template <class Learner>
void expect_nothing(const Game& game, const Learner& learner) {
    const testing::Ran ran = examine(game, learner);
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says("nothing found")) << ran.text;
}

TEST(DoctorIsSilent, AboutPpoThatBalancesPoles) {
    expect_nothing({.frames = 1500}, small_ppo());
}
TEST(DoctorIsSilent, AboutPpoWithTheSettingsOfHelloAgents) {
    Ppo ppo{.n_agents = 8, .n_steps = 32, .n_minibatches = 1, .n_epochs = 20, .vf_coef = 0.5};
    ppo.gamma = 0.98, ppo.gae_lambda = 0.8;
    ppo.ent_coef = ppo.limits.target_kl = 0;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    expect_nothing({.frames = 2000}, ppo);
}
TEST(DoctorIsSilent, AboutPpoThatSwingsAPendulum) {
    Ppo ppo = small_ppo();
    ppo.gamma = 0.9, ppo.ent_coef = 0;
    expect_nothing({.task = "Pendulum", .frames = 2000}, ppo);
}
TEST(DoctorIsSilent, AboutDqnThatBalancesPoles) {
    Dqn dqn;
    dqn.replay.n_agents = 4;
    expect_nothing({.frames = 1500}, dqn);
}
TEST(DoctorIsSilent, AboutSacThatSwingsAPendulum) {
    Sac sac;
    sac.replay.n_agents = 2;
    expect_nothing({.task = "Pendulum", .frames = 1500}, sac);
}
TEST(DoctorIsSilent, AboutARunWithTooFewSamplesToTell) {
    expect_nothing({.frames = 50}, small_ppo());
}

/// Agents of the smallest game, on this machine's CPU.
class SmallGame : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = cpu::open_device(device_options());
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
        auto agents = make_agents(
            device_->context(),
            {ObservationSpec().box("speed").box("angle"), ActionSpec().discrete("push", 2)},
            mlp_network({8}), small_ppo());
        ASSERT_TRUE(agents.ok()) << agents.status().message();
        agents_ = std::move(*agents);
    }
    void play(int frames, const std::function<void(int frame)>& act) {
        for (int frame = 0; frame < frames; ++frame) {
            ASSERT_TRUE(device_->context().begin_frame().ok());
            agents_.poll();
            act(frame);
            const Status recorded =
                device_->run([&](VkCommandBuffer commands) { return agents_.record(commands); });
            ASSERT_TRUE(recorded.ok()) << recorded.message();
        }
    }

    std::optional<cpu::Device> device_;
    Agents agents_;
};

TEST_F(SmallGame, LiveAgentsNameTheSame) {
    EXPECT_TRUE(agents_.diagnose().empty()) << "nothing happened yet";
    EXPECT_EQ(agents_.capacity(), kAgents);
    const AgentId id = *agents_.add();
    play(3, [&](int frame) {
        agents_.observation(id)[0] = static_cast<float>(frame);
        agents_.observation(id)[1] = std::numeric_limits<float>::infinity();
    });
    const std::vector<Finding> findings = agents_.diagnose();
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].name, "non_finite");
    EXPECT_NE(findings[0].problem.find("'angle'"), std::string::npos) << findings[0].problem;
    const Agents::ObservationRange speed = agents_.observation_range(0);
    EXPECT_EQ(speed.low, 0);
    EXPECT_EQ(speed.high, 2);
    EXPECT_EQ(agents_.observation_range(1).non_finite_count, 3u);
}

TEST_F(SmallGame, MetricsOfItsOwnAreInTheRunLog) {
    for (const double catches : {1, 2, 6}) EXPECT_TRUE(agents_.log("catches", catches).ok());
    EXPECT_TRUE(agents_.log("speed \"max\"", 0.5).ok());
    const auto metrics = agents_.custom_metrics();
    ASSERT_EQ(metrics.size(), 2u);
    EXPECT_EQ(metrics[0].name, std::string("catches"));
    EXPECT_EQ(metrics[0].last, 6);
    EXPECT_EQ(metrics[0].count, 3u);
    const std::string line = run_log_sample(agents_, 1);
    EXPECT_NE(line.find(R"("game":{"catches":3,"speed \"max\"":0.5}})"), std::string::npos) << line;
    EXPECT_EQ(run_log_sample(agents_, 2).find("game"), std::string::npos) << "a period without";
    EXPECT_TRUE(agents_.log("catches", 5).ok());
    EXPECT_NE(run_log_sample(agents_, 3).find(R"("catches":5)"), std::string::npos);

    hearth_agents_custom_metric beyond{};
    EXPECT_EQ(hearth_agents_get_custom_metric(agents_.handle(), 2, &beyond),
              HEARTH_ERROR_OUT_OF_RANGE);

    EXPECT_FALSE(agents_.log("", 1).ok());
    EXPECT_FALSE(agents_.log(std::string(64, 'x').c_str(), 1).ok());
    EXPECT_FALSE(agents_.log("catches", std::numeric_limits<double>::quiet_NaN()).ok());
    // A mean that is not finite would be no number of a run log.
    EXPECT_TRUE(agents_.log("far", 1e308).ok());
    EXPECT_NE(agents_.log("far", 1e308).message().find("makes the sum of 'far' infinite"),
              std::string::npos);
    for (int i = 3; i < HEARTH_AGENTS_MAX_CUSTOM_METRICS; ++i)
        EXPECT_TRUE(agents_.log(std::to_string(i).c_str(), 1).ok());
    EXPECT_EQ(agents_.log("one more", 1).code(), StatusCode::kOutOfRange);
}

TEST(Doctor, RefusesALogWithoutAgents) {
    const std::string path = ::testing::TempDir() + "doctor_foreign.jsonl";
    ASSERT_TRUE(write_file_atomically(path, std::string_view("{\"at\":1,\"x\":2}\n")).ok());
    const testing::Ran ran = testing::run("doctor '" + path + "'");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(ran.says("has no samples of agents")) << ran.text;
    EXPECT_EQ(testing::run("doctor '" + path + ".gone'").exit_code, 1);
}

}  // namespace
}  // namespace hearth::agents
