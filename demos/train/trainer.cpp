// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs training: schedules, checkpoints, logs and resuming.

#include "train/trainer.hpp"

#include <hearth/agents/run_log.hpp>
#include <hearth/file.hpp>
#include <hearth/run_log.hpp>
#include <hearth/weights.hpp>

#include <nlohmann/json.hpp>
#include <programs/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace hearth::train {

namespace {

constexpr size_t kAveraged = 20;

std::string episode_line(int64_t steps, double mean_return) {
    if (!std::isfinite(mean_return)) return "";
    return "{\"type\":\"episodes\",\"at\":" + std::to_string(steps) +
           ",\"mean_return\":" + agents::detail::json_number(mean_return) + "}\n";
}

/// Returns the log up to `steps`: later lines are from rollouts that will be repeated.
Result<std::string> log_until(const std::string& path, int64_t steps) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
        const Result<nlohmann::json> json = programs::parse_json<nlohmann::json>(line);
        if (!json.ok() || !json->is_object()) continue;  // truncated when the process was killed
        const auto type = json->find("type"), at = json->find("at");
        if (type != json->end() && *type == "end") continue;
        if (at != json->end() && at->is_number() && at->get<double>() > static_cast<double>(steps))
            continue;
        kept += line + "\n";
    }
    return kept;
}

/// Returns the settings that must not change when a run is resumed.
std::string fixed_text(TrainConfig config) {
    config.steps = 1;
    config.checkpoint_windows = 1;
    return config.text();
}

class Trainer {
  public:
    Trainer(standalone::Device& device, const TrainConfig& config, const TrainRun& run)
        : device_(device), config_(config), run_(run) {
        if (run.ranks != nullptr) ranks_ = run.ranks;
    }

    Result<TrainOutcome> train() {
        HEARTH_TRY(begin());
        const int64_t samples = config_.ppo.n_agents * config_.ppo.n_steps;
        while (steps_ < config_.steps && !is_stopped()) {
            HEARTH_ASSIGN(const std::vector<Window> windows, run_windows(samples));
            for (const Window& window : windows) {
                steps_ += samples;
                ++windows_;
                add_episodes(window, returns_);
                if (is_first())
                    HEARTH_TRY(log_.write(agents::run_log_sample(agents::StatusView(window.status),
                                                                 static_cast<double>(steps_),
                                                                 window.observations) +
                                          episode_line(steps_, returns_.mean())));
                note(window.observations);
            }
            const bool is_due = checkpoint_is_due();
            if (is_due || consensus_is_due()) HEARTH_TRY(learner_->check_consensus());
            if (is_due) HEARTH_TRY(checkpoint());
            if (is_first() && run_.on_progress)
                run_.on_progress({steps_, config_.steps, returns_.mean()});
        }
        HEARTH_TRY(learner_->check_consensus());
        HEARTH_TRY(checkpoint());
        if (is_first()) HEARTH_TRY(write_weights());
        if (is_first())
            HEARTH_TRY(log_.write("{\"type\":\"end\",\"at\":" + std::to_string(steps_) + "}\n"));
        return TrainOutcome{steps_, returns_.mean()};
    }

  private:
    using Clock = std::chrono::steady_clock;
    using AtLimit = std::pair<std::string, agents::ObservationLimit>;

    std::string file(const char* name) const { return run_.folder + "/" + name; }
    bool is_first() const { return ranks_->rank() == 0; }
    /// All ranks stop together when `hearth watch` asks for it, and wait while it asks for a pause.
    bool is_stopped() {
        uint64_t is_asked = is_first() && log_.waits_or_stops() ? 1 : 0;
        ranks_->broadcast(std::as_writable_bytes(std::span(&is_asked, 1)));
        return is_asked != 0;
    }

