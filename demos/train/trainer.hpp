// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A training run in a folder: config.json, run.jsonl (for `hearth watch`), last.brain, its newest checkpoint, and at its
// end weights.safetensors, the params alone.

#pragma once

#include "train/checkpoint.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace hearth::train {

/// Returns of the last episodes.
class ReturnWindow {
  public:
    void add(float value);
    /// Of the last 20; minus infinity while there are fewer.
    double mean() const;
    std::vector<float> values() const { return {values_.begin(), values_.end()}; }

  private:
    std::deque<float> values_;
};

/// Episodes that ended in a window, in order.
void add_episodes(const Window& window, ReturnWindow& returns);

/// The settings of the window that begins after so many steps.
LiveSettings settings_at(const TrainConfig& config, int64_t steps);

struct TrainProgress {
    int64_t steps = 0, of = 0;
    double mean_return = 0;
};

struct TrainRun {
    std::string folder;    ///< made if it is missing
    bool resumes = false;  ///< from its checkpoint; otherwise one there is an error
    std::function<void(const TrainProgress&)> on_progress = {};  ///< on rank 0
    /// Those that train together; nothing: this process alone.  Rank 0 reads and writes the folder.
    GradientReducer* ranks = nullptr;
};

struct TrainOutcome {
    int64_t steps = 0;
    double mean_return = 0;
};

/// A checkpoint is written after so many seconds at the latest, whatever checkpoint_windows says.
inline constexpr double kCheckpointSeconds = 30;

/// Trains until config.steps.  Equal configs give equal checkpoints and logs on one device, however often the run was
/// interrupted and resumed.
/// Errors: kInvalidArgument if the checkpoint is of another configuration (steps and checkpoint_windows may
/// change) or of another number of ranks, or, not resuming, if there is one; files that cannot be written; kInternal if
/// the ranks' weights differ.
Result<TrainOutcome> train(standalone::Device& device, const TrainConfig& config,
                           const TrainRun& run);

}  // namespace hearth::train
