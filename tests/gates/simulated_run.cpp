// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/simulated_run.hpp"

#include "train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hearth::gates {

Result<Run> run_simulated(const RunSite& site, train::TrainConfig config, double bar) {
    config.seed = site.seed;
    Run run;
    const Stopwatch making;
    train::OneRank alone;
    HEARTH_ASSIGN(const auto learner, train::SimulatedLearner::create(site.device, config, alone));
    run.setup_s = making.seconds();
    const int64_t samples = config.ppo.n_agents * config.ppo.n_steps;
    train::ReturnWindow returns;
    double bar_s = -1, bar_cpu_s = -1;
    const Stopwatch learning;
    const double cpu_before = Stopwatch::cpu_seconds();
    while (run.steps < config.steps) {
        // Some in one submission, so that the queue does not run dry while the host looks at
        // returns.
        std::vector<train::LiveSettings> settings;
        for (int64_t i = 0; i < train::kMostWindowsAtOnce && run.steps + i * samples < config.steps;
             ++i)
            settings.push_back(train::settings_at(config, run.steps + i * samples));
        HEARTH_ASSIGN(const std::vector<train::Window> windows, learner->run(settings));
        for (const train::Window& window : windows) {
            run.steps += samples;
            train::add_episodes(window, returns);
            site.log(run.steps, returns.mean());
            if (run.steps_to_bar >= 0 || returns.mean() < bar) continue;
            run.steps_to_bar = run.steps;
            bar_s = learning.seconds();
            bar_cpu_s = Stopwatch::cpu_seconds() - cpu_before;
        }
    }
    run.learn_s = learning.seconds();
    const double cpu_s = Stopwatch::cpu_seconds() - cpu_before;
    run.evaluation = returns.mean();
    run.passed = run.steps_to_bar >= 0;
    const train::SimulatedLearner::Cost cost = learner->window_cost();
    run.note = fmt::format(
        "bar after {:.2f} s, CPU seconds of the process {:.1f} to the bar and {:.1f} in all, "
        "{:.0f} us "
        "a window of {} dispatches and {} barriers",
        bar_s, bar_cpu_s, cpu_s,
        run.learn_s * 1e6 * static_cast<double>(samples) / static_cast<double>(run.steps),
        cost.dispatches, cost.barriers);
    return run;
}

}  // namespace hearth::gates