    /// Settings of the rollouts to submit at once: at most up to the next checkpoint, and one if
    /// there are several ranks, which synchronize after each.
    std::vector<LiveSettings> next_settings(int64_t samples) const {
        const int64_t due = config_.checkpoint_windows - windows_ % config_.checkpoint_windows;
        const int64_t most = ranks_->size() > 1 ? 1 : std::min(windows_at_once_, due);
        std::vector<LiveSettings> settings;
        for (int64_t i = 0; i < most && steps_ + i * samples < config_.steps; ++i)
            settings.push_back(settings_at(config_, steps_ + i * samples));
        return settings;
    }

    /// Adapts the number of rollouts submitted at once to a short latency; results do not depend on
    /// it.
    Result<std::vector<Window>> run_windows(int64_t samples) {
        constexpr std::chrono::milliseconds kUnnoticed{50};
        const Clock::time_point begun = Clock::now();
        HEARTH_ASSIGN(std::vector<Window> windows, learner_->run(next_settings(samples)));
        const bool is_short = Clock::now() - begun < kUnnoticed;
        windows_at_once_ = is_short ? std::min(2 * windows_at_once_, kMostWindowsAtOnce) : 1;
        return windows;
    }

    /// Reports each observation at a limit once, if its share does not fall: before the first update
    /// of the normalization most observations may be at a limit.
    void note(std::span<const agents::ObservationAtLimit> observations) {
        std::map<AtLimit, double> shares;
        for (const agents::ObservationAtLimit& observation : observations) {
            const AtLimit key(observation.name, observation.limit);
            shares[key] = observation.share;
            const auto before = shares_.find(key);
            const bool falls = before == shares_.end() || observation.share < before->second;
            if (!falls && is_first() && run_.on_note && noted_.insert(key).second)
                run_.on_note(agents::observation_warning(observation));
        }
        shares_ = std::move(shares);
    }

    /// Rank 0's clock decides for all ranks.
    bool checkpoint_is_due() {
        const std::chrono::duration<double> since = Clock::now() - checkpointed_;
        std::byte is_due{windows_ % config_.checkpoint_windows == 0 ||
                         since.count() > kCheckpointSeconds};
        ranks_->broadcast({&is_due, 1});
        return is_due != std::byte{0};
    }

    bool consensus_is_due() const {
        constexpr int64_t kLearnSteps = 100;
        const int64_t items = config_.ppo.n_epochs * config_.ppo.n_minibatches;
        return windows_ * items / kLearnSteps != (windows_ - 1) * items / kLearnSteps;
    }

    Status begin() {
        // An error of rank 0's files ends the other ranks.
        std::vector<std::byte> checkpoint;
        if (is_first()) {
            HEARTH_ASSIGN(checkpoint, find_checkpoint());
        }
        uint64_t size = checkpoint.size();
        ranks_->broadcast(std::as_writable_bytes(std::span(&size, 1)));
        checkpoint.resize(size);
        ranks_->broadcast(checkpoint);
        HEARTH_ASSIGN(learner_, make_learner(device_, config_, *ranks_));
        constexpr RunRequest kListens[] = {RunRequest::kStop, RunRequest::kPause};
        std::string log = run_log_begin("train " + config_.task, "steps", kListens);
        if (!checkpoint.empty()) {
            HEARTH_TRY(restore(checkpoint));
            if (is_first()) {
                HEARTH_ASSIGN(log, log_until(file("run.jsonl"), steps_));
            }
        }
        checkpointed_ = Clock::now();
        if (!is_first()) return {};
        using Mode = RunLogWriter::Mode;
        // Fails before anything is written if another run is in this folder.
        HEARTH_TRY(RunLogWriter::open(file("run.jsonl"), Mode::kAppend).status());
        HEARTH_TRY(write_file_atomically(file("config.json"), std::string_view(config_.text())));
        HEARTH_TRY(write_file_atomically(file("run.jsonl"), std::string_view(log)));
        HEARTH_ASSIGN(log_, RunLogWriter::open(file("run.jsonl"), Mode::kAppend));
        return {};
    }

