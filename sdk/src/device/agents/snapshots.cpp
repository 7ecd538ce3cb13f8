// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps the ring of snapshots.

#include "device/agents/snapshots.hpp"

#include "core/checked.hpp"

#include <algorithm>

namespace hearth::agents {

bool Snapshots::allocate(HostAllocator& allocator, uint32_t most, uint64_t bytes,
                         uint32_t interval) {
    interval_ = interval;
    if (!ring_.resize(allocator, most)) return false;
    return std::ranges::all_of(
        ring_, [&](Snapshot& s) { return s.bytes.resize(allocator, to_size(bytes)); });
}

void Snapshots::request() {
    state_ = is_in_flight() ? SnapshotState::kInFlightAndWanted : SnapshotState::kWanted;
}

void Snapshots::count_record() {
    if (interval_ == 0 || ++records_ < interval_) return;
    if (state_ == SnapshotState::kNone) state_ = SnapshotState::kDue;
}

void Snapshots::record(uint64_t readback, uint32_t collected) {
    HEARTH_ASSERT(state_ == SnapshotState::kDue || state_ == SnapshotState::kWanted);
    state_ = SnapshotState::kInFlight;
    readback_ = readback;
    collected_ = collected;
    records_ = 0;
}

void Snapshots::arrive(uint64_t size) {
    HEARTH_ASSERT(is_in_flight());
    state_ = state_ == SnapshotState::kInFlight ? SnapshotState::kNone : SnapshotState::kWanted;
    readback_ = 0;
    if (size == 0) {
        ++rejected_;
        return;
    }
    newest_ = next();
    ring_[newest_].size = size;
    count_ = std::min(count_ + 1, static_cast<uint32_t>(ring_.size()));
    ++taken_;
}

void Snapshots::lose() {
    HEARTH_ASSERT(is_in_flight());
    state_ = SnapshotState::kWanted;
    readback_ = 0;
}

void Snapshots::erase() {
    for (Snapshot& s : ring_) {
        std::ranges::fill(s.bytes, std::byte{0});
        s.size = 0;
    }
    count_ = 0;
    readback_ = 0;
    state_ = SnapshotState::kNone;
}

std::span<const std::byte> Snapshots::at(uint32_t index) const {
    if (index >= count_) return {};
    const Snapshot& s = ring_[(newest_ + index) % ring_.size()];
    return std::span<const std::byte>(s.bytes).first(static_cast<size_t>(s.size));
}

}  // namespace hearth::agents
