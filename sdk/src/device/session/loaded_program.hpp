// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A checked program, in memory of the application or the context, shared by its sessions.

#pragma once

#include "device/session/context.hpp"
#include "program/brain.hpp"
#include "program/spirv.hpp"

#include <atomic>

namespace hearth::runtime {

/// Maps a failure to open a file to the C interface's result code.
hearth_result result_of(StatusCode code);

/// Bytes that a program is loaded from.
struct ProgramBytes {
    std::span<const std::byte> program;
    std::span<const std::byte> outside;  ///< initial values; empty if the program has its own
    std::span<const std::byte> agents;   ///< the package's agent manifest, or empty
    Array<uint64_t> decompressed;        ///< owns `program`, unless it is stored as it is
};

class LoadedProgram : public HandleTag<0x4850524f> {
  public:
    static hearth_result load(Context& context, std::span<const std::byte> bytes, bool borrow,
                              hearth_trust_level trust, LoadedProgram** out);
    /// Loads the first device target of a package that the context's device can run, or the named
    /// one. borrow: as for load(); otherwise the program and the weights are copied.
    static hearth_result load_package(Context& context, std::span<const std::byte> bytes,
                                      bool borrow, hearth_trust_level trust,
                                      const char* device_target, LoadedProgram** out);
    /// The handle and each session hold one reference.
    void retain() { ++uses_; }
    void release();
    /// Drops the application's handle; sessions may outlive it.
    void close();
    bool is_closed() const { return is_closed_; }

    const ProgramView& view() const { return view_; }
    hearth_trust_level trust() const { return trust_; }
    /// Owner of its pipelines; see gpu::PipelineSource.
    uint64_t owner() const { return owner_; }
    /// Returns HEARTH_OK, or HEARTH_ERROR_UNSUPPORTED with what the kernels' code needs and the
    /// device lacks in `error`. check_program() checks everything else.
    hearth_result check_needs(FixedText<512>& error) const;
    /// True if the kernel's workgroups may be dispatched in parts; see SpirvFacts.
    bool is_divisible(uint32_t kernel) const { return is_divisible_[kernel]; }
    /// Indices of the variables that a brain of these contents is loaded into, sorted by name:
    /// parameters and states, for saved games non-persistent states as well.
    std::span<const uint32_t> saved(file::BrainContents contents) const {
        return contents == file::BrainContents::kSavedGame ? resumed_ : learned_;
    }
    /// brain_schema_hash and brain_parent_hash, computed once. Any thread.
    uint64_t schema_hash() const { return schema_hash_; }
    uint64_t parent_hash() const;
    Context& context() const { return *context_; }
    /// The package's agent manifest, or empty.
    std::span<const std::byte> agents() const { return agents_; }

  private:
    friend class hearth::HostAllocator;
    explicit LoadedProgram(Context& context) : context_(&context) {}
    /// Copies the bytes unless they are borrowed or its own, checks them, and counts the program.
    /// shared_limit: see read_code().
    static hearth_result adopt(Context& context, ProgramBytes bytes, bool borrow,
                               hearth_trust_level trust, uint64_t shared_limit,
                               LoadedProgram** out);
    /// Makes `bytes` the program's own copy; returns false if out of memory.
    [[nodiscard]] bool copy(ProgramBytes& bytes);

    Context* context_;
    [[nodiscard]] bool list_saved();
    /// Scans the code of all kernels. shared_limit: maximum shared memory of a workgroup according
    /// to the package.
    hearth_result read_code(uint64_t shared_limit);
    /// As above for a CPU program: the device finds or builds the functions of all kernels.
    hearth_result find_functions();
    Array<uint64_t> copy_, decompressed_;  ///< 8-byte aligned; empty if not needed
    Array<uint32_t> learned_, resumed_;
    Array<bool> is_divisible_;  ///< one for each kernel
    std::span<const std::byte> agents_;
    ProgramView view_;
    hearth_trust_level trust_ = HEARTH_TRUST_TRUSTED;
    uint64_t owner_ = 0;
    uint64_t schema_hash_ = 0;
    uint64_t shared_bytes_ = 0;   ///< maximum of all kernels
    uint32_t shared_kernel_ = 0;  ///< index of that kernel
    uint32_t spirv_version_ = 0;  ///< maximum of all kernels
    /// Computed on demand: hashing all weights is slow and most programs never need it.
    mutable std::atomic<uint64_t> parent_hash_{0};
    mutable std::atomic<bool> has_parent_hash_{false};
    uint32_t uses_ = 1;
    bool is_closed_ = false;
};

}  // namespace hearth::runtime