    /// Returns the checkpoint to resume from; empty for a new run.
    Result<std::vector<std::byte>> find_checkpoint() const {
        std::error_code error;
        std::filesystem::create_directories(run_.folder, error);
        if (error)
            return not_found("cannot make the folder '" + run_.folder + "': " + error.message());
        const bool has_checkpoint = std::filesystem::exists(file("last.brain"), error);
        if (has_checkpoint && !run_.resumes)
            return invalid_argument("'" + file("last.brain") +
                                    "' is there: resume it, or take another folder");
        if (!has_checkpoint && run_.resumes)
            return not_found("nothing to resume: no '" + file("last.brain") + "'");
        if (!has_checkpoint) return std::vector<std::byte>();
        return read_whole_file(file("last.brain"));
    }

    Status restore(std::span<const std::byte> bytes) {
        HEARTH_ASSIGN(const Checkpoint from, parse_checkpoint(bytes, file("last.brain")));
        if (fixed_text(from.config) != fixed_text(config_))
            return invalid_argument("'" + file("last.brain") + "' is of another configuration:\n" +
                                    from.config.text());
        if (from.ranks != ranks_->size())
            return invalid_argument("'" + file("last.brain") + "' is of " +
                                    std::to_string(from.ranks) + " ranks, found " +
                                    std::to_string(ranks_->size()));
        HEARTH_ASSIGN(const std::vector<std::string> missing,
                      learner_->restore(from.snapshot.brain, from.snapshot.transients));
        for (const std::string& name : missing)
            if (run_.on_note)
                run_.on_note("'" + file("last.brain") + "' has no state '" + name +
                             "', which begins with its initial value");
        steps_ = from.steps;
        windows_ = from.windows;
        for (const float value : from.returns) returns_.add(value);
        return {};
    }

    Status checkpoint() {
        HEARTH_ASSIGN(Learner::Snapshot snapshot, learner_->snapshot());
        checkpointed_ = Clock::now();
        if (!is_first()) return {};
        return write_checkpoint(file("last.brain"), {config_, steps_, windows_, ranks_->size(),
                                                     returns_.values(), std::move(snapshot)});
    }

    /// Writes the parameters that a game ships.
    Status write_weights() {
        HEARTH_ASSIGN(const Checkpoint last, read_checkpoint(file("last.brain")));
        NamedTensors weights;
        for (const BrainTensor& tensor : last.snapshot.brain.tensors)
            if (!tensor.is_state) weights[tensor.name] = tensor.value;
        return write_file_atomically(file("weights.safetensors"), write_safetensors(weights));
    }

    standalone::Device& device_;
    const TrainConfig& config_;
    const TrainRun& run_;
    OneRank alone_;
    GradientReducer* ranks_ = &alone_;
    std::unique_ptr<Learner> learner_;
    RunLogWriter log_;
    int64_t steps_ = 0, windows_ = 0;
    int64_t windows_at_once_ = 1;
    ReturnWindow returns_;
    std::map<AtLimit, double> shares_;  ///< as of the last rollout
    std::set<AtLimit> noted_;
    Clock::time_point checkpointed_ = Clock::now();
};

}  // namespace

void ReturnWindow::add(float value) {
    values_.push_back(value);
    if (values_.size() > kAveraged) values_.pop_front();
}

double ReturnWindow::mean() const {
    if (values_.size() < kAveraged) return -std::numeric_limits<double>::infinity();
    return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(kAveraged);
}

void add_episodes(const Window& window, ReturnWindow& returns) {
    for (size_t i = 0; i < window.end.size(); ++i)
        if (window.end[i] > 0.5f) returns.add(window.episode_return[i]);
}

LiveSettings settings_at(const TrainConfig& config, int64_t steps) {
    const double left =
        config.decays
            ? std::max(0.0, 1 - static_cast<double>(steps) / static_cast<double>(config.steps))
            : 1;
    return {static_cast<float>(config.ppo.learning_rate.value() * left),
            static_cast<float>(config.ppo.clip_range.value() * left)};
}

Result<TrainOutcome> train(standalone::Device& device, const TrainConfig& config,
                           const TrainRun& run) {
    return Trainer(device, config, run).train();
}

}  // namespace hearth::train
