// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps the brain that is to be loaded.

#include "device/agents/exchange.hpp"

#include <algorithm>

namespace hearth::agents {

bool Exchange::request_brain(HostAllocator& allocator, std::span<const std::byte> brain) {
    if (brain_.size() < brain.size()) {
        Array<std::byte> larger;
        if (!larger.resize(allocator, brain.size())) return false;
        brain_ = std::move(larger);
    }
    std::ranges::copy(brain, brain_.begin());
    size_ = brain.size();
    set(LoadState::kBrain);
    return true;
}

void Exchange::erase() {
    std::ranges::fill(brain_, std::byte{0});
    size_ = 0;
    last_ = LoadState::kNone;
    set(LoadState::kNone);
}

bool Exchange::wait() {
    HEARTH_ASSERT(state_ != LoadState::kNone);
    return ++waits_ < kMostWaits;
}

void Exchange::complete() {
    HEARTH_ASSERT(state_ != LoadState::kNone);
    set(LoadState::kNone);
}

}  // namespace hearth::agents
