// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adds and removes agents.

#include "device/agents/roster.hpp"

#include <algorithm>

namespace hearth::agents {

Roster::Added Roster::add(uint64_t next_decision, hearth_agent& out) {
    const auto find = [&](AgentState state) {
        return std::ranges::find(slots_, state, &Slot::state);
    };
    Slot* slot = find(AgentState::kFree);
    const bool is_free = slot != slots_.end();
    if (!is_free) slot = find(AgentState::kLeaving);
    if (slot == slots_.end()) return Added::kNo;
    const uint32_t generation = slot->generation + 1 == 0 ? 1 : slot->generation + 1;
    *slot = {generation, is_free ? AgentState::kJoined : AgentState::kActing,
             is_free ? UINT64_MAX : next_decision};
    ++alive_;
    out = {static_cast<uint32_t>(slot - slots_.begin()), generation};
    return is_free ? Added::kAtFreeIndex : Added::kInPlaceOfLeaving;
}

void Roster::remove(hearth_agent agent) {
    HEARTH_ASSERT(has(agent));
    Slot& slot = slots_[agent.index];
    slot.state = slot.state == AgentState::kActing ? AgentState::kLeaving : AgentState::kFree;
    --alive_;
}

void Roster::start_decision() {
    for (Slot& slot : slots_)
        if (slot.state == AgentState::kLeaving) slot.state = AgentState::kFree;
}

void Roster::decided(hearth_agent agent, uint64_t decision) {
    Slot& slot = slots_[agent.index];
    // Somebody else has the index by now, or nobody.
    if (slot.generation != agent.generation || !is_live(slot.state)) return;
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

void Roster::archive(Archive& archive) {
    alive_ = 0;
    for (Slot& slot : slots_) {
        archive(slot.generation, slot.state, slot.first_decision);
        if (slot.state > AgentState::kLeaving) slot.state = AgentState::kFree;
        if (slot.generation == 0) slot.state = AgentState::kFree;
        alive_ += is_live(slot.state) ? 1 : 0;
    }
}

}  // namespace hearth::agents
