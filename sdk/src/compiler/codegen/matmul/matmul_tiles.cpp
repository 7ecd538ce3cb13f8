// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_tiles.hpp"

#include "compiler/codegen/lower_options.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>

namespace hearth {

namespace {

constexpr MatmulTile tiled(int bm, int bn, int bk, int tm, int tn, bool stores_in_loop = false) {
    return {MatmulFamily::kTiled, bm, bn, bk, tm, tn, 1, 0, stores_in_loop};
}
constexpr MatmulTile vector(int bm, int bn, int bk, int tm, int tn, int split = 1, int stages = 1) {
    return {MatmulFamily::kVector, bm, bn, bk, tm, tn, stages, 0, false, split};
}
constexpr MatmulTile matrix(int bm, int bn, int bk, int tm, int tn, int split = 1, int stages = 1) {
    return {MatmulFamily::kMatrix, bm, bn, bk, tm, tn, stages, 0, false, split};
}
constexpr MatmulTile workgroup(int bm, int bn, int bk, int tn, int threads) {
    return {MatmulFamily::kWorkgroup, bm, bn, bk, bm, tn, 1, threads, false};
}
constexpr MatmulTile row(int bm, int bn, int threads) {
    return {MatmulFamily::kGemv, bm, bn, 8, bm, bn, 1, threads, false};
}

// In each table the first is for products that fill a GPU, the last for a handful of rows.  NVIDIA's
// driver gives the workgroups of a multiprocessor 50 KB of shared memory together: two share it if
// they take 24 KB each.
constexpr MatmulTile kTiled[] = {
    tiled(128, 128, 8, 8, 8), tiled(64, 64, 16, 4, 4), tiled(32, 32, 16, 2, 2),
    tiled(64, 16, 16, 2, 2),  tiled(16, 16, 16, 1, 1),
};
// The same for devices that allow no workgroups of 256.
constexpr MatmulTile kSmallTiled[] = {
    tiled(64, 64, 16, 8, 4),
    tiled(32, 32, 16, 4, 2),
    tiled(16, 16, 16, 2, 1),
};
// Rows and columns of a thread are multiples of four.
constexpr MatmulTile kVector[] = {
    vector(256, 128, 8, 16, 8, 1, 2), vector(128, 128, 8, 8, 8, 1, 2), vector(64, 64, 16, 8, 4),
    vector(64, 64, 16, 4, 4),  // as the last one, for few registers
    vector(32, 32, 16, 4, 4),
};
// For drivers that run on the CPU: a load is a loop over lanes there, so that what counts is
// multiplications for each load, and a few workgroups keep all cores busy.  8x8 sums a thread took
// half the time of 4x4 on llvmpipe.
constexpr MatmulTile kCpu[] = {
    tiled(64, 64, 16, 8, 8, true), tiled(32, 64, 16, 8, 8, true), tiled(16, 64, 16, 8, 8, true),
    tiled(64, 16, 16, 8, 4, true), tiled(32, 16, 16, 8, 4, true), tiled(16, 16, 16, 4, 4, true),
};
// Of pairs of f16: as many steps along k as those above, of two elements each.
constexpr MatmulTile kPairs[] = {
    vector(128, 128, 16, 8, 8),
    vector(64, 64, 32, 8, 4),
    vector(64, 64, 32, 4, 4),
    vector(32, 32, 32, 4, 4),
};
constexpr MatmulTile kSplitPairs[] = {
    vector(32, 32, 64, 4, 4, 4),
    vector(16, 16, 128, 4, 4, 16),
};
constexpr MatmulTile kMatrix[] = {
    matrix(128, 256, 32, 64, 64, 1, 2), matrix(128, 128, 32, 64, 64), matrix(64, 64, 64, 32, 32),
    matrix(32, 32, 128, 16, 16),        matrix(32, 32, 64, 16, 16),
};
// For devices with few registers.
constexpr MatmulTile kSmallMatrix[] = {matrix(64, 64, 32, 16, 16), matrix(32, 32, 32, 16, 16)};
constexpr MatmulTile kSmallSplitMatrix[] = {
    matrix(32, 32, 64, 16, 16, 2),
    matrix(16, 16, 128, 16, 16, 8),
    matrix(16, 16, 64, 16, 16, 4),
};
// For tuning: neighbours of those above, which other devices may like better.
constexpr MatmulTile kMoreMatrix[] = {
    matrix(128, 128, 32, 64, 64, 1, 2), matrix(32, 64, 32, 16, 32, 1, 2),
    matrix(128, 128, 64, 32, 32),       matrix(128, 128, 64, 64, 32),
    matrix(128, 256, 32, 64, 64),       matrix(256, 128, 32, 64, 64),
    matrix(128, 256, 32, 64, 32),       matrix(64, 128, 64, 32, 64),
    matrix(64, 64, 64, 64, 32),         matrix(64, 64, 64, 32, 16),
    matrix(64, 64, 32, 32, 32),         matrix(32, 64, 64, 16, 32),
    matrix(64, 32, 64, 32, 16),         matrix(32, 32, 32, 16, 16),
    matrix(128, 64, 64, 64, 32),        matrix(128, 64, 32, 64, 32),
};
// For products with few tiles: subgroups that share a tile make up for them.  Long slices first.
constexpr MatmulTile kSplitMatrix[] = {
    matrix(32, 32, 256, 16, 16, 2), matrix(32, 32, 128, 16, 16, 2), matrix(32, 32, 64, 16, 16, 2),
    matrix(16, 16, 256, 16, 16, 8), matrix(16, 16, 128, 16, 16, 4), matrix(16, 16, 64, 16, 16, 2),
};
// For tuning.
constexpr MatmulTile kMoreSplitMatrix[] = {
    matrix(16, 16, 256, 16, 16, 4),  matrix(16, 16, 256, 16, 16, 16),
    matrix(16, 16, 512, 16, 16, 16), matrix(16, 32, 256, 16, 32, 8),
    matrix(32, 16, 256, 16, 16, 4),  matrix(32, 32, 128, 32, 32, 4),
};
// For tuning, too.
constexpr MatmulTile kWorkgroup[] = {
    workgroup(128, 128, 32, 32, 128), workgroup(128, 256, 32, 32, 256),
    workgroup(256, 128, 32, 32, 256), workgroup(128, 128, 32, 64, 256),
    workgroup(128, 64, 32, 32, 128),  workgroup(64, 64, 64, 32, 128),
    workgroup(64, 32, 64, 32, 64),
};
constexpr MatmulTile kSplitVector[] = {
    vector(32, 32, 32, 8, 4, 8),
    vector(32, 32, 64, 4, 4, 4),
    vector(32, 32, 32, 4, 4, 4),
    vector(16, 16, 64, 4, 4, 16),
};
constexpr MatmulTile kMoreSplitVector[] = {
    vector(16, 16, 64, 4, 4, 8), vector(16, 16, 128, 4, 4, 16), vector(16, 32, 64, 4, 4, 8),
    vector(32, 32, 32, 8, 8, 8), vector(32, 64, 32, 8, 4, 4),
};
constexpr MatmulTile kMoreVector[] = {
    vector(128, 128, 8, 16, 8, 1, 2), vector(128, 256, 8, 8, 16, 1, 2), vector(128, 128, 8, 8, 8),
    vector(128, 64, 8, 8, 8),         vector(128, 64, 16, 8, 4),        vector(64, 128, 8, 8, 8),
    vector(64, 64, 16, 4, 4),         vector(64, 64, 8, 8, 8),          vector(32, 128, 16, 4, 8),
    vector(32, 64, 32, 4, 4),         vector(32, 64, 16, 4, 8),         vector(32, 128, 32, 4, 4),
};
// Fewest rows first.  b along k: each thread has a sum for each result.
constexpr MatmulTile kRowsAlongK[] = {
    row(1, 4, 128), row(2, 4, 128), row(4, 4, 128), row(8, 8, 32), row(1, 8, 128),
    row(1, 2, 128), row(4, 2, 128), row(8, 4, 128), row(8, 4, 32), row(4, 8, 32),
};
constexpr MatmulTile kRowsAlongN[] = {
    row(1, 32, 256), row(2, 32, 256), row(4, 32, 128), row(8, 32, 64),
    row(1, 64, 256), row(1, 16, 128), row(4, 32, 64),  row(8, 16, 64),
};
constexpr size_t kRowChoices = 4;  // of each; the others are for tuning
constexpr int64_t kMostRows = 16;  // for which a row kernel is tried

std::span<const MatmulTile> row_table(const MatmulProblem& problem) {
    return problem.b_k_is_contiguous ? std::span<const MatmulTile>(kRowsAlongK) : kRowsAlongN;
}

bool has_few_fragments(const DeviceCaps& caps) {
    return device_model(caps).fragment_registers != kUnlimited;
}

std::span<const MatmulTile> table_for(const MatmulProblem& problem, const DeviceCaps& caps) {
    if (is_software(caps)) return kCpu;  // which may have matrices, but no cores for them
    if (problem.can_use_matrices && has_few_fragments(caps)) return kSmallMatrix;
    if (problem.can_use_matrices) return kMatrix;
    if (problem.can_dot_halves) return kPairs;
    if (problem.can_load_vec4) return kVector;
    return max_workgroup_size(caps) < 256 ? std::span<const MatmulTile>(kSmallTiled) : kTiled;
}

bool is_in_pairs(const MatmulTile& t, const MatmulProblem& p) {
    return t.family == MatmulFamily::kVector && p.can_dot_halves;
}

int64_t groups_of(const MatmulTile& t, const MatmulProblem& p) {
    return ((p.m + t.bm - 1) / t.bm) * ((p.n + t.bn - 1) / t.bn) * p.batch;
}

bool fits(const MatmulTile& t, const MatmulProblem& problem, const DeviceCaps& caps) {
    const auto divides = [](int whole, uint32_t part) {
        return whole % static_cast<int>(part) == 0;
    };
    if (t.family == MatmulFamily::kMatrix &&
        !(divides(t.tm, caps.cooperative_matrix_shape.m) &&
          divides(t.tn, caps.cooperative_matrix_shape.n) &&
          divides(t.bk, static_cast<uint32_t>(t.split) * caps.cooperative_matrix_shape.k)))
        return false;
    const int threads = threads_of(t, caps);
    // Each invocation fetches equally much of each half of a slice.
    if (t.family == MatmulFamily::kMatrix && t.stages == 2 &&
        !(problem.a_k_is_contiguous && divides(t.bm * t.bk / 8, static_cast<uint32_t>(threads))))
        return false;
    if (t.family == MatmulFamily::kWorkgroup &&
        std::none_of(
            caps.workgroup_scope_granularities.begin(), caps.workgroup_scope_granularities.end(),
            [&](const WorkgroupMatrixGranularity& kind) {
                return static_cast<int>(kind.invocations) == threads &&
                       divides(t.tm, kind.granularity.m) && divides(t.tn, kind.granularity.n) &&
                       divides(t.bk, kind.granularity.k);
            }))
        return false;
    // Each thread loads equally much of a slice.  Of pairs half of them load each, one vector of eight along k, or two
    // across.
    const auto loaded = [&](bool k_is_contiguous) {
        return static_cast<uint32_t>(problem.can_dot_halves && !k_is_contiguous ? 8 * threads
                                                                                : 4 * threads);
    };
    if (t.family == MatmulFamily::kVector &&
        !(divides(t.bm * t.bk, loaded(problem.a_k_is_contiguous)) &&
          divides(t.bn * t.bk, loaded(problem.b_k_is_contiguous)) &&
          (!problem.can_dot_halves || divides(t.bk, 2u * static_cast<uint32_t>(t.split)))))
        return false;
    const uint32_t drivers_bytes =
        t.family == MatmulFamily::kWorkgroup ? caps.workgroup_scope_reserved_shared_memory : 0;
    return shared_bytes_of(t, problem, caps) + drivers_bytes <=
               caps.max_compute_shared_memory_size &&
           threads <= static_cast<int>(max_workgroup_size(caps));
}

/// Whether it also keeps to the registers and the shared memory of the device model.
bool suits(const MatmulTile& t, const MatmulProblem& problem, const DeviceCaps& caps) {
    const DeviceModel model = device_model(caps);
    const uint32_t most = is_on_matrices(t.family) ? model.fragment_registers : model.registers;
    return fits(t, problem, caps) && registers_of(t, problem, caps) <= most &&
           shared_bytes_of(t, problem, caps) <= model.shared_budget(threads_of(t, caps));
}

/// The least row kernel that holds all rows, or the largest.
std::optional<MatmulTile> choose_row_tile(const MatmulProblem& problem, const DeviceCaps& caps) {
    if (is_software(caps) || problem.is_integer || !problem.fits_grid || problem.m > kMostRows ||
        problem.n < 8 || problem.k < 64)
        return std::nullopt;
    std::optional<MatmulTile> chosen;
    for (const MatmulTile& t : row_table(problem).first(kRowChoices)) {
        if (!suits(t, problem, caps)) continue;
        chosen = t;
        if (t.bm >= problem.m) break;
    }
    // Other kernels read b less often than this one for a few rows at a time.
    constexpr int64_t kMostTurns = 4;
    if (chosen && chosen->bm * kMostTurns < problem.m) return std::nullopt;
    return chosen;
}

/// Whether tiles of 32x32, one for each workgroup, leave much of the device idle.
bool has_few_tiles(const MatmulProblem& problem, const DeviceCaps& caps) {
    return groups_of(kSplitMatrix[0], problem) < device_model(caps).in_proportion(256);
}

/// Tiles of 32 unless they are too few even so.
int split_edge(const MatmulProblem& problem, const DeviceCaps& caps) {
    return groups_of(kSplitMatrix[0], problem) >= device_model(caps).in_proportion(64) ? 32 : 16;
}

std::span<const MatmulTile> split_table(const DeviceCaps& caps) {
    if (has_few_fragments(caps)) return kSmallSplitMatrix;
    return kSplitMatrix;
}

std::span<const MatmulTile> split_vector_table(const MatmulProblem& problem) {
    if (problem.can_dot_halves) return kSplitPairs;
    return kSplitVector;
}

/// Of the least tiles that are still few, the one with the longest slices that are no longer than
/// the sums.
std::optional<MatmulTile> choose_split_tile(const MatmulProblem& problem, const DeviceCaps& caps) {
    constexpr int64_t kShortSlice = 64, kShortProduct = 128;
    if (is_software(caps) || !has_few_tiles(problem, caps)) return std::nullopt;
    if (!problem.can_use_matrices) {
        if (!problem.can_load_vec4 || problem.k < kShortProduct) return std::nullopt;
        for (const MatmulTile& t : split_vector_table(problem))
            if (t.bm == split_edge(problem, caps) && suits(t, problem, caps)) return t;
        return std::nullopt;
    }
    for (const MatmulTile& t : split_table(caps))
        if (t.bm == split_edge(problem, caps) && (t.bk < 2 * problem.k || t.bk == kShortSlice) &&
            suits(t, problem, caps))
            return t;
    return std::nullopt;
}

constexpr const char* kFamilyNames[] = {"tiled", "vector", "matrix", "workgroup", "row"};

}  // namespace

std::string MatmulProblem::key() const {
    char text[160];
    std::snprintf(text, sizeof text, "matmul %lldx%lldx%lld b%lld a %s/%c b %s/%c%s%s%s",
                  static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k),
                  static_cast<long long>(batch), a_form.c_str(), a_k_is_contiguous ? 'k' : 'm',
                  b_form.c_str(), b_k_is_contiguous ? 'k' : 'n', can_load_vec4 ? " fours" : "",
                  can_use_matrices ? " matrices" : "", can_dot_halves ? " pairs" : "");
    return text;
}

