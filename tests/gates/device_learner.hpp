// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner's entries on a device, and agents that live in classic tasks: what learning gates
// share.

#pragma once

#include "classic/simulations.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/compile.hpp>

#include <standalone/program_runner.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth::gates {

/// Compiled entries with a session of their own.
class DeviceLearner {
  public:
    /// first_contents  replace those that params and states were declared with.
    static Result<std::unique_ptr<DeviceLearner>> create(standalone::Device& device,
                                                         const agents::AgentGraphs& traces,
                                                         uint64_t rows_capacity,
                                                         const NamedTensors& first_contents = {},
                                                         FuseMlp fused_networks = FuseMlp::kAuto);

    /// Records an entry, waits, and returns its outputs.
    Result<NamedTensors> run(const char* entry, const NamedTensors& inputs = {}, int64_t rows = 1);
    /// As it is now; valid until the next call.
    agents::StatusView status();
    standalone::ProgramRunner& runner() { return *runner_; }
    const std::string& listing() const { return listing_; }

  private:
    std::unique_ptr<standalone::ProgramRunner> runner_;
    std::string listing_;
    std::array<uint32_t, agents::kStatusWords> words_{};
};

using classic::schema_of;

using MakeTask = std::function<std::unique_ptr<classic::Task>()>;

/// Several environments, stepped together; episodes start anew by themselves.
class Crowd {
  public:
    Crowd(const MakeTask& make, int64_t count, uint64_t seed);

    const classic::TaskInfo& info() const { return tasks_[0]->info(); }
    int64_t count() const { return static_cast<int64_t>(tasks_.size()); }

    /// The entry `act` for all, then one step of each.  Afterwards the transition can be stored.
    Status step(DeviceLearner& learner, bool explores) {
        return step_exploring(learner, explores ? 1 : 0);
    }
    /// explore: the input of act, which for DQN is the part of random actions.
    Status step_exploring(DeviceLearner& learner, double explore);
    /// Inputs of `store` for the last step, all rows.
    const NamedTensors& transition() const { return transition_; }

    /// Returns of the episodes that ended, in order.
    const std::vector<double>& returns() const { return returns_; }
    /// Mean of the last `count` of them; minus infinity while there are fewer.
    double mean_return(size_t count) const;
    int64_t steps() const { return steps_; }

  private:
    void start(size_t i);
    HostTensor observations() const;

    std::vector<std::unique_ptr<classic::Task>> tasks_;
    std::vector<double> sums_;
    std::vector<int> lengths_;
    std::vector<bool> is_first_;
    std::vector<double> returns_;
    NamedTensors transition_;
    uint64_t seed_;
    uint64_t episodes_ = 0;
    int64_t steps_ = 0;
};

/// Mean return of `episodes` episodes that take the likeliest actions.
Result<double> evaluate(DeviceLearner& learner, const MakeTask& make, int64_t agents,
                        size_t episodes, uint64_t seed);

}  // namespace hearth::gates
