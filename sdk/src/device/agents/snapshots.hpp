// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The newest snapshots of a brain, and when the next one is taken.

#pragma once

#include "core/alloc.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

/// The next snapshot.
enum class SnapshotState : uint8_t {
    kNone,
    kDue,       ///< by its interval: taken between two rollouts
    kWanted,    ///< requested: taken as soon as possible
    kInFlight,  ///< recorded; its bytes have not arrived yet
    kInFlightAndWanted,
};

///                           request               count_record          record       arrive
///     kNone                 kWanted               kDue or kNone         -            -
///     kDue                  kWanted               kDue                  kInFlight    -
///     kWanted               kWanted               kWanted               kInFlight    -
///     kInFlight             kInFlightAndWanted    kInFlight             -            kNone
///     kInFlightAndWanted    kInFlightAndWanted    kInFlightAndWanted    -            kWanted
///
/// count_record: kDue once the interval has passed.  If the frame with the snapshot is discarded, it
/// is taken again: lose() is arrive(), then request().  erase() leads to kNone from everywhere.
class Snapshots {
  public:
    static constexpr uint32_t kMost = 64;
    /// interval: records between automatic snapshots; 0: none.  bytes: of one snapshot.
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint32_t most, uint64_t bytes,
                                uint32_t interval);

    bool are_kept() const { return !ring_.empty(); }
    /// Maximum size of a snapshot; are_kept() only.
    uint64_t capacity_bytes() const { return ring_[0].bytes.size(); }
    SnapshotState state() const { return state_; }
    bool is_in_flight() const { return state_ >= SnapshotState::kInFlight; }
    bool is_requested() const {
        return state_ == SnapshotState::kWanted || state_ == SnapshotState::kInFlightAndWanted;
    }

    void request();
    /// Counts a record of a learner that is not frozen.
    void count_record();
    void restart_interval() { records_ = 0; }
    /// collected: decisions in the rollout at this point.
    void record(uint64_t readback, uint32_t collected);
    void lose();
    uint64_t readback() const { return readback_; }
    uint32_t collected() const { return collected_; }

    /// Space for the snapshot that has arrived: unused, or that of the oldest one.
    std::span<std::byte> space() { return ring_[next()].bytes; }
    /// Completes the snapshot in space(); size 0: it was rejected.
    void arrive(uint64_t size);
    void erase();

    uint32_t count() const { return count_; }
    /// 0: the newest.  Empty if there is no such snapshot.
    std::span<const std::byte> at(uint32_t index) const;
    uint64_t taken() const { return taken_; }
    uint64_t rejected() const { return rejected_; }

  private:
    struct Snapshot {
        Array<std::byte> bytes;
        uint64_t size = 0;
    };
    size_t next() const { return (newest_ + ring_.size() - 1) % ring_.size(); }

    Array<Snapshot> ring_;  ///< newest first from newest_ on
    size_t newest_ = 0;
    uint32_t count_ = 0, interval_ = 0, collected_ = 0;
    uint64_t records_ = 0, taken_ = 0, rejected_ = 0, readback_ = 0;
    SnapshotState state_ = SnapshotState::kNone;
};

}  // namespace hearth::agents
