// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps the newest actions and status.

#include "device/agents/readbacks.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::agents {

bool Readbacks::allocate(HostAllocator& allocator, uint32_t most, size_t action_floats,
                         size_t status_words) {
    status_words_ = status_words;
    return ring_.resize(allocator, most) && actions_.resize(allocator, action_floats);
}

void Readbacks::push(const InFlight& readback) {
    HEARTH_ASSERT(state() != ReadbackState::kFull);
    ring_[(oldest_ + count_++) % ring_.size()] = readback;
}

void Readbacks::pop() {
    HEARTH_ASSERT(state() != ReadbackState::kIdle);
    oldest_ = (oldest_ + 1) % ring_.size();
    --count_;
}

void Readbacks::take_actions(std::span<const std::byte> bytes, uint64_t decision) {
    if (bytes.size() != actions_.size() * sizeof(float)) return;
    std::memcpy(actions_.data(), bytes.data(), bytes.size());
    actions_decision_ = decision;
}

void Readbacks::take_status(std::span<const std::byte> bytes, uint64_t frame_number) {
    if (bytes.size() != status_words_ * sizeof(uint32_t)) return;
    std::array<uint32_t, kStatusWords> words;
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const size_t counters = (status_words_ - kMetricCount) / 2;
    status_ = {};
    std::copy_n(words.begin(), kMetricCount + counters, status_.begin());
    std::copy_n(words.begin() + kMetricCount + counters, counters,
                status_.begin() + kMetricCount + kCounterCount);
    status_frame_number_ = frame_number;
}

}  // namespace hearth::agents
