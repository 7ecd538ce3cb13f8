// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A run of a gate: what it is given, what comes of it; and runs through the driver that games use.

#pragma once

#include "gates/device_learner.hpp"

#include <hearth/agents/manifest.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

namespace hearth::gates {

/// What came of one run.
struct Run {
    bool passed = false;
    int64_t steps_to_bar = -1;  ///< -1: not reached
    int64_t steps = 0;          ///< of all environments
    double evaluation = 0;
    double setup_s = 0;  ///< compiling and building pipelines
    double learn_s = 0;  ///< everything else, evaluations at the end apart
    std::string note;
};

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }
    /// Of the whole process so far.
    static double cpu_seconds() {
        return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A run log (docs/reference/run_log.md) of mean returns by steps; one that was not created writes
/// nothing.
class RunLogWriter {
  public:
    static Result<RunLogWriter> create(const std::string& path, const std::string& program);
    void add(int64_t steps, double mean_return) const;

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
};

/// Where a run takes place.
struct RunSite {
    standalone::Device& device;
    uint64_t seed = 0;
    const RunLogWriter* writer = nullptr;

    void log(int64_t steps, double mean_return) const {
        if (writer != nullptr) writer->add(steps, mean_return);
    }
};

struct DrivenOptions {
    int64_t steps = 100'000;  ///< of all environments
    double bar = 0;
    size_t window = 20;  ///< episodes whose mean return is compared with the bar
    bool stops_at_bar = false;
    bool decays = false;  ///< learning rate and clip fall to zero over the run
};

/// Environments as agents of a game: one recording and one submission a step, everything that is
/// due is learned in it, and the environments wait for the actions.
Result<Run> run_driven(const RunSite& site, const MakeTask& make,
                       const agents::AgentManifest& manifest, const agents::AgentGraphs& traces,
                       const DrivenOptions& options);

}  // namespace hearth::gates
