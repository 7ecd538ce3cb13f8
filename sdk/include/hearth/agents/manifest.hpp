// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Description of a program of agents for its driver: the schema, the learner's schedule, and the
// names of entries and states.  Made together with the program (manifest_of() in
// hearth/agents/learners.hpp) and shipped in its package (CookOptions::agents), or as separate
// bytes.

#pragma once

#include <hearth/agents/schema.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::agents {

/// Learning algorithm.
enum class LearnerKind : uint8_t { kPpo, kDqn, kSac, kClone, kPraise };
std::string_view name_of(LearnerKind kind);

/// A live hyperparameter: an input [] of the entry learn, and its default.
struct LiveSetting {
    std::string name;
    double value = 0;
    friend bool operator==(const LiveSetting&, const LiveSetting&) = default;
};

/// Names of the entries that a driver records and of the states that it reads.
struct AgentNames {
    std::string frame = "frame", store = "store", prepare = "prepare", learn = "learn",
                publish = "publish", adapt = "adapt", demonstrate = "demonstrate";
    std::string last_action = "last.action", status = "agents.status";
    friend bool operator==(const AgentNames&, const AgentNames&) = default;
};

/// See manifest_of().
struct AgentManifest {
    AgentSchema schema;
    LearnerKind kind = LearnerKind::kPpo;
    uint32_t agents = 16;  ///< maximum number of agents
    uint32_t horizon = 0;  ///< decisions per rollout; 0: replay buffer, no rollouts
    uint32_t ring = 0;     ///< replay buffer capacity; 0: rollouts
    uint32_t items = 1;    ///< learn recordings per rollout, or per frame with a replay buffer
    uint32_t publish_period = 1;  ///< learn recordings between publications, with a replay buffer
    std::vector<LiveSetting> settings;
    AgentNames names;

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData, or kUnsupported for a later version.  Missing values of earlier
    /// versions (names, replay buffer capacity) take their defaults.
    static Result<AgentManifest> load(std::span<const std::byte> bytes);
};

}  // namespace hearth::agents
