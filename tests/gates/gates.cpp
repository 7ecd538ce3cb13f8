// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning gates that take long: PPO, DQN and SAC on classic tasks, with the settings that the results they
// are compared with were made with.  Each line is one run; a gate passes by the rule beside it.
//
//     hearth_gates [GATE...] [--seeds N] [--first SEED] [--markdown]

#include "gates/device_learner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace hearth::gates {
namespace {

using namespace agents;

/// What came of one run.
struct Run {
    bool passed = false;
    int64_t steps_to_bar = -1;  ///< -1: not reached
    double evaluation = 0;
};

struct Gate {
    const char* name;
    const char* rule;
    Result<Run> (*run)(standalone::Device& device, uint64_t seed);
};

MakeTask task(const char* name) {
    return [name] { return classic::make_task(name); };
}

/// CartPole without its velocities: what they are must be remembered.
class BlindCartPole final : public classic::Task {
  public:
    const classic::TaskInfo& info() const override {
        static constexpr classic::TaskInfo kInfo{"BlindCartPole", 4, 2, 2, 0, 0, 500, 475};
        return kInfo;
    }
    void reset(uint64_t seed) override { task_->reset(seed); }
    classic::Outcome step(float action) override { return task_->step(action); }
    void observe(std::span<float> out) const override {
        float all[4];
        task_->observe(all);
        out[0] = all[0];
        out[1] = all[2];
    }

