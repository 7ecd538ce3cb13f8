// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains as values, for tools and servers that process brain files.  Games do not need this:
// hearth.h saves, loads and resets brains by itself.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A named parameter or state.
struct BrainTensor {
    std::string name = {};
    bool is_state = false;  ///< false: a parameter
    HostTensor value = {};  ///< in the type that it has in device memory
};

/// Tensors are sorted by name.
struct Brain {
    uint64_t graph_hash = 0;
    uint64_t schema_hash = 0;
    uint64_t base_hash = 0;
    uint64_t user_schema_hash = 0;
    std::vector<BrainTensor> tensors = {};
    std::vector<std::byte> user_data = {};

    /// Finds a tensor by name, or null.  Learners' tensors are also found by the names that they
    /// had in version 0.1 and, in brains of that version, by today's.
    const BrainTensor* find(std::string_view name) const;
    BrainTensor* find(std::string_view name);
};

/// Handling of NaN and infinities, which a network does not recover from once its weights hold
/// them.
enum class NonFinite { kReject, kAllow };

/// Default limit of the memory taken by tensors read from a file of `file_bytes`, in bytes.  A
/// small file can describe large tensors of zeros.
constexpr uint64_t default_tensor_bytes(uint64_t file_bytes) {
    return (uint64_t{64} << 20) + 50 * file_bytes;
}

/// Returns the initial values of a program: the base of all brains trained from it.
/// package_or_program  bytes of either; the first device target of a package is used
/// max_bytes           limit of all tensors together; 0: default_tensor_bytes
/// Errors: kCorruptData, kUnsupported for another version, kOutOfRange.
Result<Brain> initial_brain(std::span<const std::byte> package_or_program, uint64_t max_bytes = 0);

/// The base hash of brains trained from `initial`.
uint64_t hash_of(const Brain& initial);

/// Reads a brain from untrusted bytes.
/// base       of a delta; not needed for full brains
/// max_bytes  limit of all tensors together; 0: default_tensor_bytes of these bytes, plus what the
///            base takes
/// Errors: kCorruptData, kUnsupported for a newer format, kInvalidArgument if the base is missing
/// or the wrong one, or for NaN and infinities, kOutOfRange.
Result<Brain> load_brain(std::span<const std::byte> bytes, const Brain* base = nullptr,
                         uint64_t max_bytes = 0, NonFinite non_finite = NonFinite::kReject);

/// Encodes a brain; with a base, as a delta.  Deterministic.
/// Errors: kInvalidArgument for NaN and infinities.
Result<std::vector<std::byte>> save_brain(const Brain& brain, const Brain* base = nullptr,
                                          NonFinite non_finite = NonFinite::kReject);

/// Returns the weighted mean of brains: floating-point tensors are averaged in double precision;
/// all others (counters, random state) and user_data come from the first.  Weights
/// need not sum to 1.
/// Errors: kInvalidArgument for brains of different tensors, schemas or graphs, or invalid weights.
Result<Brain> average_brains(std::span<const Brain> brains, std::span<const double> weights);

/// Difference of one tensor between two brains.
struct TensorDiff {
    enum class Kind { kEqual, kChanged, kMissing, kAdded, kTypeChanged };
    std::string name = {};
    Kind kind = Kind::kEqual;
    int64_t changed_count = 0;  ///< number of differing elements
    int64_t element_count = 0;
    double max_abs_diff = 0;  ///< max |b - a|
    double rms_diff = 0;      ///< rms of b - a
    double relative_rms = 0;  ///< rms of b - a divided by rms of a
};

/// Compares all tensors of both brains, by name in ascending order.  kMissing: only in `a`; kAdded:
/// only in `b`.
std::vector<TensorDiff> diff_brains(const Brain& a, const Brain& b);

/// Resets the tensors whose names match `pattern` ('*' matches any characters) to those of
/// `initial`; returns the number of tensors.
/// Errors: kNotFound if none match; kInvalidArgument if one has another type or shape.
Result<size_t> reset_to_initial(Brain& brain, const Brain& initial, std::string_view pattern = "*");

}  // namespace hearth
