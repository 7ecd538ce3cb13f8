// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects calls on one handle from two threads at once.

#pragma once

#include <atomic>

namespace hearth::agents {

#ifdef NDEBUG
inline constexpr bool kDetectsThreads = false;
#else
inline constexpr bool kDetectsThreads = true;
#endif

struct CallState {
    std::atomic<bool> is_in_call = false;   ///< a thread is inside a call
    std::atomic<bool> has_overlap = false;  ///< another one was refused; not reported yet
};

/// Exists during a call.
template <bool kDetects = kDetectsThreads>
class CallGuard {
  public:
    explicit CallGuard(CallState& state) : state_(state) {
        if (!kDetects) return;
        is_alone_ = !state_.is_in_call.exchange(true, std::memory_order_acquire);
        if (!is_alone_) state_.has_overlap.store(true, std::memory_order_relaxed);
    }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;
    ~CallGuard() {
        if (kDetects && is_alone_) state_.is_in_call.store(false, std::memory_order_release);
    }

    /// No other thread is inside a call.
    bool is_alone() const { return is_alone_; }
    /// Another thread was refused, by a call that may have had no result to say so; true once.
    bool takes_overlap() const {
        return kDetects && state_.has_overlap.exchange(false, std::memory_order_relaxed);
    }

  private:
    CallState& state_;
    bool is_alone_ = true;
};

}  // namespace hearth::agents
