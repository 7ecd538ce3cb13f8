// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scratch memory that several sessions share, one after the other.

#pragma once

#include "core/handle_tag.hpp"
#include "device/session/context.hpp"

namespace hearth::runtime {

class Session;

/// Counted: it lives until the host has closed it and no session is left that used it.
class Arena : public HandleTag<0x4841524e> {
  public:
    static hearth_result create(Context& context, uint64_t bytes, Arena** out);
    explicit Arena(Context& context) : context_(&context) {}
    ~Arena();

    Context& context() const { return *context_; }
    const gpu::Buffer& buffer() const { return buffer_; }
    bool is_closed() const { return is_closed_; }

    void retain() { ++users_; }
    /// `session` is gone.
    void release(const Session& session) {
        forget(session);
        --users_;
        free_if_unused();
    }
    void close() {
        is_closed_ = true;
        free_if_unused();
    }

    /// `session` records; which turn this is.  A turn ends when another session records.
    uint64_t take_turn(const Session& session) {
        if (last_ != &session) ++turn_;
        last_ = &session;
        return turn_;
    }
    /// Whether it still is that turn: whether its contents are those that were left in it.
    bool is_turn(uint64_t turn) const { return turn_ == turn; }

  private:
    void forget(const Session& session) {
        if (last_ == &session) last_ = nullptr;
    }
    void free_if_unused();

    Context* context_;
    gpu::Buffer buffer_;
    uint32_t users_ = 0;
    bool is_closed_ = false;
    const Session* last_ = nullptr;  ///< that recorded
    uint64_t turn_ = 0;
};

}  // namespace hearth::runtime
