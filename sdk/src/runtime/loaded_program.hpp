// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A checked program in the host's or the context's memory, shared by its sessions.

#pragma once

#include "program/view.hpp"
#include "runtime/context.hpp"

namespace hearth::runtime {

class LoadedProgram {
  public:
    static hearth_result load(Context& context, std::span<const std::byte> bytes, bool borrow,
                              LoadedProgram** out);
    /// The handle and each session hold one use.
    void retain() { ++uses_; }
    void release();
    /// The host's handle is gone; sessions may go on.
    void close();

    const ProgramView& view() const { return view_; }
    Context& context() const { return *context_; }

  private:
    friend class hearth::HostAllocator;
    explicit LoadedProgram(Context& context) : context_(&context) {}

    Context* context_;
    Array<uint64_t> copy_;  ///< 8-byte aligned; empty if borrowed
    ProgramView view_;
    uint32_t uses_ = 1;
};

}  // namespace hearth::runtime
