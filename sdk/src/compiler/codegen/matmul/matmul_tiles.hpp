// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which kernel a matrix product gets, and with which tile: what is measured, in one place.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Kernels of products (matmul_writers.hpp).
enum class MatmulFamily : uint8_t {
    kTiled,      ///< any operands, element by element; the only one for integers
    kVector,     ///< f32 operands that lie in memory as they are read, four elements at a time
    kMatrix,     ///< f16 operands on matrix cores, each subgroup with matrices of its own
    kWorkgroup,  ///< the same, with matrices of the whole workgroup
    kGemv,       ///< GEMV, a few rows: reads b once, as f32, f16 or packed integers
};

constexpr bool is_on_matrices(MatmulFamily family) {
    return family == MatmulFamily::kMatrix || family == MatmulFamily::kWorkgroup;
}

/// One variant of a kernel.
struct MatmulTile {
    MatmulFamily family = MatmulFamily::kTiled;
    int bm = 0, bn = 0, bk = 0;  ///< of a workgroup
    int tm = 0, tn = 0;          ///< of a thread; kMatrix: of a subgroup; kGemv: as bm and bn;
                                 ///< kWorkgroup: of the matrices of sums
    int stages = 1;              ///< kVector: slices in shared memory; kMatrix: of b for each of a
    int threads = 0;             ///< kGemv and kWorkgroup only
    bool stores_in_loop = false;
    /// kMatrix, kVector: subgroups or threads that share a part, each with its stretch of k.
    int split = 1;

    friend bool operator==(const MatmulTile&, const MatmulTile&) = default;
};

/// An operand that is f32 in memory and rounded to f16 while it is read.
inline constexpr std::string_view kCastForm = "f32>f16";

/// Layouts of panels of a product on a CPU.
struct ProductLayout {
    bool is_turned = false;  ///< panels are packed of the left operand instead of the right one
    double cycles = 0;       ///< estimated
};
/// What the choice depends on.  Extents are those at capacity.
struct MatmulProblem {
    int64_t m = 0, n = 0, k = 0, batch = 1;
    bool a_k_is_contiguous = true, b_k_is_contiguous = false;
    bool is_integer = false;     ///< of integers: only kTiled
    bool fits_grid = true;       ///< no more tiles than any grid may have, along y and z
    bool can_load_vec4 = false;  ///< what kVector wants
    bool can_use_matrices = false;
    /// kVector multiplies pairs of f16, which lie eight and eight along one axis of each operand.
    bool can_dot_halves = false;
    /// "f32", "f16" or kCastForm, as the operand lies in memory.  Empty: it is computed while it is
    /// read, or in parts, and there is no measuring it alone.
    std::string a_form, b_form;

    /// Whether key() says all.
    bool can_be_tuned() const { return !a_form.empty() && !b_form.empty(); }
    /// "matmul 64x64x1024 b8 a f32/k b f32/n fours": equal for equal choices.
    std::string key() const;
};

std::optional<MatmulProblem> parse_matmul_problem(const std::string& key);

/// What every device allows along y and z, and most allow no more (Vulkan 1.2, "Required Limits",
/// maxComputeWorkGroupCount).
inline constexpr uint64_t kMostGroupsDeep = 65535;

/// Invocations of a workgroup.
int threads_of(const MatmulTile& tile, const DeviceCaps& caps);

/// True if the sums of threads that share a tile take the place of its slices in shared memory.
bool sums_replace_slices(const MatmulTile& tile, const DeviceCaps& caps);

/// Between rows of slices in shared memory, in vectors of 16 bytes.
inline constexpr int kMatrixPad = 1;

/// Shared memory that a workgroup declares.
uint32_t shared_bytes_of(const MatmulTile& tile, const MatmulProblem& problem,
                         const DeviceCaps& caps);

/// Estimate of the 32-bit registers of an invocation, comparable with DeviceModel::registers.
uint32_t registers_of(const MatmulTile& tile, const MatmulProblem& problem, const DeviceCaps& caps);

/// Every variant that computes this product on this device, the shipped choice first.
std::vector<MatmulTile> matmul_candidates(const MatmulProblem& problem, const DeviceCaps& caps);

/// The shipped choice: from measurements on one NVIDIA H200 and on lavapipe (docs/design/0010).
MatmulTile choose_matmul_tile(const MatmulProblem& problem, const DeviceCaps& caps);

/// The tile with which kMatrix folds rows of its left operand before it multiplies: whole rows are
/// one slice.  Nothing if there is none, or so many tiles that folding once is faster.
std::optional<MatmulTile> choose_folding_tile(const MatmulProblem& problem, const DeviceCaps& caps);

/// An estimate of time, comparable among the tiles of one problem.
double matmul_cost(const MatmulTile& tile, const MatmulProblem& problem, const DeviceCaps& caps);

/// "matrix 128x128x32 of 64x64, 2 stages, 0 threads, 4 along k"; and the other way.
std::string to_string(const MatmulTile& tile);
std::optional<MatmulTile> parse_matmul_tile(std::string_view text);

}  // namespace hearth