std::optional<MatmulProblem> parse_matmul_problem(const std::string& key) {
    long long m = 0, n = 0, k = 0, batch = 0;
    char a_form[16], b_form[16], a_axis = 0, b_axis = 0;
    if (std::sscanf(key.c_str(), "matmul %lldx%lldx%lld b%lld a %15[^/]/%c b %15[^/]/%c", &m, &n,
                    &k, &batch, a_form, &a_axis, b_form, &b_axis) != 8)
        return std::nullopt;
    MatmulProblem p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.batch = batch;
    p.a_form = a_form;
    p.b_form = b_form;
    p.a_k_is_contiguous = a_axis == 'k';
    p.b_k_is_contiguous = b_axis == 'k';
    p.can_load_vec4 = key.find(" fours") != std::string::npos;
    p.can_use_matrices = key.find(" matrices") != std::string::npos;
    p.can_dot_halves = key.find(" pairs") != std::string::npos;
    if (m < 1 || n < 1 || k < 1 || batch < 1 || p.key() != key) return std::nullopt;
    return p;
}

int threads_of(const MatmulTile& t, const DeviceCaps& caps) {
    if (t.family == MatmulFamily::kGemv || t.family == MatmulFamily::kWorkgroup) return t.threads;
    const int parts = (t.bm / t.tm) * (t.bn / t.tn);
    return parts * t.split *
           (t.family == MatmulFamily::kMatrix ? static_cast<int>(caps.subgroup_size) : 1);
}

