// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A brain is a checkpoint in a file: all params and states of a program by name, independent of
// device and device target.  Format: docs/reference/brain_format.md.
//
// A tensor's bytes are stored raw, packed, or as a delta to the parent: the initial values that the
// game shipped.  Writing and reading allocate nothing.

#pragma once

#include "program/view.hpp"

#include <string_view>

namespace hearth {

namespace file {

inline constexpr uint32_t kBrainMagic = 0x4e425248;  // "HRBN"
inline constexpr uint32_t kBrainFormatVersion = 1;
/// What a brain holds.
enum class BrainContents : uint32_t {
    kCheckpoint,  ///< all params and states
    kWeights,     ///< what acting needs: see is_weight()
    kSavedGame,   ///< non-persistent states as well
};

inline constexpr uint64_t kBrainAlignment = 16;  ///< of each tensor's stored bytes

enum class BrainEncoding : uint32_t {
    kRaw,     ///< the bytes as they are
    kPacked,  ///< packed xor with zeros
    kParent,  ///< no bytes: equal to the parent's
    kDelta,   ///< packed xor with the parent's bytes
};

struct BrainHeader {
    uint32_t magic, format_version;
    uint64_t total_bytes;
    uint64_t checksum;  ///< checksum() of every byte after this field
    uint64_t graph_hash, schema_hash, parent_hash;
    uint64_t host_schema_hash;  ///< application-defined, or 0
    uint64_t texts_offset, texts_bytes;
    uint64_t host_offset, host_bytes;  ///< application-defined bytes
    uint32_t tensor_count;
    uint32_t contents;  ///< BrainContents
};

/// Follow the header, in ascending order of names.
struct BrainTensorRecord {
    TextRef name;
    uint32_t kind;   ///< VariableKind: param or state; in saved games also transient
    uint32_t dtype;  ///< of the stored elements
    uint32_t encoding;
    uint32_t reserved;
    ShapeRecord shape;
    uint64_t offset, stored_bytes;
    uint64_t bytes;     ///< decoded size
    uint64_t checksum;  ///< checksum() of the decoded bytes
};

static_assert(sizeof(BrainHeader) == 96 && sizeof(BrainTensorRecord) == 128);

}  // namespace file

/// One tensor to write.
struct BrainItem {
    std::string_view name;
    VariableKind kind = VariableKind::kParam;
    DType dtype = DType::kF32;
    file::ShapeRecord shape{};
    std::span<const std::byte> bytes;
    /// Allows delta encoding.  An empty parent means zeros.
    bool has_parent = false;
    std::span<const std::byte> parent;
};

/// The tensors to write, in ascending order of names.
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
    file::BrainContents contents = file::BrainContents::kCheckpoint;
};

/// Upper bound of the bytes that write_brain writes.
uint64_t brain_bound(const BrainItems& items, uint64_t host_bytes);

/// Writes a brain into `out`, which has at least brain_bound() bytes; returns its size.
uint64_t write_brain(const BrainItems& items, const BrainIdentity& identity,
                     std::span<const std::byte> host_data, std::span<std::byte> out);

/// BrainHeader::checksum of a whole brain.
uint64_t brain_checksum(std::span<const std::byte> brain);

/// A bound of numbers.
enum class Magnitude : uint8_t {
    kInfinity,
    /// 2^60, about 1.2e18: the square of an f32 is finite.  Gradient steps and their limits need
    /// the squares of params, so none is larger after training.
    kTrainable,
};

/// Reads a brain in place.  Allocates nothing.
class BrainView {
  public:
    /// Checks `bytes`, which must be 8-byte aligned and outlive the view.  Returns false and fills
    /// *error if they are invalid.
    ///
    /// Checked: magic, version, size, checksum; name, type, shape and offset of each tensor; names
    /// in ascending order and without overlap.  Packed bytes are checked by decode().  Takes time
    /// linear in the size.
    [[nodiscard]] bool open(std::span<const std::byte> bytes, ViewError* error);

