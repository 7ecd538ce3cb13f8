// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A checked program in the host's or the context's memory, shared by its sessions.

#pragma once

#include "program/view.hpp"
#include "runtime/context.hpp"

namespace hearth::runtime {

/// What the C interface calls a failure to open bytes.
hearth_result result_of(StatusCode code);

class LoadedProgram : public HandleTag<0x4850524f> {
  public:
    static hearth_result load(Context& context, std::span<const std::byte> bytes, bool borrow,
                              LoadedProgram** out);
    /// The program of the first profile of a package that the context's device can run, or of the
    /// named one.  borrow: as for load(); otherwise the program and the weights are copied.
    static hearth_result load_package(Context& context, std::span<const std::byte> bytes,
                                      bool borrow, const char* profile, LoadedProgram** out);
    /// The handle and each session hold one use.
    void retain() { ++uses_; }
    void release();
    /// The host's handle is gone; sessions may go on.
    void close();
    bool is_closed() const { return is_closed_; }

    const ProgramView& view() const { return view_; }
    /// The params and states, which a brain holds: positions of slots in ascending order of names.
    std::span<const uint32_t> learned() const { return learned_; }
    Context& context() const { return *context_; }

  private:
    friend class hearth::HostAllocator;
    explicit LoadedProgram(Context& context) : context_(&context) {}
    /// Copies `program` and `outside` unless they are borrowed, checks them, and counts the program.
    static hearth_result adopt(Context& context, std::span<const std::byte> program,
                               std::span<const std::byte> outside, bool borrow,
                               LoadedProgram** out);

    Context* context_;
    [[nodiscard]] bool sort_learned();
    Array<uint64_t> copy_;  ///< 8-byte aligned; empty if borrowed
    Array<uint32_t> learned_;
    ProgramView view_;
    uint32_t uses_ = 1;
    bool is_closed_ = false;
};

}  // namespace hearth::runtime