bool sums_replace_slices(const MatmulTile& t, const DeviceCaps& caps) {
    return t.family == MatmulFamily::kVector && t.split > 1 &&
           device_model(caps).shared_bytes_per_invocation != kUnlimited;
}

uint32_t shared_bytes_of(const MatmulTile& t, const MatmulProblem& problem,
                         const DeviceCaps& caps) {
    if (t.family == MatmulFamily::kGemv) {
        // A chunk along n is at most eight columns.
        const int lanes_k = t.threads / (problem.b_k_is_contiguous ? 1 : t.bn / 8);
        return static_cast<uint32_t>(lanes_k * t.bm * t.bn * 4);
    }
    if (!is_on_matrices(t.family)) {
        const int steps = is_in_pairs(t, problem) ? t.bk / 2 : t.bk;
        const int slices = t.stages * steps * (t.bm + t.bn + 8) * 4;
        const int sums = t.split > 1 ? t.split * t.bm * t.bn * 4 : 0;
        return static_cast<uint32_t>(sums_replace_slices(t, caps) ? std::max(slices, sums)
                                                                  : slices + sums) +
               (t.stores_in_loop ? static_cast<uint32_t>(t.bm * t.bn * 4) : 0);
    }
    const auto slice = [&](bool k_is_contiguous, int extent, int depth) {
        return k_is_contiguous ? extent * (depth / 8 + kMatrixPad)
                               : depth * (extent / 8 + kMatrixPad);
    };
    const int slices = slice(problem.a_k_is_contiguous, t.bm, t.stages * t.bk) +
                       slice(problem.b_k_is_contiguous, t.bn, t.bk);
    const bool is_workgroup = t.family == MatmulFamily::kWorkgroup;
    const int rows_out = is_workgroup ? t.tm
                                      : (t.bm / t.tm) * (t.bn / t.tn) * t.split *
                                            static_cast<int>(caps.cooperative_matrix_shape.m);
    return static_cast<uint32_t>(std::max(slices, rows_out * (t.tn / 4 + 1)) * 16);
}