    const file::BrainHeader& header() const { return *header_; }
    file::BrainContents contents() const {
        return static_cast<file::BrainContents>(header_->contents);
    }
    std::span<const file::BrainTensorRecord> tensors() const { return tensors_; }
    std::string_view name(const file::BrainTensorRecord& tensor) const {
        return {reinterpret_cast<const char*>(bytes_.data()) + header_->texts_offset +
                    tensor.name.offset,
                tensor.name.size};
    }
    std::span<const std::byte> host_data() const {
        return part(header_->host_offset, header_->host_bytes);
    }
    /// The tensor's bytes as they are in the file.
    std::span<const std::byte> stored(const file::BrainTensorRecord& tensor) const {
        return part(tensor.offset, tensor.stored_bytes);
    }
    /// Returns the tensor of this name, or null.
    const file::BrainTensorRecord* find(std::string_view name) const;
    bool is_delta() const;

    /// Decodes the tensor into `out`, which has tensor.bytes.  parent: the parent's bytes (empty:
    /// zeros), needed only by deltas.  Returns false if the bytes do not decode or their checksum
    /// is wrong.
    [[nodiscard]] bool decode(const file::BrainTensorRecord& tensor,
                              std::span<const std::byte> parent, std::span<std::byte> out) const;

    /// Index of the first element that is NaN, infinite or not `below`, or -1, without decoding:
    /// allocates nothing.  Tensors equal to the parent's are not checked.  The result is undefined
    /// for bytes that do not decode.
    int64_t first_nonfinite(const file::BrainTensorRecord& tensor,
                            std::span<const std::byte> parent,
                            Magnitude below = Magnitude::kInfinity) const;

  private:
    bool check_tensor(uint32_t index, ViewError* error) const;
    std::span<const std::byte> part(uint64_t offset, uint64_t size) const {
        return bytes_.subspan(offset, size);
    }

    std::span<const std::byte> bytes_;
    const file::BrainHeader* header_ = nullptr;
    std::span<const file::BrainTensorRecord> tensors_;
};

/// True for params and their copies ("published.param.NAME", "target.NAME").
bool is_param(VariableKind kind, std::string_view name);

/// Writes those of a checkpoint's tensors that acting needs into `out`, which has at least as many
/// bytes as the checkpoint; returns the size.
uint64_t write_weights(const BrainView& checkpoint, std::span<std::byte> out);

/// True for tensors of a brain of weights: the copies of params and statistics that agents act by
/// ("published.param.NAME", "published.state.NAME"), params that have no such copy, and statistics
/// of observations and rewards.
bool is_weight(const BrainView& brain, const file::BrainTensorRecord& tensor);
/// The tensor of a brain of weights that a variable which it does not hold is loaded from: the
/// variable's published copy or, for copies ("target.NAME", "published..."), what they are copies
/// of; null: the variable takes its initial value.
const file::BrainTensorRecord* find_substitute(const BrainView& weights, std::string_view variable);

/// Index of the first element that is NaN, infinite or not `below`; -1 if there is none, or the
/// type has no such values.
int64_t first_nonfinite(DType dtype, std::span<const std::byte> bytes,
                        Magnitude below = Magnitude::kInfinity);

/// The names under which a program's bindings are hashed: its own, or those of the other version
/// (program/legacy_names.hpp).
enum class HashedNames : uint8_t { kOwn, kAlias };

/// Hash of the names, types and shapes of all inputs and outputs, independent of order and device
/// target.
uint64_t brain_schema_hash(const ProgramView& program, HashedNames names = HashedNames::kOwn);

/// Hash of the initial values of all params and states, in their stored types, independent of
/// order.
uint64_t brain_parent_hash(const ProgramView& program);

/// Contribution of one tensor to the parent hash, which is the sum of all contributions.
uint64_t brain_tensor_hash(std::string_view name, DType dtype, std::span<const std::byte> bytes);

/// A variable's initial value; empty: zeros.
std::span<const std::byte> initial_values(const ProgramView& program,
                                          const file::VariableRecord& variable);

/// True if the name matches the pattern, in which '*' matches any characters.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace hearth
