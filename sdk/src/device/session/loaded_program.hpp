// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A checked program in the host's or the context's memory, shared by its sessions.

#pragma once

#include "device/session/context.hpp"
#include "program/spirv.hpp"

#include <atomic>

namespace hearth::runtime {

/// What the C interface calls a failure to open bytes.
hearth_result result_of(StatusCode code);

class LoadedProgram : public HandleTag<0x4850524f> {
  public:
    static hearth_result load(Context& context, std::span<const std::byte> bytes, bool borrow,
                              hearth_trust trust, LoadedProgram** out);
    /// The program of the first profile of a package that the context's device can run, or of the
    /// named one.  borrow: as for load(); otherwise the program and the weights are copied.
    static hearth_result load_package(Context& context, std::span<const std::byte> bytes,
                                      bool borrow, hearth_trust trust, const char* profile,
                                      LoadedProgram** out);
    /// The handle and each session hold one use.
    void retain() { ++uses_; }
    void release();
    /// The host's handle is gone; sessions may go on.
    void close();
    bool is_closed() const { return is_closed_; }

    const ProgramView& view() const { return view_; }
    hearth_trust trust() const { return trust_; }
    /// Of its pipelines; see gpu::PipelineSource.
    uint64_t owner() const { return owner_; }
    /// HEARTH_OK, or HEARTH_ERROR_UNSUPPORTED and in `error` what the code of its kernels needs and
    /// the device lacks.  check_program() tells of all else.
    hearth_result check_needs(FixedText<512>& error) const;
    /// Whether the kernel's workgroups may be dispatched in parts; see SpirvFacts.
    bool is_divisible(uint32_t kernel) const { return is_divisible_[kernel]; }
    /// The params and states, which a brain holds: positions of slots in ascending order of names.
    std::span<const uint32_t> learned() const { return learned_; }
    /// brain_schema_hash and brain_parent_hash, worked out once.  Any thread.
    uint64_t schema_hash() const { return schema_hash_; }
    uint64_t parent_hash() const;
    Context& context() const { return *context_; }
    /// The package's manifest of agents, or empty.
    std::span<const std::byte> agents() const { return agents_; }

  private:
    friend class hearth::HostAllocator;
    explicit LoadedProgram(Context& context) : context_(&context) {}
    /// Copies `program`, `outside` and `agents` unless they are borrowed, checks them, and counts the program.
    /// shared_limit: see read_code().
    static hearth_result adopt(Context& context, std::span<const std::byte> program,
                               std::span<const std::byte> outside,
                               std::span<const std::byte> agents, bool borrow, hearth_trust trust,
                               uint64_t shared_limit, LoadedProgram** out);

    Context* context_;
    [[nodiscard]] bool list_learned();
    /// Looks into the code of all kernels.  shared_limit  what a workgroup may use, as a package
    /// says.
    hearth_result read_code(uint64_t shared_limit);
    /// The same of a program for a CPU: has the device find, or build, the functions of all kernels.
    hearth_result find_functions();
    Array<uint64_t> copy_;  ///< 8-byte aligned; empty if borrowed
    Array<uint32_t> learned_;
    Array<bool> is_divisible_;  ///< one for each kernel
    std::span<const std::byte> agents_;
    ProgramView view_;
    hearth_trust trust_ = HEARTH_TRUST_HOST;
    uint64_t owner_ = 0;
    uint64_t schema_hash_ = 0;
    uint64_t shared_bytes_ = 0;   ///< most of any kernel
    uint32_t shared_kernel_ = 0;  ///< which that is
    uint32_t spirv_version_ = 0;  ///< newest of any kernel
    /// The parent hash takes a walk over all weights, which most programs never need.
    mutable std::atomic<uint64_t> parent_hash_{0};
    mutable std::atomic<bool> has_parent_hash_{false};
    uint32_t uses_ = 1;
    bool is_closed_ = false;
};

}  // namespace hearth::runtime