uint32_t registers_of(const MatmulTile& t, const MatmulProblem& problem, const DeviceCaps& caps) {
    constexpr int kAddresses = 24;
    const int threads = threads_of(t, caps);
    const bool fetches_twice = t.family == MatmulFamily::kMatrix && t.stages == 2;
    const int fetched = t.bk * ((fetches_twice ? 2 : 1) * t.bm + t.bn) / threads;
    int registers = 0;
    if (t.family == MatmulFamily::kGemv) {
        // Sums, and eight elements along k of each row of a.
        registers = t.bm * (problem.b_k_is_contiguous ? t.bn : 8) + 8 * t.bm;
    } else if (is_on_matrices(t.family)) {
        // Sums; both operands' fragments of a slice, which compilers load at once, and the next
        // slices, as pairs of f16.
        const int lanes =
            t.family == MatmulFamily::kMatrix ? static_cast<int>(caps.subgroup_size) : t.threads;
        registers = (t.tm * t.tn + (t.tm + t.tn) * t.bk / t.split / 2) / lanes + fetched / 2;
    } else {
        // Compilers load operands some steps ahead of those that are multiplied.
        registers =
            t.tm * t.tn + 4 * (t.tm + t.tn) + (is_in_pairs(t, problem) ? fetched / 2 : fetched);
    }
    return static_cast<uint32_t>(registers + kAddresses);
}

