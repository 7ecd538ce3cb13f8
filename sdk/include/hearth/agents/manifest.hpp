// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Description of a program of agents for its driver: the schema, the learner's schedule, and the
// names of entries and states.  Made together with the program (make_manifest() in
// hearth/agents/learners.hpp) and shipped in its package (CookOptions::agents), or as separate
// bytes.

#pragma once

#include <hearth/agents/schema.hpp>
#include <hearth/core/cpp20.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// Learning algorithm, with its name.
enum class Algorithm : uint8_t { kPpo, kDqn, kSac, kBehaviorCloning, kTamer };
inline constexpr std::string_view kAlgorithmNames[] = {"PPO", "DQN", "SAC", "cloning", "praise"};

constexpr std::string_view name_of(Algorithm kind) {
    const auto index = static_cast<size_t>(kind);
    return index < std::size(kAlgorithmNames) ? kAlgorithmNames[index] : "?";
}

/// A tunable hyperparameter: an input [] of the entry learn, its default, and its range.
struct RuntimeHyperparameter {
    std::string name = {};
    double value = 0;
    double low = -std::numeric_limits<float>::max(), high = std::numeric_limits<float>::max();
    friend bool operator==(const RuntimeHyperparameter&, const RuntimeHyperparameter&) = default;
};

/// Names of the entries that a driver records and of the states that it reads.
struct EntryNames {
    std::string frame = "frame", store = "store", compute_advantages = "compute_advantages",
                learn = "learn", publish = "publish", shrink_and_perturb = "shrink_and_perturb",
                add_demonstrations = "add_demonstrations", add_samples = "add_samples";
    std::string last_action = "last.action", status = "agents.status";
    friend bool operator==(const EntryNames&, const EntryNames&) = default;
};

/// See make_manifest().
struct AgentManifest {
    AgentSpec schema = {};
    Algorithm algorithm = Algorithm::kPpo;
    uint32_t n_agents = 16;        ///< maximum number of agents
    uint32_t n_steps = 0;          ///< decisions per rollout; 0: replay buffer, no rollouts
    uint32_t replay_capacity = 0;  ///< replay buffer capacity; 0: rollouts
    /// Recordings of learn per rollout, or per frame with a replay buffer.
    uint32_t updates_per_rollout = 1;
    uint32_t sync_interval = 1;  ///< learn recordings between publications, with a replay buffer
    /// With a replay buffer: `gradient_steps` recordings of learn after every `train_freq` samples,
    /// from the `learning_starts`-th on.  train_freq 0: updates_per_rollout after each decision, as
    /// far as the budget allows.
    uint32_t train_freq = 0, gradient_steps = 1, learning_starts = 0;
    /// Decisions whose samples may wait for the learner before collection pauses; with train_freq.
    uint32_t waiting_decisions = 0;
    std::vector<RuntimeHyperparameter> hyperparameters = {};
    EntryNames names = {};

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData, or kUnsupported for a later version.  Missing values of earlier
    /// versions (names, replay buffer capacity, ranges of hyperparameters) take their defaults.
    static Result<AgentManifest> load(std::span<const std::byte> bytes);
};

}  // namespace hearth::agents
