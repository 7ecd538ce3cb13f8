// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scratch memory that several sessions use in turn.

#pragma once

#include "core/handle_tag.hpp"
#include "device/session/context.hpp"

namespace hearth::runtime {

class Session;

/// Reference-counted: freed once the application has closed it and no session uses it any more.
class Arena : public HandleTag<0x4841524e> {
  public:
    static hearth_result create(Context& context, uint64_t bytes, Arena** out);
    explicit Arena(Context& context) : context_(&context) {}
    ~Arena();

    Context& context() const { return *context_; }
    const gpu::Buffer& buffer() const { return buffer_; }
    bool is_closed() const { return is_closed_; }

    void retain() { ++users_; }
    /// Drops the reference of a destroyed session.
    void release(const Session& session) {
        forget(session);
        --users_;
        free_if_unused();
    }
    void close() {
        is_closed_ = true;
        free_if_unused();
    }

    /// Returns the turn in which `session` records. A turn ends when another session records.
    uint64_t take_turn(const Session& session) {
        if (last_ != &session) ++turn_;
        last_ = &session;
        return turn_;
    }
    /// True if no other session has recorded since that turn, so that its contents are intact.
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
    const Session* last_ = nullptr;  ///< last session that recorded
    uint64_t turn_ = 0;
};

}  // namespace hearth::runtime
