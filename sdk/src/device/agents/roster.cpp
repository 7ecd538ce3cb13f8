// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adds and removes agents.

#include "device/agents/roster.hpp"

#include <algorithm>

namespace hearth::agents {

Roster::Added Roster::add(uint64_t decisions, hearth_agent& out) {
    const auto find = [&](AgentState state) {
        return std::ranges::find(slots_, state, &Slot::state);
    };
    Slot* slot = find(AgentState::kFree);
    const bool is_free = slot != slots_.end();
    if (!is_free) slot = find(AgentState::kLeaving);
    if (slot == slots_.end()) return Added::kNo;
    const uint32_t generation = slot->generation + 1 == 0 ? 1 : slot->generation + 1;
    *slot = {generation, is_free ? AgentState::kJoined : AgentState::kActing,
             is_free ? UINT64_MAX : decisions + 1};
    ++alive_;
    out = {static_cast<uint32_t>(slot - slots_.begin()), generation};
    return is_free ? Added::kAtFreeIndex : Added::kInPlaceOfLeaving;
}

void Roster::remove(hearth_agent agent) {
    Slot& slot = slots_[agent.index];
    slot.state = slot.state == AgentState::kActing ? AgentState::kLeaving : AgentState::kFree;
    --alive_;
}

void Roster::decided(hearth_agent agent, uint64_t decision, bool was_leaving) {
    Slot& slot = slots_[agent.index];
    if (slot.generation != agent.generation) return;  // somebody else has the index by now
    if (slot.state == AgentState::kLeaving && was_leaving) slot.state = AgentState::kFree;
    if (!is_live(slot.state)) return;
    slot.state = AgentState::kActing;
    slot.first_decision = std::min(slot.first_decision, decision);
}

void Roster::restart() {
    for (Slot& slot : slots_) {
        slot.first_decision = UINT64_MAX;
        if (slot.state == AgentState::kActing) slot.state = AgentState::kJoined;
        if (slot.state == AgentState::kLeaving) slot.state = AgentState::kFree;
    }
}

}  // namespace hearth::agents
