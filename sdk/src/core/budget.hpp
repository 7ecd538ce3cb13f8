// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a reader may do for one file.  A format that can say "again" - loops, shared values, long
// sequences in few bytes - can ask for work and memory without end; every reader of such a format
// counts what it does against one budget, which grows with the file's size and has a floor that
// honest small files stay far below.

#pragma once

#include <hearth/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth {

class Budget {
  public:
    /// What is counted.
    enum class Of : uint8_t {
        kTurns,        ///< of loops, those of inner loops included
        kVisits,       ///< nodes, names and items looked at, however often
        kCopiedBytes,  ///< of tensors made while reading
        kValues,       ///< appended to the trace
        kElements,     ///< computed while reading, to fold constants
    };
    static constexpr size_t kKinds = 5;

    /// factor: how many times as much as usual; at least 0.
    explicit Budget(uint64_t file_bytes, double factor = 1);

    /// The file goes on elsewhere.
    void add_file_bytes(uint64_t bytes);

    /// Takes `amount`.  Errors: kOutOfRange, naming the limit; nothing is left then.
    Status spend(Of of, uint64_t amount = 1);
    /// Whether spend() would succeed.
    bool allows(Of of, uint64_t amount) const { return amount <= left_[index(of)]; }
    /// What spend() fails with.
    Status refusal(Of of) const;
    uint64_t limit(Of of) const;

  private:
    static size_t index(Of of) { return static_cast<size_t>(of); }

    uint64_t file_bytes_;
    double factor_;
    std::array<uint64_t, kKinds> left_;
};

}  // namespace hearth