  private:
    std::unique_ptr<classic::Task> task_ = classic::make_task("CartPole");
};

struct PpoRun {
    Ppo ppo;
    Network network = mlp_network({64, 64});
    int64_t steps = 100'000;
    bool decays = false;  ///< learning rate and clip fall to zero over the run
    size_t window = 20;   ///< episodes whose mean return is compared with the bar
    double bar = 475;
    size_t evaluation = 20;  ///< episodes
    double evaluation_bar = 475;
};

Result<Run> run_ppo(standalone::Device& device, const MakeTask& make, const PpoRun& r,
                    uint64_t seed) {
    Crowd crowd(make, r.ppo.agents, seed);
    HEARTH_ASSIGN(
        const auto learner,
        DeviceLearner::create(device, trace_agents(schema_of(crowd.info()), r.network, r.ppo, seed),
                              static_cast<uint64_t>(r.ppo.agents)));
    Run run;
    while (crowd.steps() < r.steps) {
        for (int64_t t = 0; t < r.ppo.horizon; ++t) {
            HEARTH_TRY(crowd.step(*learner, true));
            HEARTH_TRY(learner->run("store", crowd.transition(), crowd.count()).status());
        }
        if (run.steps_to_bar < 0 && crowd.mean_return(r.window) >= r.bar)
            run.steps_to_bar = crowd.steps();
        const double left = r.decays ? std::max(0.0, 1 - static_cast<double>(crowd.steps()) /
                                                             static_cast<double>(r.steps))
                                     : 1;
        NamedTensors live;
        if (r.ppo.learning_rate.is_live())
            live["learning_rate"] = HostTensor::scalar(r.ppo.learning_rate.value() * left);
        if (r.ppo.clip.is_live()) live["clip"] = HostTensor::scalar(r.ppo.clip.value() * left);
        HEARTH_TRY(learner->run("prepare").status());
        for (int64_t i = 0; i < r.ppo.epochs * r.ppo.minibatches; ++i)
            HEARTH_TRY(learner->run("learn", live).status());
        HEARTH_TRY(learner->run("publish").status());
    }
    HEARTH_ASSIGN(run.evaluation,
                  evaluate(*learner, make, r.ppo.agents, r.evaluation, 1'000'000 + seed));
    run.passed = run.steps_to_bar >= 0 && run.evaluation >= r.evaluation_bar;
    return run;
}

/// rl-zoo's tuned settings for CartPole: 8 environments x 32 decisions, 20 epochs.
Ppo cart_pole_ppo() {
    Ppo ppo;
    ppo.agents = 8;
    ppo.horizon = 32;
    ppo.minibatches = 1;
    ppo.epochs = 20;
    ppo.learning_rate = Setting::live(1e-3);
    ppo.clip = Setting::live(0.2);
    ppo.entropy = 0;
    ppo.gamma = 0.98;
    ppo.lambda = 0.8;
    ppo.value_weight = 1;  // of half the squared error
    ppo.normalize_observations = false;
    ppo.normalize_rewards = false;
    ppo.rails.kl_stop = 0;
    return ppo;
}

Result<Run> gate3(standalone::Device& device, uint64_t seed) {
    return run_ppo(device, task("CartPole"), {.ppo = cart_pole_ppo(), .decays = true}, seed);
}

struct DqnRun {
    Dqn dqn;
    std::vector<int64_t> widths = {120, 84};
    int64_t steps = 100'000;
    double exploration = 0.16;  ///< the part of the run in which the part of random actions falls
    double least_random = 0.05;
    int64_t decisions_per_item = 2;
    int64_t evaluation_period = 5'000;  ///< the best one counts; 0: the last 100 episodes do
};

Result<Run> run_dqn(standalone::Device& device, const MakeTask& make, const DqnRun& r,
                    uint64_t seed) {
    Crowd crowd(make, r.dqn.replay.agents, seed);
    HEARTH_ASSIGN(
        const auto learner,
        DeviceLearner::create(
            device, trace_agents(schema_of(crowd.info()), mlp_network(r.widths, relu), r.dqn, seed),
            static_cast<uint64_t>(r.dqn.replay.agents)));
    constexpr double kBar = 475;
    Run run;
    run.evaluation = -1e9;
    int64_t next_evaluation = r.evaluation_period, items = 0;
    while (crowd.steps() < r.steps && (r.evaluation_period == 0 || run.evaluation < kBar)) {
        const double done =
            static_cast<double>(crowd.steps()) / (r.exploration * static_cast<double>(r.steps));
        HEARTH_TRY(crowd.step_exploring(*learner,
                                        std::max(r.least_random, 1 - (1 - r.least_random) * done)));
        HEARTH_TRY(learner->run("store", crowd.transition(), crowd.count()).status());
        if (crowd.steps() > r.dqn.replay.warmup)
            for (; items * r.decisions_per_item < crowd.steps() - r.dqn.replay.warmup; ++items)
                HEARTH_TRY(learner->run("learn").status());
        HEARTH_TRY(learner->run("publish").status());
        if (r.evaluation_period == 0) {
            if (run.steps_to_bar < 0 && crowd.mean_return(20) >= kBar)
                run.steps_to_bar = crowd.steps();
            run.evaluation = crowd.mean_return(100);
            continue;
        }
        if (crowd.steps() < next_evaluation) continue;
        next_evaluation += r.evaluation_period;
        HEARTH_ASSIGN(const double now,
                      evaluate(*learner, make, r.dqn.replay.agents, 20, 1'000'000 + seed));
        run.evaluation = std::max(run.evaluation, now);
        if (now >= kBar) run.steps_to_bar = crowd.steps();
    }
    run.passed = run.evaluation >= kBar && run.steps_to_bar >= 0 && run.steps_to_bar <= 350'000;
    return run;
}

/// CleanRL's dqn.py, but for eight environments, which it has one of.
Result<Run> gate4(standalone::Device& device, uint64_t seed) {
    Dqn dqn;
    dqn.replay = {.agents = 8, .capacity = 10'000, .batch = 128, .warmup = 10'000};
    dqn.learning_rate = 2.5e-4;
    dqn.target_period = 50;  // 500 decisions
    dqn.is_double = dqn.is_dueling = false;
    dqn.huber = 0;
    dqn.rails.gradient_norm = 1e6;
    return run_dqn(device, task("CartPole"),
                   {.dqn = dqn,
                    .steps = 500'000,
                    .exploration = 0.5,
                    .decisions_per_item = 10,
                    .evaluation_period = 0},
                   seed);
}

Result<Run> gate4_fast(standalone::Device& device, uint64_t seed) {
    Dqn dqn;
    dqn.replay = {.agents = 8, .capacity = 100'000, .batch = 128, .warmup = 1'000};
    dqn.replay.reward_scale = 0.1;  // values of 10, where the loss is a square for most samples
    dqn.learning_rate = 5e-4;
    dqn.target_period = 1;
    dqn.target_rate = 0.005;
    dqn.is_dueling = false;
    return run_dqn(device, task("CartPole"), {.dqn = dqn}, seed);
}

Result<Run> gate5(standalone::Device& device, uint64_t seed) {
    Ppo ppo;
    ppo.agents = 16;
    ppo.horizon = 128;
    ppo.minibatches = 8;
    ppo.epochs = 4;
    ppo.learning_rate = 1e-3;
    ppo.gamma = 0.99;
    ppo.lambda = 0.94;
    ppo.entropy = 0;
    return run_ppo(device, task("Acrobot"),
                   {.ppo = ppo,
                    .steps = 200'000,
                    .window = 100,
                    .bar = -100,
                    .evaluation = 100,
                    .evaluation_bar = -100},
                   seed);
}

Result<Run> gate6(standalone::Device& device, uint64_t seed) {
    Sac sac;
    sac.replay = {.agents = 1, .capacity = 10'000, .batch = 100, .warmup = 100};
    const MakeTask make = task("Pendulum");
    Crowd crowd(make, 1, seed);
    HEARTH_ASSIGN(
        const auto learner,
        DeviceLearner::create(
            device, trace_agents(schema_of(crowd.info()), mlp_network({64, 64}, relu), sac, seed),
            100));
    Run run;
    run.evaluation = -1e9;
    while (crowd.steps() < 10'000) {
        HEARTH_TRY(crowd.step(*learner, true));
        HEARTH_TRY(learner->run("store", crowd.transition(), 1).status());
        HEARTH_TRY(learner->run("learn").status());
        HEARTH_TRY(learner->run("publish").status());
        if (crowd.steps() % 1'000 != 0) continue;
        // The same hundred starts for every seed and device.
        HEARTH_ASSIGN(const double now, evaluate(*learner, make, 100, 100, 1'000'000));
        run.evaluation = std::max(run.evaluation, now);
        if (now >= -200 && run.steps_to_bar < 0) run.steps_to_bar = crowd.steps();
        if (run.steps_to_bar > 0) break;
    }
    run.passed = run.evaluation >= -200;
    return run;
}

Result<Run> gate7(standalone::Device& device, uint64_t seed) {
    Ppo ppo;
    ppo.agents = 4;
    ppo.horizon = 1024;
    ppo.minibatches = 64;
    ppo.epochs = 10;
    ppo.learning_rate = 1e-3;
    ppo.gamma = 0.9;
    ppo.lambda = 0.95;
    ppo.entropy = 0;
    ppo.first_log_deviation = 0;
    ppo.rails.kl_stop = 0;
    return run_ppo(
        device, task("Pendulum"),
        {.ppo = ppo, .steps = 300'000, .bar = -250, .evaluation = 100, .evaluation_bar = -200},
        seed);
}

Result<Run> gate8(standalone::Device& device, uint64_t seed) {
    Ppo ppo = cart_pole_ppo();
    ppo.horizon = 64;
    ppo.minibatches = 4;
    ppo.epochs = 8;
    ppo.sequence = 16;
    ppo.gamma = 0.98;
    ppo.lambda = 0.9;
    return run_ppo(
        device, [] { return std::make_unique<BlindCartPole>(); },
        {.ppo = ppo, .network = gru_network(32), .steps = 200'000, .decays = true}, seed);
}

constexpr Gate kGates[] = {
    {"Gate3", "CartPole, PPO: 20-episode mean >= 475 by 100k steps, then 475 without chance",
     gate3},
    {"Gate4",
     "CartPole, DQN as CleanRL's: 20-episode mean >= 475 by 350k, mean of the last 100 at 500k",
     gate4},
    {"Gate4fast", "CartPole, DQN: best evaluation >= 475 by 100k steps", gate4_fast},
    {"Gate5", "Acrobot, PPO: >= -100 by 200k steps", gate5},
    {"Gate6", "Pendulum, SAC: >= -200 on 100 fixed starts by 10k steps", gate6},
    {"Gate7", "Pendulum, PPO: >= -200 on 100 fixed starts after 300k steps", gate7},
    {"Gate8", "CartPole without velocities, PPO with GRU: >= 475 by 200k steps", gate8},
};

Status run_gates(const std::vector<std::string>& wanted, uint64_t first, uint64_t seeds,
                 bool as_markdown) {
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device, standalone::Device::create(*instance));
    const char* name = device->properties().deviceName;
    if (as_markdown)
        std::printf(
            "| gate | seed | device | passed | steps to the bar | final score "
            "|\n|---|---|---|---|---|---|\n");
    else
        std::printf("device: %s\n", name);
    bool all_passed = true;
    for (const Gate& gate : kGates) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), gate.name) == wanted.end())
            continue;
        if (!as_markdown) std::printf("%s  %s\n", gate.name, gate.rule);
        uint64_t passed = 0;
        for (uint64_t seed = first; seed < first + seeds; ++seed) {
            const auto begin = std::chrono::steady_clock::now();
            const std::clock_t cpu_begin = std::clock();
            HEARTH_ASSIGN(const Run run, gate.run(*device, seed));
            const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
            const double cpu =
                static_cast<double>(std::clock() - cpu_begin) / static_cast<double>(CLOCKS_PER_SEC);
            passed += run.passed;
            if (as_markdown) {
                const std::string steps =
                    run.steps_to_bar < 0 ? "-" : std::to_string(run.steps_to_bar);
                std::printf("| %s | %llu | %s | %s | %s | %.1f |\n", gate.name,
                            static_cast<unsigned long long>(seed), name, run.passed ? "yes" : "no",
                            steps.c_str(), run.evaluation);
                std::fflush(stdout);
                continue;
            }
            std::printf("  seed %llu  %s  bar at %lld steps  evaluation %.1f  %.0f s, %.0f CPU s\n",
                        static_cast<unsigned long long>(seed), run.passed ? "pass" : "FAIL",
                        static_cast<long long>(run.steps_to_bar), run.evaluation, wall.count(),
                        cpu);
            std::fflush(stdout);
        }
        if (!as_markdown)
            std::printf("  %llu of %llu seeds\n", static_cast<unsigned long long>(passed),
                        static_cast<unsigned long long>(seeds));
        all_passed = all_passed && passed == seeds;
    }
    return all_passed ? Status() : internal_error("a run did not reach its bar");
}

}  // namespace
}  // namespace hearth::gates

int main(int count, char** arguments) {
    std::vector<std::string> wanted;
    uint64_t seeds = 5, first = 0;
    bool as_markdown = false;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--seeds") == 0 && i + 1 < count)
            seeds = std::strtoull(arguments[++i], nullptr, 10);
        else if (std::strcmp(arguments[i], "--first") == 0 && i + 1 < count)
            first = std::strtoull(arguments[++i], nullptr, 10);
        else if (std::strcmp(arguments[i], "--markdown") == 0)
            as_markdown = true;
        else
            wanted.emplace_back(arguments[i]);
    }
    const hearth::Status status = hearth::gates::run_gates(wanted, first, seeds, as_markdown);
    if (!status.ok()) std::fprintf(stderr, "hearth_gates: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
