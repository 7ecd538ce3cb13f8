// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A training run in a folder: config.json, run.jsonl (for `hearth watch`), last.brain (its newest
// checkpoint), and at the end weights.safetensors with the parameters.

#pragma once

#include "train/checkpoint.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace hearth::train {

/// Returns of the latest episodes.
class ReturnWindow {
  public:
    void add(float value);
    /// Mean of the last 20; minus infinity while there are fewer.
    double mean() const;
    std::vector<float> values() const { return {values_.begin(), values_.end()}; }

  private:
    std::deque<float> values_;
};

/// Adds the returns of the episodes that ended in a rollout, in order.
void add_episodes(const Window& window, ReturnWindow& returns);

/// Returns the runtime settings of the rollout that starts after `steps`.
LiveSettings settings_at(const TrainConfig& config, int64_t steps);

struct TrainProgress {
    int64_t steps = 0, of = 0;
    double mean_return = 0;
};

struct TrainRun {
    std::string folder;    ///< created if missing
    bool resumes = false;  ///< from its checkpoint; if false, an existing one is an error
    std::function<void(const TrainProgress&)> on_progress = {};  ///< on rank 0
    /// Called for states that a checkpoint of an older version lacks, and once for each observation
    /// that stays at a limit.
    std::function<void(const std::string& note)> on_note = {};
    /// The ranks that train together; null: this process alone. Rank 0 reads and writes the folder.
    GradientReducer* ranks = nullptr;
};

struct TrainOutcome {
    int64_t steps = 0;
    double mean_return = 0;
};

/// Maximum time between checkpoints, regardless of checkpoint_windows.
inline constexpr double kCheckpointSeconds = 30;

/// Trains until config.steps. Equal configurations give equal checkpoints and logs on one device,
/// however often the run is interrupted and resumed.
/// Errors: kInvalidArgument if the checkpoint has another configuration (steps and
/// checkpoint_windows may change) or number of ranks, or, not resuming, if there is one; files that
/// cannot be written; kInternal if the ranks' weights differ.
Result<TrainOutcome> train(standalone::Device& device, const TrainConfig& config,
                           const TrainRun& run);

}  // namespace hearth::train
