// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The agents that live, by index.

#pragma once

#include "core/alloc.hpp"
#include "device/agents/archive.hpp"

#include <hearth/hearth_agents.h>

#include <cstdint>

namespace hearth::agents {

enum class AgentState : uint8_t {
    kFree,     ///< nobody has this index
    kJoined,   ///< added; has not decided yet
    kActing,   ///< has decided: the next decision stores the outcome of the last one
    kLeaving,  ///< removed; the next decision stores the outcome of its last one
};

/// Handles of agents and the state of each index.
///
///                  add         remove      start_decision    decided     restart
///     kFree        kJoined     -           kFree             kFree       kFree
///     kJoined      kJoined     kFree       kJoined           kActing     kJoined
///     kActing      kActing     kLeaving    kActing           kActing     kJoined
///     kLeaving     kActing     -           kFree             kLeaving    kFree
///
/// Calls of a column with "-" are errors of the caller, as in the tables of the other classes.
/// An agent is added at the index of a leaving one only if there is no free index.  It continues
/// the index' sequence of decisions, of which the next outcome is the last of the leaving agent's
/// episode.
class Roster {
  public:
    static constexpr uint64_t kBytesPerAgent = 24;
    /// Returns false if out of memory.
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint32_t capacity) {
        return slots_.resize(allocator, capacity);
    }

    uint32_t capacity() const { return static_cast<uint32_t>(slots_.size()); }
    uint32_t alive() const { return alive_; }

    enum class Added : uint8_t { kNo, kAtFreeIndex, kInPlaceOfLeaving };
    /// next_decision: number of the next decision to start.  Returns kNo if all agents exist.
    Added add(uint64_t next_decision, hearth_agent& out);
    /// The agent must exist.
    void remove(hearth_agent agent);
    /// True if the agent exists and is not leaving.
    bool has(hearth_agent agent) const {
        return agent.index < slots_.size() && is_live(slots_[agent.index].state) &&
               slots_[agent.index].generation == agent.generation;
    }

    AgentState state(uint32_t index) const { return slots_[index].state; }
    uint32_t generation(uint32_t index) const { return slots_[index].generation; }
    /// Number of its first completed decision; UINT64_MAX before it.
    uint64_t first_decision(uint32_t index) const { return slots_[index].first_decision; }

    /// Reports that a decision stores the last outcomes of leaving agents.
    void start_decision();
    /// Reports the completion of a decision that the agent took part in.  decision: its number.
    void decided(hearth_agent agent, uint64_t decision);
    /// Values that no roster has become sound ones.
    void archive(Archive& archive);
    /// Forgets decisions, after other weights were loaded; agents that are leaving are gone.
    void restart();

  private:
    static bool is_live(AgentState state) {
        return state == AgentState::kJoined || state == AgentState::kActing;
    }
    struct Slot {
        uint32_t generation = 0;
        AgentState state = AgentState::kFree;
        uint64_t first_decision = UINT64_MAX;
    };
    static_assert(sizeof(Slot) <= kBytesPerAgent);

    Array<Slot> slots_;
    uint32_t alive_ = 0;
};

}  // namespace hearth::agents
