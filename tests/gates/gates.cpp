// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning gates that take long: PPO, DQN and SAC on classic tasks, with the settings that the
// results they are compared with were made with.  Each line is one run; a gate passes by the rule
// beside it. docs/reference/gates.md.

#include "gates/device_learner.hpp"
#include "gates/driven_run.hpp"
#include "gates/simulated_run.hpp"
#include "native/open_device.hpp"

#include <hearth/file.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hearth::gates {
namespace {

using namespace agents;

struct Gate {
    const char* name;
    const char* rule;
    Result<Run> (*run)(const RunSite& site);
    /// What is run where no gate is named.
    bool is_usual = true;
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

PolicyNetwork two_layers(uint64_t seed) {
    return mlp_network({64, 64}, tanh, seed);
}

PolicyNetwork memory(uint64_t seed) {
    return gru_network(64, seed);
}

struct PpoRun {
    Ppo ppo;
    PolicyNetwork (*network)(uint64_t seed) = two_layers;
    int64_t steps = 100'000;
    bool decays = false;  ///< learning rate and clip fall to zero over the run
    size_t window = 20;   ///< episodes whose mean return is compared with the bar
    double bar = 475;
    size_t evaluation = 20;  ///< episodes
    double evaluation_bar = 475;
    int64_t early_steps = 0;  ///< evaluated after so many steps as well; 0: not
    double early_bar = 0;
};

Result<Run> run_ppo(const RunSite& site, const MakeTask& make, const PpoRun& r) {
    const uint64_t seed = site.seed;
    const uint64_t starts = 1'000'000 + seed;  // of evaluations
    const int64_t window = r.ppo.n_agents * r.ppo.n_steps;
    Crowd crowd(make, r.ppo.n_agents, seed);
    Run run;
    const Stopwatch making;
    HEARTH_ASSIGN(
        const auto learner,
        DeviceLearner::create(
            site.device, build_agent_graphs(schema_of(crowd.info()), r.network(seed), r.ppo, seed),
            static_cast<uint64_t>(r.ppo.n_agents)));
    run.setup_s = making.seconds();
    const Stopwatch learning;
    std::optional<double> early;
    while (crowd.steps() < r.steps) {
        if (r.early_steps > 0 && !early && crowd.steps() + window > r.early_steps) {
            HEARTH_ASSIGN(early, evaluate(*learner, make, r.ppo.n_agents, r.evaluation, starts));
            run.note = fmt::format("{:.1f} after {} steps", *early, crowd.steps());
        }
        for (int64_t t = 0; t < r.ppo.n_steps; ++t) {
            HEARTH_TRY(crowd.step(*learner, true));
            HEARTH_TRY(learner->run("store", crowd.transition(), crowd.count()).status());
        }
        if (run.steps_to_bar < 0 && crowd.mean_return(r.window) >= r.bar)
            run.steps_to_bar = crowd.steps();
        const double left = r.decays ? std::max(0.0, 1 - static_cast<double>(crowd.steps()) /
                                                             static_cast<double>(r.steps))
                                     : 1;
        NamedTensors live;
        if (r.ppo.learning_rate.is_tunable())
            live["learning_rate"] = HostTensor::scalar(r.ppo.learning_rate.value() * left);
        if (r.ppo.clip_range.is_tunable())
            live["clip_range"] = HostTensor::scalar(r.ppo.clip_range.value() * left);
        HEARTH_TRY(learner->run("compute_advantages").status());
        for (int64_t i = 0; i < r.ppo.n_epochs * r.ppo.n_minibatches; ++i)
            HEARTH_TRY(learner->run("learn", live).status());
        HEARTH_TRY(learner->run("publish").status());
        site.log(crowd.steps(), crowd.mean_return(r.window));
    }
    run.steps = crowd.steps();
    run.learn_s = learning.seconds();
    HEARTH_ASSIGN(run.evaluation, evaluate(*learner, make, r.ppo.n_agents, r.evaluation, starts));
    run.passed = run.steps_to_bar >= 0 && run.evaluation >= r.evaluation_bar &&
                 (!early || *early >= r.early_bar);
    return run;
}

/// rl-zoo's tuned settings for CartPole: 8 environments x 32 decisions, 20 epochs.
Ppo cart_pole_ppo() {
    Ppo ppo;
    ppo.n_agents = 8;
    ppo.n_steps = 32;
    ppo.n_minibatches = 1;
    ppo.n_epochs = 20;
    ppo.learning_rate = Hyperparameter::tunable(1e-3);
    ppo.clip_range = Hyperparameter::tunable(0.2);
    ppo.ent_coef = 0;
    ppo.gamma = 0.98;
    ppo.gae_lambda = 0.8;
    ppo.vf_coef = 0.5;
    ppo.normalize_observations = false;
    ppo.normalize_rewards = false;
    ppo.limits.target_kl = 0;
    return ppo;
}

Result<Run> gate3(const RunSite& site) {
    return run_ppo(site, task("CartPole"), {.ppo = cart_pole_ppo(), .decays = true});
}

/// The struct's own settings.
Result<Run> gate3_defaults(const RunSite& site) {
    return run_ppo(site, task("CartPole"), {});
}

struct DqnRun {
    Dqn dqn;
    std::vector<int64_t> widths = {120, 84};
    int64_t steps = 100'000;
    double exploration = 0.16;  ///< the part of the run in which the part of random actions falls
    double least_random = 0.05;
    int64_t decisions_per_item = 2;
    int64_t evaluation_period = 5'000;  ///< the best one counts; 0: the last 100 episodes do
    nn::WeightInit init = nn::WeightInit::kOrthogonal;
};

Result<Run> run_dqn(const RunSite& site, const MakeTask& make, const DqnRun& r) {
    const uint64_t seed = site.seed;
    Crowd crowd(make, r.dqn.replay.n_agents, seed);
    Run run;
    const Stopwatch making;
    HEARTH_ASSIGN(const auto learner,
                  DeviceLearner::create(
                      site.device,
                      build_agent_graphs(schema_of(crowd.info()),
                                         mlp_network(r.widths, relu, seed, r.init), r.dqn, seed),
                      static_cast<uint64_t>(r.dqn.replay.n_agents)));
    run.setup_s = making.seconds();
    const Stopwatch learning;
    constexpr double kBar = 475;
    constexpr int64_t kLogPeriod = 2'000;
    run.evaluation = -1e9;
    int64_t next_evaluation = r.evaluation_period, items = 0;
    while (crowd.steps() < r.steps && (r.evaluation_period == 0 || run.evaluation < kBar)) {
        const double done =
            static_cast<double>(crowd.steps()) / (r.exploration * static_cast<double>(r.steps));
        HEARTH_TRY(crowd.step_exploring(*learner,
                                        std::max(r.least_random, 1 - (1 - r.least_random) * done)));
        HEARTH_TRY(learner->run("store", crowd.transition(), crowd.count()).status());
        const int64_t learned = items;
        if (crowd.steps() > r.dqn.replay.learning_starts)
            for (; items * r.decisions_per_item < crowd.steps() - r.dqn.replay.learning_starts;
                 ++items)
                HEARTH_TRY(learner->run("learn").status());
        if (items > learned) HEARTH_TRY(learner->run("publish").status());
        if (crowd.steps() % kLogPeriod == 0) site.log(crowd.steps(), crowd.mean_return(20));
        run.steps = crowd.steps();
        run.learn_s = learning.seconds();
        if (r.evaluation_period == 0) {
            if (run.steps_to_bar < 0 && crowd.mean_return(20) >= kBar)
                run.steps_to_bar = crowd.steps();
            run.evaluation = crowd.mean_return(100);
            continue;
        }
        if (crowd.steps() < next_evaluation) continue;
        next_evaluation += r.evaluation_period;
        HEARTH_ASSIGN(const double now,
                      evaluate(*learner, make, r.dqn.replay.n_agents, 20, 1'000'000 + seed));
        run.evaluation = std::max(run.evaluation, now);
        if (now >= kBar) run.steps_to_bar = crowd.steps();
    }
    run.passed = run.evaluation >= kBar && run.steps_to_bar >= 0 && run.steps_to_bar <= 350'000;
    return run;
}

/// CleanRL's dqn.py: one environment, PyTorch's first weights.
Result<Run> gate4(const RunSite& site) {
    Dqn dqn;
    dqn.replay = {
        .n_agents = 1, .buffer_size = 10'000, .batch_size = 128, .learning_starts = 10'000};
    dqn.learning_rate = 2.5e-4;
    dqn.target_update_interval = 50;  // 500 decisions
    dqn.double_q = dqn.dueling = false;
    dqn.huber_delta = 0;
    dqn.limits.max_grad_norm = 1e6;
    return run_dqn(site, task("CartPole"),
                   {.dqn = dqn,
                    .steps = 500'000,
                    .exploration = 0.5,
                    .decisions_per_item = 10,
                    .evaluation_period = 0,
                    .init = nn::WeightInit::kPyTorchDefault});
}

Result<Run> gate4_fast(const RunSite& site) {
    Dqn dqn;
    dqn.replay = {
        .n_agents = 8, .buffer_size = 100'000, .batch_size = 128, .learning_starts = 1'000};
    dqn.replay.reward_scale = 0.1;  // values of 10, where the loss is a square for most samples
    dqn.learning_rate = 5e-4;
    dqn.target_update_interval = 1;
    dqn.tau = 0.005;
    dqn.dueling = false;
    return run_dqn(site, task("CartPole"), {.dqn = dqn});
}

Ppo acrobot_ppo() {
    Ppo ppo;
    ppo.n_agents = 16;
    ppo.n_steps = 128;
    ppo.n_minibatches = 8;
    ppo.n_epochs = 4;
    ppo.learning_rate = 1e-3;
    ppo.gamma = 0.99;
    ppo.gae_lambda = 0.94;
    ppo.ent_coef = 0;
    return ppo;
}

Result<Run> gate5(const RunSite& site) {
    return run_ppo(site, task("Acrobot"),
                   {.ppo = acrobot_ppo(),
                    .steps = 200'000,
                    .window = 100,
                    .bar = -100,
                    .evaluation = 100,
                    .evaluation_bar = -100});
}

/// rl_tools' settings for Pendulum.
Sac pendulum_sac() {
    Sac sac;
    sac.replay = {.n_agents = 1, .buffer_size = 10'000, .batch_size = 100, .learning_starts = 100};
    return sac;
}

PolicyNetwork pendulum_sac_network(uint64_t seed) {
    return mlp_network({64, 64}, relu, seed, nn::WeightInit::kPyTorchDefault);
}

Result<Run> gate6(const RunSite& site) {
    const uint64_t seed = site.seed;
    const Sac sac = pendulum_sac();
    Run run;
    const Stopwatch making;
    const MakeTask make = task("Pendulum");
    Crowd crowd(make, 1, seed);
    HEARTH_ASSIGN(const auto learner,
                  DeviceLearner::create(site.device,
                                        build_agent_graphs(schema_of(crowd.info()),
                                                           pendulum_sac_network(seed), sac, seed),
                                        100));
    run.setup_s = making.seconds();
    const Stopwatch learning;
    run.evaluation = -1e9;
    while (crowd.steps() < 10'000) {
        HEARTH_TRY(crowd.step(*learner, true));
        HEARTH_TRY(learner->run("store", crowd.transition(), 1).status());
        HEARTH_TRY(learner->run("learn").status());
        HEARTH_TRY(learner->run("publish").status());
        run.steps = crowd.steps();
        if (crowd.steps() % 1'000 != 0) continue;
        run.learn_s = learning.seconds();  // evaluations before this one included
        // The same hundred starts for every seed and device.
        HEARTH_ASSIGN(const double now, evaluate(*learner, make, 100, 100, 1'000'000));
        run.evaluation = std::max(run.evaluation, now);
        site.log(crowd.steps(), now);
        if (now >= -200 && run.steps_to_bar < 0) run.steps_to_bar = crowd.steps();
        if (run.steps_to_bar > 0) break;
    }
    run.passed = run.evaluation >= -200;
    return run;
}

/// Windows as those of rl_tools and rl-zoo for Pendulum, 4 environments x 1,024 decisions, and
/// rl-zoo's epochs: 10 of minibatches of 64. rl_tools has 2 of 256, with which Hearth is at -250
/// only after 160,000 to 233,000 steps.
Ppo pendulum_ppo() {
    Ppo ppo;
    ppo.n_agents = 4;
    ppo.n_steps = 1024;
    ppo.n_minibatches = 64;
    ppo.n_epochs = 10;
    ppo.learning_rate = 1e-3;
    ppo.gamma = 0.9;
    ppo.gae_lambda = 0.95;
    ppo.ent_coef = 0;
    ppo.log_std_init = 0;
    ppo.limits.target_kl = 0;
    return ppo;
}

/// The learning rate falls to zero: a constant one leaves the last policy to chance (one seed of
/// five ended at -237). Observations and rewards as they are, as rl-zoo has them: normalized, one
/// seed of five is late.
Result<Run> gate7(const RunSite& site) {
    Ppo ppo = pendulum_ppo();
    ppo.normalize_observations = false;
    ppo.normalize_rewards = false;
    ppo.limits.clip_reward = 20;  // the least is -16.3
    ppo.learning_rate = Hyperparameter::tunable(1e-3);
    return run_ppo(site, task("Pendulum"),
                   {.ppo = ppo,
                    .steps = 300'000,
                    .decays = true,
                    .bar = -250,
                    .evaluation = 100,
                    .evaluation_bar = -200,
                    .early_steps = 100'000,
                    .early_bar = -250});
}

/// Stable-Baselines3's defaults for PPO but for the learning rate, which is that of Gate3. What the
/// cart shows is small (a tenth of a unit): without normalization, the memory hardly sees it.
Result<Run> gate8(const RunSite& site) {
    Ppo ppo = cart_pole_ppo();
    ppo.n_steps = 128;
    ppo.n_minibatches = 8;
    ppo.n_epochs = 10;
    ppo.bptt_length = 16;
    ppo.gamma = 0.99;
    ppo.gae_lambda = 0.95;
    ppo.normalize_observations = true;
    ppo.normalize_rewards = true;
    return run_ppo(site, [] { return std::make_unique<BlindCartPole>(); },
                   {.ppo = ppo, .network = memory, .steps = 200'000, .decays = true});
}

// --- Speed: what a game records (hearth/agents.hpp), until the bar or for so many steps ----------

Result<Run> gate10_cart(const RunSite& site) {
    const Ppo ppo = cart_pole_ppo();
    const AgentSpec schema = schema_of(task("CartPole")()->info());
    return run_driven(site, task("CartPole"), make_manifest(schema, ppo),
                      build_agent_graphs(schema, two_layers(site.seed), ppo, site.seed),
                      {.steps = 100'000, .bar = 475, .stops_at_bar = true, .decays = true});
}

Result<Run> gate10_sac(const RunSite& site) {
    const Sac sac = pendulum_sac();
    const AgentSpec schema = schema_of(task("Pendulum")()->info());
    return run_driven(site, task("Pendulum"), make_manifest(schema, sac),
                      build_agent_graphs(schema, pendulum_sac_network(site.seed), sac, site.seed),
                      {.steps = 10'000, .bar = -250, .window = 10});
}

Result<Run> gate10_ppo(const RunSite& site) {
    const Ppo ppo = pendulum_ppo();
    const AgentSpec schema = schema_of(task("Pendulum")()->info());
    return run_driven(site, task("Pendulum"), make_manifest(schema, ppo),
                      build_agent_graphs(schema, two_layers(site.seed), ppo, site.seed),
                      {.steps = 300'000, .bar = -250});
}

// --- Speed with the worlds on the device: nothing returns to the host but returns ----------------

train::TrainConfig many_carts(int64_t worlds, int64_t steps) {
    train::TrainConfig config;
    config.task = "CartPole";
    config.ppo = cart_pole_ppo();
    config.ppo.n_agents = worlds;
    // As those it is compared with, which have no such rail: two barriers less an item.
    config.ppo.limits.max_update_ratio = 0;
    config.steps = steps;
    config.decays = true;
    return config;
}

Result<Run> gate10_gpu(const RunSite& site) {
    return run_simulated(site, many_carts(8, 100'000), 475);
}

Result<Run> gate10_gpu_whole(const RunSite& site) {
    train::TrainConfig config = many_carts(8, 100'000);
    config.rollout_steps = 32;
    return run_simulated(site, config, 475);
}

Result<Run> gate10_gpu64(const RunSite& site) {
    return run_simulated(site, many_carts(64, 400'000), 475);
}

/// PureJaxRL's settings: 32 minibatches as for its 2,048 worlds, rate, epochs, discounts and
/// entropy as for its CartPole. Gate3's, which are for eight worlds, take twenty steps of Adam from
/// the whole window, and passed with four seeds of ten.
Result<Run> gate10_gpu1024(const RunSite& site) {
    train::TrainConfig config = many_carts(1024, 4'000'000);
    config.ppo.n_minibatches = 32;
    config.ppo.n_epochs = 4;
    config.ppo.gamma = 0.99;
    config.ppo.gae_lambda = 0.95;
    config.ppo.ent_coef = 0.01;
    config.ppo.learning_rate = Hyperparameter::tunable(2.5e-4);
    return run_simulated(site, config, 475);
}

Result<Run> gate10_gpu_acrobot(const RunSite& site) {
    train::TrainConfig config;
    config.task = "Acrobot";
    config.ppo = acrobot_ppo();
    config.ppo.learning_rate = Hyperparameter::tunable(1e-3);
    config.ppo.clip_range = Hyperparameter::tunable(0.2);
    config.steps = 200'000;
    return run_simulated(site, config, -100);
}

Result<Run> gate10_gpu_pendulum(const RunSite& site) {
    train::TrainConfig config;
    config.task = "Pendulum";
    config.ppo = pendulum_ppo();
    // Windows of a quarter of the samples, in more worlds, and as many epochs of larger
    // minibatches.  With 640 steps of
    // 64 samples a window, or 160 of 256, one seed of eight lost its chance and hung sideways for
    // good.
    config.ppo.n_agents = 16;
    config.ppo.n_steps = 64;
    config.ppo.n_minibatches = 4;
    config.decays = true;
    config.ppo.learning_rate = Hyperparameter::tunable(1e-3);
    config.ppo.clip_range = Hyperparameter::tunable(0.2);
    config.steps = 300'000;
    return run_simulated(site, config, -200);
}

constexpr Gate kGates[] = {
    {"Gate3", "CartPole, PPO: 20-episode mean >= 475 by 100k steps, then 475 without chance",
     gate3},
    {"Gate3defaults", "as Gate3, with the defaults of PPO", gate3_defaults},
    {"Gate4",
     "CartPole, DQN as CleanRL's: 20-episode mean >= 475 by 350k, mean of the last 100 at 500k",
     gate4},
    {"Gate4fast", "CartPole, DQN: best evaluation >= 475 by 100k steps", gate4_fast},
    {"Gate5", "Acrobot, PPO: >= -100 by 200k steps", gate5},
    {"Gate6", "Pendulum, SAC: >= -200 on 100 fixed starts by 10k steps", gate6},
    {"Gate7", "Pendulum, PPO: >= -250 on 100 fixed starts by 100k steps, >= -200 after 300k",
     gate7},
    {"Gate8", "CartPole without velocities, PPO with GRU: >= 475 by 200k steps", gate8},
    {"Gate10cart", "speed: CartPole, PPO, to a 20-episode mean of 475", gate10_cart, false},
    {"Gate10sac", "speed: Pendulum, SAC, 10k steps; 10-episode mean >= -250 while it explores",
     gate10_sac, false},
    {"Gate10ppo", "speed: Pendulum, PPO, 300k steps; 20-episode mean >= -250 while it explores",
     gate10_ppo, false},
    {"Gate10gpu", "speed: CartPole, PPO, 8 worlds on the device; 20-episode mean >= 475 by 100k",
     gate10_gpu, false},
    {"Gate10gpuwhole", "speed: the same, each window as one recording of 32 steps",
     gate10_gpu_whole, false},
    {"Gate10gpu64", "speed: the same with 64 worlds, by 400k", gate10_gpu64, false},
    {"Gate10gpu1024", "speed: 1,024 worlds with PureJaxRL's settings, by 4M", gate10_gpu1024,
     false},
    {"Gate10gpuacrobot", "speed: Acrobot, PPO, worlds on the device; >= -100 by 200k",
     gate10_gpu_acrobot, false},
    {"Gate10gpupendulum", "speed: Pendulum, PPO, worlds on the device; >= -200 by 300k",
     gate10_gpu_pendulum, false},
};

struct Arguments {
    std::vector<std::string> gates;
    uint64_t seeds = 5, first = 0, jobs = 1;
    std::string device;
    bool as_markdown = false, wants_list = false;
    std::string logs;
};

/// "3", "Gate3" and "gate3" are one gate.
bool is_named(const Gate& gate, const std::string& name) {
    std::string full = name;
    if (!full.empty() && full[0] == 'g') full[0] = 'G';
    if (!full.starts_with("Gate")) full = "Gate" + full;
    return full == gate.name;
}

Result<std::vector<Gate>> chosen(const std::vector<std::string>& names) {
    std::vector<Gate> gates;
    for (const Gate& gate : kGates)
        if (names.empty() ? gate.is_usual : std::ranges::any_of(names, [&](const auto& name) {
                return is_named(gate, name);
            }))
            gates.push_back(gate);
    for (const std::string& name : names)
        if (std::ranges::none_of(kGates, [&](const Gate& g) { return is_named(g, name); }))
            return not_found("no gate '" + name + "'; --list names all");
    return gates;
}

/// One line for a run, as it ends.
void print_run(const Gate& gate, uint64_t seed, const char* device, const Run& run,
               bool as_markdown) {
    const std::string bar = run.steps_to_bar < 0 ? "-" : std::to_string(run.steps_to_bar);
    if (as_markdown)
        fmt::print("| {} | {} | {} | {} | {} | {:.1f} | {:.1f} |\n", gate.name, seed, device,
                   run.passed ? "yes" : "no", bar, run.evaluation, run.learn_s);
    else
        fmt::print(
            "{:<17} seed {}  {}  bar at {} steps  score {:.1f}  {} steps in {:.1f} s (and {:.1f} s "
            "to "
            "compile), {:.0f} steps a second{}\n",
            gate.name, seed, run.passed ? "pass" : "FAIL", bar, run.evaluation, run.steps,
            run.learn_s, run.setup_s, static_cast<double>(run.steps) / std::max(run.learn_s, 1e-9),
            run.note.empty() ? "" : ", " + run.note);
    std::fflush(stdout);
}

/// Every run has a device of its own, so that several can go on at a time.
class Runner {
  public:
    Runner(const Arguments& arguments, std::vector<Gate> gates)
        : arguments_(arguments), gates_(std::move(gates)), passed_(gates_.size()) {}

    Status run() {
        if (arguments_.as_markdown)
            fmt::print(
                "| gate | seed | device | passed | steps to the bar | final score | seconds |\n"
                "|---|---|---|---|---|---|---|\n");
        else
            for (const Gate& gate : gates_) fmt::print("{:<17} {}\n", gate.name, gate.rule);
        const double cpu_before = Stopwatch::cpu_seconds();
        std::vector<std::thread> threads;
        for (uint64_t i = 0; i < arguments_.jobs; ++i) threads.emplace_back([this] { work(); });
        for (std::thread& thread : threads) thread.join();
        HEARTH_TRY(failed_);
        uint64_t all = 0;
        for (size_t i = 0; i < gates_.size(); ++i) {
            all += passed_[i];
            if (!arguments_.as_markdown)
                fmt::print("{:<17} {} of {} seeds\n", gates_[i].name, passed_[i], arguments_.seeds);
        }
        if (!arguments_.as_markdown)
            fmt::print("{:.1f} CPU seconds of the process\n",
                       Stopwatch::cpu_seconds() - cpu_before);
        return all == gates_.size() * arguments_.seeds
                   ? Status()
                   : internal_error("a run did not reach its bar");
    }

  private:
    void work() {
        for (;;) {
            const uint64_t index = next_++;
            if (index >= gates_.size() * arguments_.seeds) return;
            const size_t gate = index / arguments_.seeds;
            const Status status = run_one(gate, arguments_.first + index % arguments_.seeds);
            const std::lock_guard lock(mutex_);
            if (!status.ok() && failed_.ok()) failed_ = status.with_context(gates_[gate].name);
        }
    }
    Status run_one(size_t gate, uint64_t seed) {
        HEARTH_ASSIGN(const native::OpenDevice opened, native::open_device(arguments_.device));
        const auto& device = opened.device;
        const std::string name = fmt::format("{}_seed{}", gates_[gate].name, seed);
        RunLogWriter log;
        if (!arguments_.logs.empty()) {
            HEARTH_ASSIGN(log, RunLogWriter::create(arguments_.logs + "/" + name + ".jsonl", name));
        }
        HEARTH_ASSIGN(const Run run,
                      gates_[gate].run({.device = *device, .seed = seed, .writer = &log}));
        const std::lock_guard lock(mutex_);
        passed_[gate] += run.passed;
        print_run(gates_[gate], seed, device->properties().deviceName, run, arguments_.as_markdown);
        return {};
    }

    const Arguments& arguments_;
    std::vector<Gate> gates_;
    std::atomic<uint64_t> next_ = 0;
    std::mutex mutex_;
    std::vector<uint64_t> passed_;
    Status failed_;
};

int run_program(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Learning gates: what the learners must reach (docs/reference/gates.md)",
                 "hearth gates");
    app.add_option("gates,-g,--gate", arguments.gates, "Gates by name or number; all usual ones.")
        ->delimiter(',');
    app.add_option("--seeds", arguments.seeds, "Runs of each gate, with one seed each (5).")
        ->check(programs::whole_number(1, 1000));
    app.add_option("--first", arguments.first, "The first seed (0).")
        ->check(programs::whole_number(0, 1u << 30));
    app.add_option("--jobs", arguments.jobs, "Runs at a time, each on a thread of its own (1).")
        ->check(programs::whole_number(1, 64));
    app.add_option("--device", arguments.device,
                   "cpu: this machine's CPU; or the index of a GPU; default: the best GPU.");
    app.add_option("--logs", arguments.logs, "Folder for a run log of each run (hearth watch).")
        ->check(CLI::ExistingDirectory);
    app.add_flag("--markdown", arguments.as_markdown,
                 "Print the table of docs/reference/gates.md.");
    app.add_flag("--list", arguments.wants_list, "List the gates and stop.");
    CLI11_PARSE(app, argc, argv);
    if (arguments.wants_list) {
        for (const Gate& gate : kGates) fmt::print("{:<17} {}\n", gate.name, gate.rule);
        return 0;
    }
    Result<std::vector<Gate>> gates = chosen(arguments.gates);
    const Status status =
        gates.ok() ? Runner(arguments, std::move(gates).value()).run() : gates.status();
    if (!status.ok()) fmt::print(stderr, "hearth_gates: {}\n", status.message());
    return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace hearth::gates

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth_gates",
                                         [&] { return hearth::gates::run_program(argc, argv); });
}
