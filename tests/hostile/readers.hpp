// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The readers that the files are for, each with what a host does with what it has read: printing
// it, checking it, walking through it.

#pragma once

#include "files.hpp"

#include <hearth/status.hpp>

namespace hearth::hostile {

/// Bytes where a mapped file would lie: aligned.
class Aligned {
  public:
    explicit Aligned(std::span<const std::byte> bytes)
        : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
        if (size_ > 0) std::memcpy(words_.data(), bytes.data(), size_);
    }
    std::span<const std::byte> bytes() const {
        return std::as_bytes(std::span(words_)).first(size_);
    }

  private:
    std::vector<uint64_t> words_;
    size_t size_;
};

/// What must be there before the first byte is read, such as a device; not counted.
/// Errors: kUnsupported where this machine has none.
Status set_up(const std::string& reader);

/// Reads `file`, all the way.  Ok, or why it was refused.
Status read(const std::string& reader, const Bytes& file);

/// A pickle by itself, without the archive whose checksums stand before it.
Status read_pickle_alone(const Bytes& file);

/// Of the device's own, with a driver's bytes that are none.
Bytes saved_pipeline_cache();
void mend_pipeline_cache(Bytes& bytes);

}  // namespace hearth::hostile
