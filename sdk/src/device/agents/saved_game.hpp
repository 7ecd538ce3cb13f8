// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A saved game: a brain with non-persistent states, and the driver's own state.

#pragma once

#include "core/alloc.hpp"
#include "core/checked.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

enum class SavedGameState : uint8_t {
    kNone,
    kWanted,    ///< recorded as soon as no entry is partially recorded
    kInFlight,  ///< recorded; its bytes have not arrived yet
    kReady,
};

///                  request    record       arrive             lose
///     kNone        kWanted    -            -                  -
///     kWanted      kWanted    kInFlight    -                  -
///     kInFlight    same       -            kReady or kNone    kWanted
///     kReady       kWanted    -            -                  -
class SavedGame {
  public:
    /// bytes: of the encoded game; application_data: its bytes in it.
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint64_t bytes,
                                uint64_t application_data) {
        return bytes_.resize(allocator, to_size(bytes)) &&
               application_data_.resize(allocator, to_size(application_data));
    }
    bool is_enabled() const { return !bytes_.empty(); }
    SavedGameState state() const { return state_; }
    void request() {
        if (state_ != SavedGameState::kInFlight) state_ = SavedGameState::kWanted;
    }
    void record(uint64_t readback) {
        state_ = SavedGameState::kInFlight;
        readback_ = readback;
    }
    uint64_t readback() const { return readback_; }
    std::span<std::byte> space() { return bytes_; }
    /// size 0: it could not be encoded.
    void arrive(uint64_t size) {
        state_ = size > 0 ? SavedGameState::kReady : SavedGameState::kNone;
        size_ = size;
    }
    void lose() { state_ = SavedGameState::kWanted; }
    void erase() {
        state_ = SavedGameState::kNone;
        size_ = 0;
    }

    std::span<const std::byte> bytes() const {
        return std::span<const std::byte>(bytes_).first(static_cast<size_t>(size_));
    }
    std::span<std::byte> application_data() { return application_data_; }

  private:
    Array<std::byte> bytes_, application_data_;
    uint64_t size_ = 0, readback_ = 0;
    SavedGameState state_ = SavedGameState::kNone;
};

}  // namespace hearth::agents
