// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps and packs demonstrations.

#include "device/agents/demonstrations.hpp"

#include <algorithm>

namespace hearth::agents {

uint64_t Demonstrations::bytes_per_agent(const Sizes& s) {
    return 2 * (s.observation + s.mask + s.action + 1) * sizeof(float) + 1;
}

bool Demonstrations::allocate(HostAllocator& allocator, const Sizes& s) {
    sizes_ = s;
    const size_t n = s.agents;
    const auto make = [&](Rows& rows) {
        return rows.observation.resize(allocator, n * s.observation) &&
               rows.mask.resize(allocator, std::max<size_t>(n * s.mask, 1)) &&
               rows.action.resize(allocator, n * s.action) &&
               rows.demonstrator.resize(allocator, n);
    };
    return states_.resize(allocator, n) && make(agents_) && make(rows_);
}

void Demonstrations::add(uint32_t agent, const float* action, uint32_t demonstrator) {
    std::copy_n(action, sizes_.action, &agents_.action[agent * sizes_.action]);
    agents_.demonstrator[agent] = static_cast<float>(demonstrator);
    states_[agent] = DemonstrationState::kGiven;
}

void Demonstrations::clear() {
    std::ranges::fill(states_, DemonstrationState::kNone);
}

void Demonstrations::capture(uint32_t agent, const float* observation, const float* mask) {
    HEARTH_ASSERT(states_[agent] == DemonstrationState::kGiven);
    std::copy_n(observation, sizes_.observation, &agents_.observation[agent * sizes_.observation]);
    if (mask != nullptr) std::copy_n(mask, sizes_.mask, &agents_.mask[agent * sizes_.mask]);
    states_[agent] = DemonstrationState::kCaptured;
}

uint32_t Demonstrations::pack() {
    uint32_t row = 0;
    const auto copy = [&](const Array<float>& from, Array<float>& to, uint32_t agent,
                          size_t floats) {
        if (floats > 0) std::copy_n(&from[agent * floats], floats, &to[row * floats]);
    };
    for (uint32_t i = 0; i < sizes_.agents; ++i) {
        if (states_[i] != DemonstrationState::kCaptured) continue;
        copy(agents_.observation, rows_.observation, i, sizes_.observation);
        copy(agents_.mask, rows_.mask, i, sizes_.mask);
        copy(agents_.action, rows_.action, i, sizes_.action);
        copy(agents_.demonstrator, rows_.demonstrator, i, 1);
        ++row;
    }
    return row;
}

}  // namespace hearth::agents
