// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lays out a brain file: header, tensor records, names, tensors, application-defined bytes.

#pragma once

#include "program/brain.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth {

inline constexpr uint64_t align_brain_bytes(uint64_t bytes) {
    return (bytes + file::kBrainAlignment - 1) / file::kBrainAlignment * file::kBrainAlignment;
}

/// Writes one brain: room() and add() for each tensor in ascending order of names, then finish().
class BrainWriter {
  public:
    /// header  everything but offsets, sizes of the file, and the checksum.  Its tensor_count and
    ///         texts_bytes are those of the tensors that will be added.
    /// out     at least as large as the brain.
    BrainWriter(const file::BrainHeader& header, std::span<std::byte> out);

    /// Memory for the stored bytes of the next tensor.
    std::span<std::byte> room() const { return out_.subspan(at_); }
    /// Adds the tensor whose record.stored_bytes are in room(); sets its offsets.
    void add(file::BrainTensorRecord record, std::string_view name);
    /// Returns the size of the brain.
    uint64_t finish(std::span<const std::byte> host_data);

  private:
    void pad();

    std::span<std::byte> out_;
    file::BrainHeader header_;
    uint64_t at_, index_ = 0, text_ = 0;
};

}  // namespace hearth
