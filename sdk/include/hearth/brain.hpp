// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains as values: what tools and servers do with files of what was learned.  A game needs none of
// it: hearth.h saves, loads and forgets by itself.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct BrainTensor {
    std::string name;
    bool is_state = false;  ///< a state; else a param
    HostTensor value;       ///< of the type that it has in device memory
};

/// Tensors in ascending order of names.
struct Brain {
    uint64_t graph_hash = 0;
    uint64_t schema_hash = 0;
    uint64_t parent_hash = 0;
    uint64_t host_schema_hash = 0;
    std::vector<BrainTensor> tensors;
    std::vector<std::byte> host_data;

    const BrainTensor* find(std::string_view name) const;
    BrainTensor* find(std::string_view name);
};

/// What to do about NaN and infinities: a brain that has learned some never recovers.
enum class Nonfinite { kRefuse, kAllow };

/// What tensors read from a file of so many bytes may take in memory unless more is asked for: files
/// say in few bytes that tensors are zero.
constexpr uint64_t default_tensor_bytes(uint64_t file_bytes) {
    return (uint64_t{64} << 20) + 50 * file_bytes;
}

/// What a program starts with: the parent of all that is learned from it.
/// package_or_program  the bytes of either; of a package, of its first profile.
/// most_bytes: that all tensors may take together; 0: default_tensor_bytes.
/// Errors: kCorruptData, kUnsupported for another version, kOutOfRange.
Result<Brain> shipped_brain(std::span<const std::byte> package_or_program, uint64_t most_bytes = 0);

/// The parent hash of brains that learned from `shipped`.
uint64_t hash_of(const Brain& shipped);

/// Reads untrusted bytes.  parent: what a difference was made from; full brains need none.
/// most_bytes: that all tensors may take together; 0: default_tensor_bytes of these bytes, and what
/// the parent takes.
/// Errors: kCorruptData, kUnsupported for a newer format, kInvalidArgument if the parent is missing
/// or another one, or for NaN and infinities, kOutOfRange.
Result<Brain> load_brain(std::span<const std::byte> bytes, const Brain* parent = nullptr,
                         uint64_t most_bytes = 0, Nonfinite nonfinite = Nonfinite::kRefuse);

/// The bytes of a brain; with a parent, of what differs from it alone.  Deterministic.
/// Errors: kInvalidArgument for NaN and infinities.
Result<std::vector<std::byte>> save_brain(const Brain& brain, const Brain* parent = nullptr,
                                          Nonfinite nonfinite = Nonfinite::kRefuse);

/// The weighted mean of brains: floating-point tensors in double precision, all others (counters,
/// random state) and the host's data from the first.  Weights need not sum to 1.
/// Errors: kInvalidArgument for brains of different tensors, schemas or graphs, or bad weights.
Result<Brain> merge_brains(std::span<const Brain> brains, std::span<const double> weights);

/// How one tensor differs between two brains.
struct BrainDifference {
    enum class Kind { kEqual, kChanged, kMissing, kAdded, kRetyped };
    std::string name;
    Kind kind = Kind::kEqual;
    int64_t changed_count = 0;  ///< elements
    int64_t element_count = 0;
    double most = 0;              ///< largest |b - a|
    double root_mean_square = 0;  ///< of b - a
    double relative = 0;          ///< root mean square of b - a over that of a
};

/// For each name of either, in ascending order.  kMissing: only `a` has it; kAdded: only `b`.
std::vector<BrainDifference> diff_brains(const Brain& a, const Brain& b);

/// Puts the tensors whose names match `pattern` ('*' stands for any characters) back to what was
/// shipped; returns how many.  Errors: kNotFound if there are none; kInvalidArgument if one does not
/// fit.
Result<size_t> forget(Brain& brain, const Brain& shipped, std::string_view pattern = "*");

}  // namespace hearth
