// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning: which variant of a kernel is best on one device, measured there.
//
// Compiling chooses variants from a shipped table.  Tuning is opt-in and measures: a Tuner makes
// trials, each a small program; the host runs them where and when it likes (at load, with a bar; on
// another queue, in what a frame leaves; in a tool) and reports times and results.  A variant wins
// only if it computed what the shipped choice did.  What won is a text, which CompileOptions::tuning
// takes; it may be shipped.  Nothing of this runs where frames are recorded.
//
//     Tuner tuner(compiled.tunable, options, graphs);
//     HEARTH_TRY(tune(tuner, run_on_my_device, [](size_t done, size_t count) { return true; }));
//     options.tuning = tuner.save();
//     ... compile again ...

#pragma once

#include <hearth/compile.hpp>
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
    std::string kernel;   ///< what is computed: an element of Compiled::tunable
    std::string variant;  ///< how
    Compiled program;
    std::string entry;     ///< of the program: what is to be run
    uint64_t rows = 1;     ///< live rows to run it with
    NamedTensors inputs;   ///< of it
    double estimated = 0;  ///< work, in units of the shipped variant's: for whoever has a budget
};

/// What running a trial gave.
struct TuningResult {
    double us = 0;         ///< time on the device, warm: the least or the median of several
    NamedTensors outputs;  ///< of the entry
};

/// Makes trials and judges results.  Not thread-safe; any thread may own it.  Deterministic but for
/// the times it is told.
class Tuner {
  public:
    /// tunable   Compiled::tunable of one or more programs.
    /// options   that they were compiled with: the caps and `driver` are the tuning's key.
    /// entries   graphs of their entries (Trace::finish), within which fused networks are tried; those of
    ///           entries that are not given stay as they are.
    Tuner(std::vector<std::string> tunable, const CompileOptions& options,
          std::vector<Graph> entries = {});
    ~Tuner();
    Tuner(Tuner&&) noexcept;
    Tuner& operator=(Tuner&&) noexcept;

    bool is_done() const;
    size_t trials_done() const;
    size_t trial_count() const;

    /// The trial that is due: the same until reported.  Compiles it.  Errors: those of compile();
    /// kOutOfRange if it is done.
    Result<const TuningTrial*> next();
    /// What the trial gave; or why it could not be run, which rules the variant out.
    void report(const TuningResult& result);
    void report(const Status& failure);

    /// What won so far, and was faster than the shipped choice, for CompileOptions::tuning.
    std::string save() const;
    /// For people: what was ruled out, and why.
    const std::vector<std::string>& notes() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

using RunTrial = std::function<Result<TuningResult>(const TuningTrial& trial)>;

/// Runs all trials.  progress  Called before each; false stops (what won so far stays).
Status tune(Tuner& tuner, const RunTrial& run,
            const std::function<bool(size_t done, size_t count)>& progress = nullptr);

/// Runs trials until `budget` is spent, at least one, on the calling thread: for a background
/// thread, or a loading screen that stays smooth.  A trial takes a few milliseconds to compile.
Status tune_within(Tuner& tuner, const RunTrial& run, std::chrono::microseconds budget);

}  // namespace hearth
