// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads a serialized Program in place.  open() checks everything once; afterwards every index,
// offset and size in the records can be trusted.  Allocates nothing.

#pragma once

#include "core/checked.hpp"
#include "core/fixed_text.hpp"
#include "program/records.hpp"

#include <cstring>
#include <span>
#include <string_view>

namespace hearth {

/// Reason why bytes are not a valid program.
struct ViewError {
    StatusCode code = StatusCode::kOk;
    FixedText<256> text;
};

class ProgramView {
  public:
    /// Checks `bytes`, which must be 8-byte aligned and outlive the view.  Returns false and fills
    /// *error if they are invalid.
    ///
    /// Checked: magic, version, size, checksum; each section inside the file; each index, text and
    /// list inside its section and not shared with another record; each operand inside its region,
    /// its entry's range of the arena or its binding, and matching its kernel's declaration
    /// (access, bytes, alignment, location); bytes of bindings and variables against their shapes;
    /// no overlap of variables; unique names; extents without overflow at rows_capacity; push
    /// constants within 128 bytes; 32-bit grids; SPIR-V's header and instruction lengths
    /// (program/spirv.hpp checks more).  Not checked: the behaviour of the SPIR-V.  Takes time
    /// linear in the size.
    /// outside  initial values of a program that was saved without them; must outlive the view.
    [[nodiscard]] bool open(std::span<const std::byte> bytes, ViewError* error,
                            std::span<const std::byte> outside = {});

    /// Views bytes that this process has just written, without checks.
    void adopt(std::span<const std::byte> bytes) {
        bytes_ = bytes;
        header_ = reinterpret_cast<const file::FileHeader*>(bytes.data());
    }

    const file::FileHeader& header() const { return *header_; }
    BindingModel binding_model() const { return static_cast<BindingModel>(header_->binding_model); }
    /// Instruction set of the C kernels; kNone: the kernels are SPIR-V.
    CpuIsa cpu() const {
        return static_cast<CpuIsa>((header_->flags & file::kCpuMask) >> file::kCpuShift);
    }
    NarrowStorage storage() const {
        return {(header_->flags & file::kStores16Bits) != 0,
                (header_->flags & file::kStores8Bits) != 0,
                (header_->flags & file::kStoresInt64) != 0,
                (header_->flags & file::kStoresFloat64) != 0};
    }
    /// Element type of the variable in memory.
    DType held_dtype(const file::VariableRecord& variable) const {
        return device_dtype(static_cast<DType>(variable.dtype), storage());
    }
    std::span<const std::byte> bytes() const { return bytes_; }

    std::span<const file::KernelRecord> kernels() const {
        return section<file::KernelRecord>(file::kKernels);
    }
    std::span<const file::OperandRecord> operands() const {
        return section<file::OperandRecord>(file::kOperands);
    }
    std::span<const file::CommandRecord> commands() const {
        return section<file::CommandRecord>(file::kCommands);
    }
    std::span<const file::EntryRecord> entries() const {
        return section<file::EntryRecord>(file::kEntries);
    }
    std::span<const file::BindingRecord> bindings() const {
        return section<file::BindingRecord>(file::kBindings);
    }
    std::span<const file::VariableRecord> variables() const {
        return section<file::VariableRecord>(file::kVariables);
    }
    /// Indices of the variables in ascending order of their names, which are unique.
    std::span<const uint32_t> variables_by_name() const {
        return section<uint32_t>(file::kVariableNames);
    }
    std::span<const uint32_t> words() const { return section<uint32_t>(file::kWords); }
    /// Initial values of variables.
    std::span<const std::byte> data() const {
        return has_outside_data() ? outside_ : section<std::byte>(file::kData);
    }
    bool has_outside_data() const { return (header_->flags & file::kDataIsOutside) != 0; }

