// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gymnasium's classic control tasks, step by step: CartPole-v1, Acrobot-v1, MountainCar-v0,
// MountainCarContinuous-v0 and Pendulum-v1 (Towers et al., "Gymnasium", 2024; the tasks are those
// of Barto, Sutton and Anderson, 1983; Sutton, 1996; Moore, 1990). Reference results of learning
// algorithms exist for them, so they verify an implementation.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace hearth::classic {

inline constexpr int kMaxStateWidth = 4;
inline constexpr int kMaxObservationWidth = 6;

struct TaskInfo {
    std::string_view name;
    int state_width = 0;
    int observation_width = 0;
    int choices = 0;  ///< number of discrete actions; 0: one continuous action
    float low = 0;    ///< of a continuous action
    float high = 0;
    int step_limit = 0;  ///< episodes are truncated at this step, which does not terminate the task
    double solved_at = 0;  ///< mean return of episodes; for Pendulum the customary threshold
};

struct Outcome {
    double reward = 0;
    bool terminated = false;  ///< the task has ended (the caller handles the step limit)
};

/// One environment.  Deterministic: equal states and actions give equal results.
class Task {
  public:
    virtual ~Task() = default;
    virtual const TaskInfo& info() const = 0;

    /// Starts an episode from a state that depends only on the seed, from Gymnasium's distribution
    /// but with another generator.
    virtual void reset(uint64_t seed) = 0;
    /// action: the index of a discrete action (0, 1, ...) or the continuous action, which is
    /// clipped.
    virtual Outcome step(float action) = 0;
    /// out: [info().observation_width]
    virtual void observe(std::span<float> out) const = 0;

    /// [info().state_width], in Gymnasium's order.
    std::span<const double> state() const {
        return std::span(state_).first(static_cast<size_t>(info().state_width));
    }
    void set_state(std::span<const double> state);

  protected:
    std::array<double, kMaxStateWidth> state_{};
};

/// Creates "CartPole", "Acrobot", "MountainCar", "MountainCarContinuous" or "Pendulum"; null for
/// others.
std::unique_ptr<Task> make_task(std::string_view name);
inline constexpr std::array<std::string_view, 5> kTaskNames = {"CartPole", "Acrobot", "MountainCar",
                                                               "MountainCarContinuous", "Pendulum"};

}  // namespace hearth::classic
