// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A brain: what was learned, in a file.  All params and states of a program by name, whatever the
// device and the profile; docs/brain_format.md describes it.
//
// A tensor's bytes are stored as they are, packed, or as what changed since the parent: the first
// contents that the game shipped.  Writing and reading allocate nothing.

#pragma once

#include "program/view.hpp"

#include <string_view>

namespace hearth {

namespace file {

inline constexpr uint32_t kBrainMagic = 0x4e425248;  // "HRBN"
inline constexpr uint32_t kBrainFormatVersion = 1;
inline constexpr uint64_t kBrainAlignment = 16;  ///< of each tensor's stored bytes

enum class BrainEncoding : uint32_t {
    kRaw,     ///< the bytes
    kPacked,  ///< packed: exclusive or with zeros
    kParent,  ///< nothing: equal to the parent's
    kDelta,   ///< packed: exclusive or with the parent's
};

struct BrainHeader {
    uint32_t magic, format_version;
    uint64_t total_bytes;
    uint64_t checksum;  ///< checksum() of every byte after this field
    uint64_t graph_hash, schema_hash, parent_hash;
    uint64_t host_schema_hash;  ///< the host's own, or 0
    uint64_t texts_offset, texts_bytes;
    uint64_t host_offset, host_bytes;  ///< the host's own bytes
    uint32_t tensor_count;
    uint32_t reserved;
};

/// After the header, in ascending order of names.
struct BrainTensorRecord {
    TextRef name;
    uint32_t kind;   ///< SlotKind: param or state
    uint32_t dtype;  ///< of the stored elements
    uint32_t encoding;
    uint32_t reserved;
    ShapeRecord shape;
    uint64_t offset, stored_bytes;
    uint64_t bytes;     ///< decoded
    uint64_t checksum;  ///< checksum() of the decoded bytes
};

static_assert(sizeof(BrainHeader) == 96 && sizeof(BrainTensorRecord) == 128);

}  // namespace file

/// A tensor to be written.
struct BrainItem {
    std::string_view name;
    SlotKind kind = SlotKind::kParam;
    DType dtype = DType::kF32;
    file::ShapeRecord shape{};
    std::span<const std::byte> bytes;
    /// Allows storing what changed alone.  A parent of no bytes: zeros.
    bool has_parent = false;
    std::span<const std::byte> parent;
};

/// Tensors to be written, in ascending order of names.
class BrainItems {
  public:
    virtual size_t count() const = 0;
    virtual BrainItem item(size_t index) const = 0;

  protected:
    ~BrainItems() = default;
};

struct BrainIdentity {
    uint64_t graph_hash = 0;
    uint64_t schema_hash = 0;
    uint64_t parent_hash = 0;
    uint64_t host_schema_hash = 0;
};

/// Bytes that write_brain needs at most.
uint64_t brain_bound(const BrainItems& items, uint64_t host_bytes);

/// Writes a brain into `out`, which has brain_bound() bytes or more; returns how many it has.
uint64_t write_brain(const BrainItems& items, const BrainIdentity& identity,
                     std::span<const std::byte> host_data, std::span<std::byte> out);

/// Reads a brain in place.  Allocates nothing.
class BrainView {
  public:
    /// Checks `bytes`, which must be 8-byte aligned and outlive the view.  False fills *error.
    ///
    /// Checked: magic, version, size, checksum; each tensor's name, type, shape and place, names in
    /// ascending order and with characters of their own.  Packed bytes are checked by decode().
    /// Takes time in proportion to the bytes.
    [[nodiscard]] bool open(std::span<const std::byte> bytes, ViewError* error);

    const file::BrainHeader& header() const { return *header_; }
    std::span<const file::BrainTensorRecord> tensors() const { return tensors_; }
    std::string_view name(const file::BrainTensorRecord& tensor) const {
        return {reinterpret_cast<const char*>(bytes_.data()) + header_->texts_offset +
                    tensor.name.offset,
                tensor.name.size};
    }
    std::span<const std::byte> host_data() const {
        return part(header_->host_offset, header_->host_bytes);
    }
    /// The tensor of this name, or null.
    const file::BrainTensorRecord* find(std::string_view name) const;
    bool is_delta() const;

    /// The tensor's bytes into `out`, which has tensor.bytes.  parent: the parent's bytes (of no
    /// length: zeros), which only deltas need.  False if they do not decode or are not the ones
    /// that were saved.
    [[nodiscard]] bool decode(const file::BrainTensorRecord& tensor,
                              std::span<const std::byte> parent, std::span<std::byte> out) const;

    /// The first element that is NaN or infinite, or -1, without decoding: allocates nothing.  What
    /// equals the parent's is not looked at.  Of bytes that do not decode the answer means nothing.
    int64_t first_nonfinite(const file::BrainTensorRecord& tensor,
                            std::span<const std::byte> parent) const;

  private:
    bool check_tensor(uint32_t index, ViewError* error) const;
    std::span<const std::byte> part(uint64_t offset, uint64_t size) const {
        return bytes_.subspan(offset, size);
    }

    std::span<const std::byte> bytes_;
    const file::BrainHeader* header_ = nullptr;
    std::span<const file::BrainTensorRecord> tensors_;
};

/// The first element that is NaN or infinite; -1 if there is none, or the type has no such values.
int64_t first_nonfinite(DType dtype, std::span<const std::byte> bytes);

/// What the inputs and outputs of a program are, in any order and on any profile.
uint64_t brain_schema_hash(const ProgramView& program);

/// The first contents of a program's params and states, as they are held, in any order.
uint64_t brain_parent_hash(const ProgramView& program);

/// One tensor's part of the parent hash; the whole is their sum.
uint64_t brain_tensor_hash(std::string_view name, DType dtype, std::span<const std::byte> bytes);

/// A slot's first contents; empty: zeros.
std::span<const std::byte> first_contents(const ProgramView& program, const file::SlotRecord& slot);

/// Whether a name matches a pattern, in which '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace hearth
