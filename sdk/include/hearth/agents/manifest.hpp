// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a driver must know of a program of agents: its schema, how its learner is scheduled, and what its
// entries and states are named.  Made beside the program (manifest_of() in hearth/agents/learners.hpp) and
// shipped in its package (CookOptions::agents), or as bytes beside it.

#pragma once

#include <hearth/agents/schema.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::agents {

enum class LearnerKind : uint8_t { kPpo, kDqn, kSac, kClone, kPraise };
std::string_view name_of(LearnerKind kind);

/// An input [] of the entry learn, and what it is given as long as nobody says otherwise.
struct LiveSetting {
    std::string name;
    double value = 0;
    friend bool operator==(const LiveSetting&, const LiveSetting&) = default;
};

/// What the entries are named that a driver records, and the states that it reads.
struct AgentNames {
    std::string frame = "frame", store = "store", prepare = "prepare", learn = "learn",
                publish = "publish", adapt = "adapt", demonstrate = "demonstrate";
    std::string last_action = "last.action", status = "agents.status";
    friend bool operator==(const AgentNames&, const AgentNames&) = default;
};

struct AgentManifest {
    AgentSchema schema;
    LearnerKind kind = LearnerKind::kPpo;
    uint32_t agents = 16;  ///< most at a time
    uint32_t horizon = 0;  ///< frames of a window; 0: learns from a ring, without windows
    uint32_t ring = 0;     ///< samples of the ring; 0: windows
    uint32_t items = 1;    ///< recordings of learn for a window, or for each frame with a ring
    uint32_t publish_period = 1;  ///< recordings of learn between publications, with a ring
    std::vector<LiveSetting> settings;
    AgentNames names;

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData, or kUnsupported for a later version.  What earlier ones lack has its default: the
    /// names, and no size of the ring.
    static Result<AgentManifest> load(std::span<const std::byte> bytes);
};

}  // namespace hearth::agents
