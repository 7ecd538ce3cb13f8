// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning: selects the best variant of each kernel for one device by measuring on it.
//
// Compiling chooses variants from a shipped table.  Tuning is opt-in: a Tuner makes trials, each a
// small program; the application runs them where and when it likes (at load, with a progress bar;
// on another queue, in the spare time of a frame; in a tool) and reports times and results.  A
// variant wins only if its results match the shipped variant's.  The winners are a text for
// CompileOptions::tuning, which may be shipped.  None of this runs while frames are recorded.
//
//     Tuner tuner(compiled.tunable_kernels, options, graphs);
//     HEARTH_TRY(tune(tuner, run_on_my_device, [](size_t done, size_t count) { return true; }));
//     options.tuning = tuner.save();
//     ... compile again ...

#pragma once

#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/graph.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth {

/// One variant of one kernel, to be run once or more.
struct TuningTrial {
    std::string kernel = {};   ///< the problem to compute: an element of Compiled::tunable_kernels
    std::string variant = {};  ///< the implementation to try
    Compiled program = {};
    std::string entry = {};     ///< of the program: the entry to run
    uint64_t batch_size = 1;    ///< to run it with
    NamedTensors inputs = {};   ///< of the entry
    double estimated_cost = 0;  ///< relative to the shipped variant, for budgeting
};

/// Measured time and outputs of a trial.
struct TuningResult {
    double us = 0;              ///< time on the device, warm: the minimum or median of several runs
    NamedTensors outputs = {};  ///< of the entry
};

/// Makes trials and evaluates results.  Not thread-safe; any thread may own it.  Deterministic
/// apart from the reported times.
class Tuner {
  public:
    /// tunable_kernels  Compiled::tunable_kernels of one or more programs.
    /// options          that they were compiled with: caps and driver_id are the tuning's key.
    /// entries          graphs of their entries (Trace::build), in which fused MLPs are tried; the
    ///                  fused MLPs of other entries are not tuned.
    Tuner(std::vector<std::string> tunable_kernels, const CompileOptions& options,
          std::vector<Graph> entries = {});
    ~Tuner();
    Tuner(Tuner&&) noexcept;
    Tuner& operator=(Tuner&&) noexcept;

    bool is_done() const;
    size_t trials_done() const;
    size_t trial_count() const;

    /// The current trial; it stays the same until reported.  Compiles it.  Errors: those of
    /// compile(); kOutOfRange if all trials are done.
    Result<const TuningTrial*> next();
    /// Reports the result of the trial, or why it could not be run, which rejects the variant.
    void report(const TuningResult& result);
    void report(const Status& failure);

    /// The variants so far that were faster than the shipped ones, for CompileOptions::tuning.
    std::string save() const;
    /// Remarks: the variants that were rejected, and why.
    const std::vector<std::string>& remarks() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

using RunTrial = std::function<Result<TuningResult>(const TuningTrial& trial)>;

/// Runs all trials.  progress  Called before each; false stops (the winners so far are kept).
Status tune(Tuner& tuner, const RunTrial& run,
            const std::function<bool(size_t done, size_t count)>& progress = nullptr);

/// Runs trials until `budget` is spent, at least one, on the calling thread: for a background
/// thread, or a loading screen that stays responsive.  A trial takes a few milliseconds to compile.
Status tune_for(Tuner& tuner, const RunTrial& run, std::chrono::microseconds budget);

}  // namespace hearth