    /// Zero-terminated.
    const char* text(file::TextRef ref) const {
        return section<char>(file::kTexts).data() + ref.offset;
    }
    std::string_view text_view(file::TextRef ref) const { return {text(ref), ref.size}; }
    std::span<const uint32_t> spirv_of(const file::KernelRecord& kernel) const {
        return list<uint32_t>(file::kSpirv, kernel.spirv);
    }
    std::span<const file::KernelOperandRecord> operands_of(const file::KernelRecord& kernel) const {
        return list<file::KernelOperandRecord>(file::kKernelOperands, kernel.operands);
    }
    std::span<const file::SpecConstantRecord> spec_constants_of(
        const file::KernelRecord& kernel) const {
        return list<file::SpecConstantRecord>(file::kSpecConstants, kernel.spec_constants);
    }
    std::span<const file::CommandRecord> commands_of(const file::EntryRecord& entry) const {
        return list<file::CommandRecord>(file::kCommands, entry.commands);
    }
    std::span<const uint32_t> bindings_of(const file::EntryRecord& entry) const {
        return list<uint32_t>(file::kEntryBindings, entry.bindings);
    }
    std::span<const file::OperandRecord> operands_of(const file::CommandRecord& command) const {
        return list<file::OperandRecord>(file::kOperands, command.operands);
    }
    std::span<const uint32_t> words_of(const file::CommandRecord& command) const {
        return list<uint32_t>(file::kWords, command.words);
    }
    /// Names of the binding's elements; empty if they have none.
    std::span<const file::TextRef> elements_of(const file::BindingRecord& binding) const {
        return list<file::TextRef>(file::kNames, binding.elements);
    }
    std::span<const uint32_t> values(file::ListRef ref) const {
        return list<uint32_t>(file::kValues, ref);
    }

  private:
    template <class T>
    std::span<const T> section(file::Section id) const {
        const file::SectionRef ref = header_->sections[id];
        return {reinterpret_cast<const T*>(bytes_.data() + ref.offset),
                static_cast<size_t>(ref.count)};
    }
    template <class T>
    std::span<const T> list(file::Section id, file::ListRef ref) const {
        return section<T>(id).subspan(ref.first, ref.count);
    }

    std::span<const std::byte> bytes_, outside_;
    const file::FileHeader* header_ = nullptr;
};

/// Computes the hash that a program's header states (FileHeader::content_hash), which identifies
/// the program to the application. Takes several cycles per byte.
uint64_t content_hash(const ProgramView& program);
/// Checks the hash in the header.
bool check_content_hash(const ProgramView& program, ViewError* error);

/// fixed + per_row * rows.
inline uint64_t extent_at(const file::ExtentRecord& extent, uint64_t rows) {
    return extent.fixed + extent.is_batch * rows;
}

/// Workgroups along an axis at batch size `rows`.
inline uint32_t groups_at(const file::GridAxisRecord& axis, uint64_t rows) {
    return static_cast<uint32_t>((extent_at(axis.work, rows) + axis.tile - 1) / axis.tile);
}

/// Workgroup counts of a dispatch.  The workgroups with one index along the longest axis form a
/// sub-dispatch: the smallest unit that can be dispatched separately.
struct Grid {
    uint32_t groups[3] = {};
    uint32_t axis = 0;  ///< the longest axis

    bool is_empty() const { return groups[0] == 0 || groups[1] == 0 || groups[2] == 0; }
    uint32_t part_count() const { return is_empty() ? 1 : groups[axis]; }
    Checked workgroups(uint32_t parts) const {
        return is_empty() ? Checked(0)
                          : Checked(groups[(axis + 1) % 3]) * groups[(axis + 2) % 3] * parts;
    }
};
inline Grid grid_at(const file::CommandRecord& command, uint64_t rows) {
    Grid grid;
    for (uint32_t i = 0; i < 3; ++i) {
        grid.groups[i] = groups_at(command.grid[i], rows);
        if (grid.groups[i] > grid.groups[grid.axis]) grid.axis = i;
    }
    return grid;
}

/// Size of a tensor in bytes at batch size 1.
Checked tensor_bytes(DType dtype, const file::ShapeRecord& shape);

Shape to_shape(const file::ShapeRecord& record);

}  // namespace hearth
