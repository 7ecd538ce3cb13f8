// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/driven_run.hpp"

#include <hearth/agents.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace hearth::gates {

using namespace agents;

namespace {

constexpr double kAllThatIsDue_us = 1e9;

/// An environment and the agent that lives in it.
struct Place {
    AgentId id{};
    std::unique_ptr<classic::Task> task;
    double sum = 0;
    int length = 0;
};

class DrivenRun {
  public:
    DrivenRun(const RunSite& site, const DrivenOptions& options) : site_(site), options_(options) {}

    Status create(const MakeTask& make, const AgentManifest& manifest, const AgentGraphs& traces) {
        HEARTH_ASSIGN(context_, Context::create(site_.device.host_info()));
        HEARTH_ASSIGN(const DeviceCaps caps, context_.device_caps());
        HEARTH_ASSIGN(const Compiled compiled,
                      compile(runtime_entries(traces, manifest),
                              {.caps = caps, .max_batch_size = manifest.n_agents}));
        HEARTH_ASSIGN(program_, LoadedProgram::load(context_, compiled.bytes));
        HEARTH_ASSIGN(agents_, Agents::create(context_, program_, manifest.save()));
        HEARTH_TRY(agents_.create_pipelines());
        for (const RuntimeHyperparameter& setting : manifest.hyperparameters)
            settings_[setting.name] = setting.value;
        places_.resize(manifest.n_agents);
        for (Place& place : places_) {
            HEARTH_ASSIGN(place.id, agents_.add());
            place.task = make();
            begin(place);
        }
        return {};
    }

    Status run(Run& run) {
        constexpr int64_t kLogPeriod = 1'000;
        int64_t logged = 0;
        for (uint64_t frame = 1; run.steps < options_.steps; ++frame) {
            HEARTH_TRY(context_.begin_frame(frame, frame - 1));
            agents_.poll();
            HEARTH_TRY(step(run));
            if (options_.decays) HEARTH_TRY(decay(run.steps));
            Status recorded;
            HEARTH_TRY(site_.device.run([&](VkCommandBuffer commands) {
                recorded =
                    agents_.record(commands, {.learning_budget_us = kAllThatIsDue_us}).status();
            }));
            HEARTH_TRY(recorded);
            run.evaluation = mean_return();
            if (run.steps / kLogPeriod > logged) site_.log(run.steps, run.evaluation);
            logged = run.steps / kLogPeriod;
            if (run.steps_to_bar < 0 && run.evaluation >= options_.bar) {
                run.steps_to_bar = run.steps;
                if (options_.stops_at_bar) break;
            }
        }
        run.passed = run.evaluation >= options_.bar;
        const AgentsStatus status = agents_.status();
        run.note = std::to_string(status[Counter::kGradientSteps]) + " items, " +
                   std::to_string(status[Counter::kSamplesDropped]) + " samples dropped";
        return {};
    }

  private:
    void begin(Place& place) {
        place.task->reset(site_.seed * 1000003 + episodes_++);
        place.sum = 0;
        place.length = 0;
        place.task->observe(agents_.observation(place.id));
    }

    Status step(Run& run) {
        for (Place& place : places_) {
            const std::span<const float> action = agents_.action(place.id);
            if (action.empty()) continue;
            const classic::Outcome outcome = place.task->step(action[0]);
            ++run.steps;
            place.sum += outcome.reward;
            place.task->observe(agents_.observation(place.id));
            HEARTH_TRY(agents_.add_reward(place.id, static_cast<float>(outcome.reward)));
            const bool is_cut = ++place.length >= place.task->info().step_limit;
            if (!outcome.terminated && !is_cut) continue;
            HEARTH_TRY(agents_.end_episode(
                place.id, outcome.terminated ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
            returns_.push_back(place.sum);
            begin(place);
        }
        return {};
    }

    /// Linear, as rl-zoo's settings want it.
    Status decay(int64_t steps) {
        const double left =
            std::max(0.0, 1 - static_cast<double>(steps) / static_cast<double>(options_.steps));
        for (const auto& [name, value] : settings_)
            HEARTH_TRY(agents_.set_hyperparameter(name.c_str(), value * left));
        return {};
    }

    double mean_return() const {
        if (returns_.size() < options_.window) return -INFINITY;
        return std::accumulate(returns_.end() - static_cast<std::ptrdiff_t>(options_.window),
                               returns_.end(), 0.0) /
               static_cast<double>(options_.window);
    }

    const RunSite& site_;
    const DrivenOptions& options_;
    Context context_;
    LoadedProgram program_;
    Agents agents_;
    std::map<std::string, double> settings_;
    std::vector<Place> places_;
    std::vector<double> returns_;
    uint64_t episodes_ = 0;
};

}  // namespace

Result<RunLogWriter> RunLogWriter::create(const std::string& path, const std::string& program) {
    RunLogWriter writer;
    writer.file_.reset(std::fopen(path.c_str(), "w"));
    if (!writer.file_) return not_found("cannot write '" + path + "': " + std::strerror(errno));
    std::fprintf(writer.file_.get(), "{\"type\":\"run\",\"program\":\"%s\",\"at\":\"steps\"}\n",
                 program.c_str());
    return writer;
}

void RunLogWriter::add(int64_t steps, double mean_return) const {
    if (!file_ || !std::isfinite(mean_return)) return;  // no episode has ended yet
    std::fprintf(file_.get(), "{\"type\":\"episodes\",\"at\":%lld,\"mean_return\":%.9g}\n",
                 static_cast<long long>(steps), mean_return);
    std::fflush(file_.get());
}

Result<Run> run_driven(const RunSite& site, const MakeTask& make, const AgentManifest& manifest,
                       const AgentGraphs& traces, const DrivenOptions& options) {
    Run run;
    DrivenRun driven(site, options);
    const Stopwatch making;
    HEARTH_TRY(driven.create(make, manifest, traces));
    run.setup_s = making.seconds();
    const Stopwatch learning;
    HEARTH_TRY(driven.run(run));
    run.learn_s = learning.seconds();
    return run;
}

}  // namespace hearth::gates
