// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a compute module in SPIR-V declares, read before any driver sees it.
//
// One walk over the words; nothing is taken from outside an instruction, and no id from outside the
// bound.  This is no validator: it finds out what the rest of a program must agree with, and refuses
// what would make a driver allocate or address without measure.  What the instructions do is up to
// the driver.  SPIR-V 1.6 is the specification that numbers and sections refer to.

#pragma once

#include "program/view.hpp"

#include <array>

namespace hearth {

/// What is known of an id while its module is read.
struct SpirvId {
    uint32_t kind = 0;
    uint32_t alignment = 0;  ///< of a type, in bytes
    uint64_t size = 0;       ///< of a type, in bytes; the value of a constant
    uint32_t type = 0;       ///< of a constant; what a pointer points to
    uint32_t storage_class = 0;
    uint32_t spec_id = 0xffffffffu;
    uint32_t set = 0xffffffffu, binding = 0xffffffffu;
    uint32_t stride = 0;  ///< of an array's elements, if decorated
    /// Of a struct with decorated offsets: its last member.
    uint32_t last_member = 0xffffffffu, last_offset = 0;
    bool is_buffer_block = false, is_workgroup_size = false;
    /// Not of this id: whether the constant at its position in the kernel's list is in the module.
    bool is_constant_declared = false;
};

struct SpirvFacts {
    uint32_t version = 0;  ///< 0x00010500 is 1.5
    std::array<uint32_t, 3> local_size{};
    uint64_t shared_bytes = 0;  ///< of all variables that a workgroup shares, padding included
    uint64_t push_bytes = 0;    ///< of the push constants' block; 0: there is none
    uint32_t access_bytes = 1;  ///< largest alignment that a load or store of a buffer relies on
    uint32_t descriptor_count = 0;  ///< one more than the highest binding of set 0
    bool has_addresses = false;     ///< declares PhysicalStorageBufferAddresses
    /// Its workgroups may be dispatched in parts: none asks how many a dispatch has, and none meets
    /// another through an atomic.
    bool is_divisible = true;
};

/// Where a module says below what its ids are.
inline constexpr size_t kSpirvBoundWord = 3;

/// Ids that read_spirv needs room for: the module's bound.  0 if the words do not begin as a module
/// does, or if the bound is out of proportion to them: drivers allocate by it.
uint32_t spirv_bound(std::span<const uint32_t> words);

/// Reads a module.  False fills *error, without the name of the kernel.
/// constants  what specialization will set.
/// ids        spirv_bound(words) of them; overwritten.
[[nodiscard]] bool read_spirv(std::span<const uint32_t> words,
                              std::span<const file::SpecConstantRecord> constants,
                              std::span<SpirvId> ids, SpirvFacts* facts, ViewError* error);

/// Whether a kernel's code is what its record says: local size, push constants, operands as
/// descriptors or addresses, alignment, specialization constants.  False fills *error.
/// ids  room for as many as its code has.
[[nodiscard]] bool check_code(const ProgramView& view, const file::KernelRecord& kernel,
                              std::span<SpirvId> ids, SpirvFacts* facts, ViewError* error);

}  // namespace hearth
