// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Weights that the next record loads.

#pragma once

#include "core/alloc.hpp"
#include "core/checked.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

enum class LoadState : uint8_t {
    kNone,
    kBrain,           ///< a brain is to be loaded
    kInitialWeights,  ///< all variables are to be reset
};

///                        request_brain    request_initial    wait               complete    erase
///     kNone              kBrain           kInitialWeights    -                  -           kNone
///     kBrain             kBrain           kInitialWeights    kBrain             kNone       kNone
///     kInitialWeights    kBrain           kInitialWeights    kInitialWeights    kNone       kNone
class Exchange {
  public:
    static constexpr uint32_t kMostWaits = 64;  ///< frames

    /// Space for brains of this size.  Returns false if out of memory.
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint64_t bytes) {
        return brain_.resize(allocator, to_size(bytes));
    }
    /// Copies the brain.  Returns false if out of memory; nothing has changed then.
    [[nodiscard]] bool request_brain(HostAllocator& allocator, std::span<const std::byte> brain);
    void request_initial() { set(LoadState::kInitialWeights); }
    /// Requests what was completed last, because its frame was discarded.
    void repeat(LoadState completed) { set(completed); }
    /// Erases the copy, too.
    void erase();

    LoadState state() const { return state_; }
    std::span<const std::byte> brain() const {
        return std::span<const std::byte>(brain_).first(static_cast<size_t>(size_));
    }
    /// The brain that was requested last; empty if none was, or the initial weights after it.
    std::span<const std::byte> newest() const {
        return last_ == LoadState::kBrain ? brain() : std::span<const std::byte>();
    }
    /// Frames in flight occupy the space that loading needs.  Returns false after kMostWaits
    /// frames, because a brain larger than all of the space never fits: call complete().
    [[nodiscard]] bool wait();
    void complete();

  private:
    void set(LoadState state) {
        if (state != LoadState::kNone) last_ = state;
        state_ = state;
        waits_ = 0;
    }

    Array<std::byte> brain_;
    uint64_t size_ = 0;
    uint32_t waits_ = 0;
    LoadState state_ = LoadState::kNone, last_ = LoadState::kNone;
};

}  // namespace hearth::agents