MatmulTile choose_matmul_tile(const MatmulProblem& problem, const DeviceCaps& caps) {
    if (const std::optional<MatmulTile> row = choose_row_tile(problem, caps)) return *row;
    if (const std::optional<MatmulTile> split = choose_split_tile(problem, caps)) return *split;
    const std::span<const MatmulTile> tiles = table_for(problem, caps);
    // The largest that is not mostly empty and still makes work for the whole device.
    const int64_t enough_groups = device_model(caps).enough_groups();
    const int64_t small_rows = is_software(caps) ? 16 : 32;  // tiles of so many may be mostly empty
    for (const MatmulTile& t : tiles.first(tiles.size() - 1)) {
        if (!suits(t, problem, caps)) continue;
        if (2 * problem.n <= t.bn || (2 * problem.m <= t.bm && t.bm > small_rows)) continue;
        if (groups_of(t, problem) < enough_groups && t.bm > small_rows) continue;
        return t;
    }
    for (const auto is_good : {suits, fits}) {
        const auto last = std::find_if(tiles.rbegin(), tiles.rend(), [&](const MatmulTile& t) {
            return is_good(t, problem, caps);
        });
        if (last != tiles.rend()) return *last;
    }
    if (is_software(caps) || !(problem.can_use_matrices || problem.can_load_vec4))
        return tiles.back();
    // Matrices larger than the tiles of subgroups, or too little shared memory: the next family.
    MatmulProblem simpler = problem;
    simpler.can_load_vec4 = problem.can_use_matrices && problem.can_load_vec4;
    simpler.can_use_matrices = false;
    return choose_matmul_tile(simpler, caps);
}

