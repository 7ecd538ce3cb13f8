// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Limits the work and memory that reading one file may take.  Formats with repetition (loops,
// shared values, long sequences in few bytes) let a small file demand unbounded work and memory.
// Every reader of such a format charges its work to one budget, which grows with the file's size
// and has a floor far above the needs of legitimate small files.

#pragma once

#include <hearth/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth {

class Budget {
  public:
    /// Kinds of work that are counted.
    enum class Of : uint8_t {
        kTurns,        ///< loop iterations, inner loops included
        kVisits,       ///< nodes, names and items visited, repeats included
        kCopiedBytes,  ///< bytes of tensors created while reading
        kValues,       ///< values appended to the trace
        kElements,     ///< elements computed by constant folding
    };
    static constexpr size_t kKinds = 5;

    /// factor: scales all limits; at least 0.
    explicit Budget(uint64_t file_bytes, double factor = 1);

    /// Adds the size of another file that is part of the same model.
    void add_file_bytes(uint64_t bytes);

    /// Charges `amount`.  Errors: kOutOfRange, naming the limit; the budget of that kind is then
    /// exhausted.
    Status spend(Of of, uint64_t amount = 1);
    /// True if spend() would succeed.
    bool allows(Of of, uint64_t amount) const { return amount <= left_[index(of)]; }
    /// The error that spend() returns.
    Status refusal(Of of) const;
    uint64_t limit(Of of) const;

  private:
    static size_t index(Of of) { return static_cast<size_t>(of); }

    uint64_t file_bytes_;
    double factor_;
    std::array<uint64_t, kKinds> left_;
};

}  // namespace hearth
