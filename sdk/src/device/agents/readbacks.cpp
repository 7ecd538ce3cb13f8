// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps the newest actions and status.

#include "device/agents/readbacks.hpp"

#include <cstring>

namespace hearth::agents {

bool Readbacks::allocate(HostAllocator& allocator, uint32_t most, size_t action_floats,
                         size_t status_words, size_t recent_words, size_t limit_words,
                         size_t value_count) {
    HEARTH_ASSERT(is_status_size(status_words) && is_recent_size(recent_words));
    status_words_ = status_words;
    recent_words_ = recent_words;
    return ring_.resize(allocator, most) && limits_.resize(allocator, limit_words) &&
           actions_.resize(allocator, action_floats) && values_.resize(allocator, value_count);
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

bool Readbacks::take_status(std::span<const std::byte> status, std::span<const std::byte> recent,
                            uint64_t frame_number) {
    std::array<uint32_t, kSavedStatusWords> saved{};
    std::array<uint32_t, kRecentWords> later{};
    if (status.size() != status_words_ * sizeof saved[0] ||
        recent.size() != recent_words_ * sizeof later[0])
        return false;
    std::memcpy(saved.data(), status.data(), status.size());
    if (!recent.empty()) std::memcpy(later.data(), recent.data(), recent.size());
    status_ = status_words(std::span(saved).first(status_words_), later);
    status_frame_number_ = frame_number;
    return true;
}

void Readbacks::take_limits(std::span<const std::byte> bytes) {
    if (!bytes.empty() && bytes.size() == limits_.size() * sizeof(uint32_t))
        std::memcpy(limits_.data(), bytes.data(), bytes.size());
}

void Readbacks::take_values(std::span<const std::byte> bytes) {
    if (!bytes.empty() && bytes.size() == values_.size() * sizeof(float))
        std::memcpy(values_.data(), bytes.data(), bytes.size());
}

float Readbacks::limit_share(size_t index, ObservationLimit limit) const {
    float share = 0;
    for_each_observation_limit(limits_, 0, [&](size_t i, ObservationLimit kind, double value) {
        if (i == index && kind == limit) share = static_cast<float>(value);
    });
    return share;
}

}  // namespace hearth::agents