std::optional<MatmulTile> choose_folding_tile(const MatmulProblem& problem,
                                              const DeviceCaps& caps) {
    if (!problem.can_use_matrices || !problem.a_k_is_contiguous || !has_few_tiles(problem, caps) ||
        problem.k % 8 != 0)
        return std::nullopt;
    // However b lies; and one number for each invocation.
    MatmulProblem other = problem;
    other.b_k_is_contiguous = !problem.b_k_is_contiguous;
    std::optional<MatmulTile> shortest;
    for (const MatmulTile& t : kSplitMatrix) {
        const int threads = threads_of(t, caps);
        const uint32_t bytes =
            std::max(shared_bytes_of(t, problem, caps), shared_bytes_of(t, other, caps)) +
            4 * static_cast<uint32_t>(threads);
        if (t.bm == split_edge(problem, caps) && t.bk >= problem.k && suits(t, problem, caps) &&
            bytes <= caps.max_compute_shared_memory_size && threads % t.bm == 0)
            shortest = t;
    }
    return shortest;
}

double matmul_cost(const MatmulTile& t, const MatmulProblem& p, const DeviceCaps& caps) {
    // Whole waves of workgroups, about one for each unit of a GPU; each takes its multiply-adds, and
    // its loads, of which one costs as much as some multiply-adds.
    constexpr double kLoad = 16;
    const auto slots = static_cast<double>(device_model(caps).in_proportion(kMeasuredUnits));
    const auto groups = static_cast<double>(groups_of(t, p));
    const double area = static_cast<double>(t.bm) * t.bn;
    return std::ceil(groups / slots) * (area + kLoad * (t.bm + t.bn)) * static_cast<double>(p.k) /
           t.split;
}

std::vector<MatmulTile> matmul_candidates(const MatmulProblem& problem, const DeviceCaps& caps) {
    std::vector<MatmulTile> candidates{choose_matmul_tile(problem, caps)};
    const auto add = [&](std::span<const MatmulTile> tiles) {
        for (const MatmulTile& t : tiles)
            if (t != candidates[0] && fits(t, problem, caps)) candidates.push_back(t);
    };
    add(table_for(problem, caps));
    if (problem.can_load_vec4 && !problem.can_dot_halves && !is_software(caps)) add(kMoreVector);
    if (problem.can_load_vec4 && has_few_tiles(problem, caps)) {
        add(split_vector_table(problem));
        if (!problem.can_dot_halves) add(kMoreSplitVector);
    }
    if (problem.can_use_matrices) {
        if (is_software(caps)) add(kMatrix);
        add(kMoreMatrix);
        if (has_few_tiles(problem, caps)) {
            add(kSplitMatrix);
            add(kMoreSplitMatrix);
        }
        add(kWorkgroup);
    }
    if (problem.m <= 2 * kMostRows && problem.fits_grid) add(row_table(problem));
    return candidates;
}

std::string to_string(const MatmulTile& t) {
    char text[96];
    std::snprintf(text, sizeof text, "%s %dx%dx%d of %dx%d, %d stages, %d threads%s",
                  kFamilyNames[static_cast<int>(t.family)], t.bm, t.bn, t.bk, t.tm, t.tn, t.stages,
                  t.threads, t.stores_in_loop ? ", stores in loop" : "");
    return t.split == 1 ? text : text + (", " + std::to_string(t.split) + " along k");
}

std::optional<MatmulTile> parse_matmul_tile(std::string_view text) {
    for (size_t family = 0; family < std::size(kFamilyNames); ++family) {
        MatmulTile t{};
        t.family = static_cast<MatmulFamily>(family);
        const std::string line(text);
        const std::string format =
            std::string(kFamilyNames[family]) + " %dx%dx%d of %dx%d, %d stages, %d threads";
        if (std::sscanf(line.c_str(), format.c_str(), &t.bm, &t.bn, &t.bk, &t.tm, &t.tn, &t.stages,
                        &t.threads) != 7)
            continue;
        t.stores_in_loop = line.find(", stores in loop") != std::string::npos;
        if (const size_t at = line.rfind(", "); line.ends_with(" along k"))
            (void)std::sscanf(line.c_str() + at, ", %d along k", &t.split);
        if (to_string(t) == line) return t;
    }
    return std::nullopt;
}

}  // namespace hearth
