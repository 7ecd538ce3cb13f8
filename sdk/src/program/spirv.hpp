// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads declarations of a SPIR-V compute module before it reaches any driver.
//
// One pass over the words; never reads outside an instruction, nor an id outside the bound.  This
// is not a validator: it extracts the properties that the rest of a program must agree with, and
// rejects modules that would make a driver allocate or address without bounds.  Executing the
// instructions safely is up to the driver.  Numbers and sections refer to the SPIR-V 1.6
// specification.

#pragma once

#include "program/view.hpp"

#include <array>

namespace hearth {

/// Properties of an id, collected while its module is read.
struct SpirvId {
    uint32_t kind = 0;
    uint32_t alignment = 0;  ///< of a type, in bytes
    uint64_t size = 0;       ///< of a type, in bytes; or the value of a constant
    uint32_t type = 0;       ///< type of a constant; pointee of a pointer
    uint32_t storage_class = 0;
    uint32_t spec_id = 0xffffffffu;
    uint32_t set = 0xffffffffu, binding = 0xffffffffu;
    uint32_t stride = 0;  ///< of an array's elements, if decorated
    /// Last member of a struct with decorated offsets.
    uint32_t last_member = 0xffffffffu, last_offset = 0;
    bool is_buffer_block = false, is_workgroup_size = false;
    /// Unrelated to this id: true if the constant at this position of the kernel's list is in the
    /// module.
    bool is_constant_declared = false;
};

struct SpirvFacts {
    uint32_t version = 0;  ///< 0x00010500 is 1.5
    std::array<uint32_t, 3> local_size{};
    uint64_t shared_bytes = 0;      ///< of all Workgroup variables, padding included
    uint64_t push_bytes = 0;        ///< size of the push constant block; 0: none
    uint32_t access_bytes = 1;      ///< largest alignment that a buffer load or store relies on
    uint32_t descriptor_count = 0;  ///< highest binding of set 0, plus one
    bool has_addresses = false;     ///< declares PhysicalStorageBufferAddresses
    /// Its workgroups may be split into sub-dispatches: the module neither reads NumWorkgroups nor
    /// uses atomics.
    bool is_divisible = true;
};

/// Index of the header word that holds the id bound.
inline constexpr size_t kSpirvBoundWord = 3;

/// Returns the module's id bound, the number of SpirvIds that read_spirv needs.  Returns 0 if the
/// words do not begin with a SPIR-V header, or if the bound is out of proportion to their number:
/// drivers allocate by it.
uint32_t spirv_bound(std::span<const uint32_t> words);

/// Reads a module.  Returns false and fills *error, without the kernel's name, if it is rejected.
/// constants  specialization constants that will be set.
/// ids        spirv_bound(words) elements; overwritten.
[[nodiscard]] bool read_spirv(std::span<const uint32_t> words,
                              std::span<const file::SpecConstantRecord> constants,
                              std::span<SpirvId> ids, SpirvFacts* facts, ViewError* error);

/// Checks that a kernel's code matches its record: local size, push constants, operands as
/// descriptors or addresses, alignment, specialization constants.  Returns false and fills *error
/// otherwise.
/// ids  at least as many as the code's id bound.
[[nodiscard]] bool check_code(const ProgramView& view, const file::KernelRecord& kernel,
                              std::span<SpirvId> ids, SpirvFacts* facts, ViewError* error);

}  // namespace hearth
