// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hours of a game, frame after frame without waiting: nothing grows, nothing is lost.

#include "gates/driver_host.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <vector>
#ifdef HEARTH_TEST_NATIVE
#include <native/open_device.hpp>
#include <sched.h>
#endif

namespace hearth::gates {
namespace {

using namespace agents;

constexpr int kFramesPerDecision = 6, kFramesPerMinute = 3600;
constexpr uint32_t kAgents = 4;

/// Bytes of the process in memory.
uint64_t resident_bytes() {
    uint64_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * 4096;
}

/// What must not grow.
struct Footprint {
    uint64_t process = 0, host = 0, device = 0, brain = 0, weights = 0, game = 0;
};

struct LongGame {
    const char* name;
    AgentGraphs graphs;
    AgentManifest manifest;
};

std::vector<LongGame> long_games() {
    const AgentSpec spec(ObservationSpec().box("place", 2).box("speed").box("target", 5),
                         ActionSpec().continuous("aim", 2, {-2, 2}));
    const AgentSpec choosing(ObservationSpec().box("place", 2).box("speed").box("target", 5),
                             ActionSpec().discrete("aim", 5));
    Ppo ppo;
    ppo.n_agents = kAgents;
    Sac sac;
    sac.replay.n_agents = kAgents;
    sac.replay.buffer_size = 4'000;  // 100 s of play
    sac.replay.train_freq = 4;
    Dqn dqn;
    dqn.replay = sac.replay;
    const PolicyNetwork network = mlp_network({32, 32});
    std::vector<LongGame> games;
    games.push_back({"Ppo", build_agent_graphs(spec, network, ppo, 1), make_manifest(spec, ppo)});
    games.push_back({"Sac", build_agent_graphs(spec, network, sac, 1), make_manifest(spec, sac)});
    games.push_back(
        {"Dqn", build_agent_graphs(choosing, network, dqn, 1), make_manifest(choosing, dqn)});
    return games;
}

class LongPlay : public DriverTest {
  protected:
    /// A frame; every kFramesPerDecision-th with a decision.
    void frame(Host& host, std::vector<AgentId>& ids) {
        const bool decides = ++frame_ % kFramesPerDecision == 0;
        ASSERT_TRUE(host.frame({.learning_budget_us = 2'000, .request_decision = decides},
                               [&] {
                                   if (decides) play(host.agents, ids);
                               })
                        .ok());
    }
    Footprint measure(Host& host) {
        Footprint sizes;
        EXPECT_TRUE(host.agents.take_snapshot().ok());
        EXPECT_TRUE(host.agents.save_game().ok());
        // A saved game waits for the end of the minibatch in progress.
        for (int i = 0; i < 60; ++i)
            EXPECT_TRUE(host.frame({.learning_budget_us = 2'000, .request_decision = false}).ok());
        const auto size_of = [](const auto& bytes) { return bytes.ok() ? bytes->size() : 0; };
        sizes.brain = size_of(host.agents.save());
        sizes.weights = size_of(host.agents.save_weights());
        sizes.game = size_of(host.agents.saved_game());
        const hearth_context_stats stats = host.context().stats();
        sizes.host = stats.cpu_bytes;
        sizes.device = stats.device_bytes_total;
        sizes.process = resident_bytes();
        return sizes;
    }

    void play(Agents& agents, std::vector<AgentId>& ids) {
        const auto decision = static_cast<uint64_t>(frame_ / kFramesPerDecision);
        for (size_t i = 0; i < ids.size(); ++i) {
            const std::span<const float> action = agents.action(ids[i]);
            const std::span<float> seen = agents.observation(ids[i]);
            for (size_t k = 0; k < seen.size(); ++k)
                seen[k] = std::sin(0.05f * static_cast<float>(decision % 7919 * (k + 1) + i));
            if (action.empty()) continue;
            for (const float a : action) ASSERT_TRUE(std::isfinite(a));
            ASSERT_TRUE(agents.add_reward(ids[i], -std::abs(action[0] - seen[0])).ok());
            if ((decision + 13 * i) % 97 != 0) continue;
            ASSERT_TRUE(agents.end_episode(ids[i], EpisodeEnd::kTruncated).ok());
        }
        // One dies now and then, and another one takes its place.
        if (decision % 601 != 600) return;
        ASSERT_TRUE(agents.remove(ids.front()).ok());
        ids.erase(ids.begin());
        ids.push_back(*agents.add());
    }

  private:
    int frame_ = 0;
};

TEST_F(LongPlay, NothingGrowsAndNothingIsLost) {
    if (test::test_setting("HEARTH_TEST_DEVICE") != "cpu")
        GTEST_SKIP() << "hours of play take hours on a software driver";
    const bool is_nightly = !test::test_setting("HEARTH_TEST_EVERY").empty();
    const int minutes = is_nightly ? 120 : 4, first = is_nightly ? 10 : 2;
    for (const LongGame& game : long_games()) {
        SCOPED_TRACE(game.name);
        const auto host =
            Host::create(device(), game.graphs, game.manifest, {.enable_saved_games = true});
        ASSERT_NE(host, nullptr);
        std::vector<AgentId> ids;
        for (uint32_t i = 0; i < kAgents; ++i) ids.push_back(*host->agents.add());
        Footprint early;
        uint64_t longest_wait = 0;
        for (int minute = 0; minute < minutes; ++minute) {
            if (minute == first) early = measure(*host);
            for (int i = 0; i < kFramesPerMinute && !HasFatalFailure(); ++i) frame(*host, ids);
            ASSERT_FALSE(HasFatalFailure());
            longest_wait = std::max(longest_wait, host->agents.status().frames_without_update);
        }
        const Footprint late = measure(*host);
        const AgentsStatus status = host->agents.status();
        std::cout << game.name << ", " << minutes << " minutes, bytes: process " << early.process
                  << " to " << late.process << ", host " << late.host << ", device " << late.device
                  << ", brain " << late.brain << ", weights " << late.weights << ", saved game "
                  << late.game << "; " << status.decisions << " decisions, samples "
                  << status[Counter::kSamples] << ", dropped " << status[Counter::kSamplesDropped]
                  << ", paused " << status.samples_paused << ", gradient steps "
                  << status[Counter::kGradientSteps] << ", owed " << status.owed_gradient_steps
                  << ", publications " << status[Counter::kPublications] << '\n';
        constexpr uint64_t kNoise = 2 << 20;  // of the C library
        EXPECT_LE(late.process, early.process + kNoise);
        EXPECT_EQ(late.host, early.host);
        EXPECT_EQ(late.device, early.device);
        EXPECT_EQ(late.weights, early.weights);
        EXPECT_GT(early.weights, 0u);
        EXPECT_GT(early.game, early.brain);
        // Zeros are packed.
        EXPECT_LE(late.brain, early.brain + early.brain / 100);
        EXPECT_LE(late.game, early.game + early.game / 100);
        EXPECT_LT(longest_wait, 600u);
        // First decisions end no transition, and the newest one may still be on its way.
        const auto decisions =
            static_cast<uint64_t>(minutes * kFramesPerMinute / kFramesPerDecision);
        EXPECT_EQ(status.decisions, decisions);
        const uint64_t reported = status[Counter::kSamples] + status[Counter::kSamplesDropped] +
                                  status[Counter::kSamplesRejected] + status.samples_paused;
        EXPECT_LE(reported, decisions * kAgents);
        EXPECT_GE(reported + 2 * kAgents, decisions * kAgents);
        EXPECT_EQ(status[Counter::kSamplesRejected], 0u);
        EXPECT_LE(100 * (status[Counter::kSamplesDropped] + status.samples_paused), reported);
        EXPECT_GT(status[Counter::kGradientSteps], static_cast<uint64_t>(minutes) * 10);
        EXPECT_EQ(status[Counter::kSkippedNonFinite], 0u);
    }
}

#ifdef HEARTH_TEST_NATIVE
/// Gives the calling thread precedence over other work, where that is permitted.
class Precedence {
  public:
    Precedence() : is_given_(set(SCHED_FIFO, 1)) {}
    ~Precedence() { (void)set(SCHED_OTHER, 0); }
    Precedence(const Precedence&) = delete;
    Precedence& operator=(const Precedence&) = delete;
    bool is_given() const { return is_given_; }

  private:
    static bool set(int policy, int priority) {
        sched_param param{};
        param.sched_priority = priority;
        return sched_setscheduler(0, policy, &param) == 0;
    }
    bool is_given_;
};

/// 99th percentile of the times that the same work takes, divided by their median. Well above 1, even
/// with precedence, on a processor whose speed varies: that of a shared virtual machine, for example.
double spread_of_equal_work() {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times(2000);
    volatile float result = 0;
    for (double& time : times) {
        const Clock::time_point begin = Clock::now();
        float x = result;
        for (int i = 0; i < 20000; ++i) x = x * 0.5f + 0.5f;
        result = x;
        time = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    std::ranges::sort(times);
    return times[times.size() * 99 / 100] / times[times.size() / 2];
}

// PPO's default settings and budget, a decision in each frame, on kernels that are optimized unlike
// those of other tests.
TEST_F(LongPlay, ThirtyTwoAgentsDropAtMostAHundredthOfTheirSamples) {
    if (test::test_setting("HEARTH_TEST_DEVICE") != "cpu")
        GTEST_SKIP() << "a software driver takes a hundred times as long to learn";
    const auto opened = native::open_device("cpu");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    Ppo ppo;
    ppo.n_agents = 32;
    const AgentSpec spec(ObservationSpec().box("rays", 26), ActionSpec().continuous("move", 2));
    const AgentGraphs graphs = build_agent_graphs(spec, mlp_network({64, 64}), ppo, 1);
    const AgentManifest manifest = make_manifest(spec, ppo);
    double least = 1;
    for (int attempt = 0; attempt < 3 && least > 0.01; ++attempt) {
        const auto host = Host::create(*opened->device, graphs, manifest);
        ASSERT_NE(host, nullptr);
        std::vector<AgentId> ids;
        for (int i = 0; i < 32; ++i) ids.push_back(*host->agents.add());
        const Precedence precedence;
        if (!precedence.is_given()) GTEST_SKIP() << "other work may delay learning";
        if (const double spread = spread_of_equal_work(); spread > 1.1)
            GTEST_SKIP()
                << "the processor's speed varies, so learning may miss its budget: the same work "
                   "takes up to "
                << spread << " times its usual time";
        for (int i = 0; i < 30 * static_cast<int>(ppo.n_steps); ++i)
            ASSERT_TRUE(host->frame({}, [&] { play(host->agents, ids); }).ok());
        const AgentsStatus status = host->agents.status();
        const auto dropped = static_cast<double>(status[Counter::kSamplesDropped]);
        least =
            std::min(least, dropped / (dropped + static_cast<double>(status[Counter::kSamples])));
        EXPECT_GT(status[Counter::kPublications], 10u);
    }
    EXPECT_LE(least, 0.01);
}
#endif

}  // namespace
}  // namespace hearth::gates
