// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched matrix product on matrix cores: out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n], with
// f16 operands and f32 sums (shaders/common/coopmat.glsl).
//
// Each workgroup computes a BM x BN tile in slices of BK; each subgroup a WM x WN part of it, in
// matrices of sums that stay in registers.  Where there are few tiles, SPLIT subgroups share each
// part: each multiplies its stretch of every slice, and they add up on the way out, in the order of
// the stretches.  Slices pass through shared memory as they lie in memory,
// eight elements at a time, each row followed by PAD vectors so that rows begin in different banks;
// the next slice is on its way while this one is multiplied.  With two STAGES it is written beside
// this one, which saves a barrier and takes twice the memory.  At the end the sums pass through the
// same memory to get known places.  The order of sums is fixed: deterministic.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM)) * 2 + M*N * (2 or 4) per batch.
//
// Code generation completes this text with BM BN BK WM WN STAGES SPLIT SUBGROUP, and what
// matmul_vector.comp has, but load_a8(b, m, k, m_count, k_count) and load_b8(b, k, n, k_count,
// n_count) give eight elements: along k where X_K_IS_CONTIGUOUS, else along m or n, with zeros
// beyond the counts.  They are of type FetchA and FetchB: uvec4, the words of f16, or Eight, floats
// that are rounded only after the present slice has been multiplied, so that nothing waits for them.
//
// Where FETCHES_EARLY is defined an invocation stores four elements at most, and fetch_early(batch, m, n)
// reads what store4 will want beside the sums.
//
// Where FOLDS_ROWS is defined there is no load_a8: rows of a, whole slices, are made of those of a
// tensor that is read once.  load_raw(batch, m, k) gives eight elements of it, of type Raw; ROW_LANES
// invocations hold a row; FOLD_ROWS is statements that turn `row` into the operand's elements.
//
// Tiles tried: docs/design/0010-matrix-cores.md.

#ifndef PAD
#define PAD 1
#endif
#ifndef BAND
#define BAND 8
#endif

const int kSubgroupsM = BM / WM;
const int kSubgroupsN = BN / WN;
const int kParts = kSubgroupsM * kSubgroupsN;
const int kThreads = kParts * SPLIT * SUBGROUP;
const int kStretch = BK / SPLIT;
const int kMatricesM = WM / hearth_matrix_m;
const int kMatricesN = WN / hearth_matrix_n;

const int kRowA = (A_K_IS_CONTIGUOUS ? BK : BM) / 8, kRowsA = A_K_IS_CONTIGUOUS ? BM : BK;
const int kRowB = (B_K_IS_CONTIGUOUS ? BK : BN) / 8, kRowsB = B_K_IS_CONTIGUOUS ? BN : BK;
const int kStrideA = kRowA + PAD, kStrideB = kRowB + PAD;
const int kLoadsA = (kRowA * kRowsA + kThreads - 1) / kThreads;
const int kLoadsB = (kRowB * kRowsB + kThreads - 1) / kThreads;
const bool kFillsA = kRowA * kRowsA % kThreads == 0, kFillsB = kRowB * kRowsB % kThreads == 0;
const int kSizeA = kRowsA * kStrideA, kStage = kSizeA + kRowsB * kStrideB;
// One row of matrices of sums for each subgroup, on the way out.
const int kStrideOut = WN / 4 + 1;
const int kSizeOut = kParts * SPLIT * hearth_matrix_m * kStrideOut;

shared uvec4 tile[STAGES * kStage > kSizeOut ? STAGES * kStage : kSizeOut];

#ifdef FOLDS_ROWS
shared float of_lane[kThreads];
const int kRowChunks = (BK / 8 + ROW_LANES - 1) / ROW_LANES;  // of an invocation

// Calls `statement` with row[u][j], element k of row m, for each of the invocation's elements.
#define FOR_EACH_OF_ROW(statement)                                                \
    [[unroll]] for (int u = 0; u < 2 * kRowChunks; ++u) {                         \
        const int k_of_four = (u / 2 * ROW_LANES + lane) * 8 + u % 2 * 4;         \
        if (k_of_four < k_count)                                                  \
            [[unroll]] for (int j = 0; j < 4; ++j) {                              \
                const int k = k_of_four + j;                                      \
                statement;                                                        \
            }                                                                     \
    }

void make_rows(int batch, int first_m, int m_count, int k_count) {
    const int thread = int(gl_LocalInvocationID.x), lane = thread % ROW_LANES;
    const int first = thread - lane;
    const int m = min(first_m + thread / ROW_LANES, m_count - 1);
    vec4 row[2 * kRowChunks];
    [[unroll]] for (int u = 0; u < kRowChunks; ++u) {
        const int k = (u * ROW_LANES + lane) * 8;
        const Raw eight = k < k_count ? load_raw(batch, m, k) : NO_RAW;
        row[2 * u] = four_of(eight, 0);
        row[2 * u + 1] = four_of(eight, 1);
    }
    FOLD_ROWS
    [[unroll]] for (int u = 0; u < kRowChunks; ++u) {
        const int chunk = u * ROW_LANES + lane;
        if (chunk < BK / 8)
            tile[thread / ROW_LANES * kStrideA + chunk] =
                hearth_words(Eight(row[2 * u], row[2 * u + 1]));
    }
}
#endif

void main() {
    const int thread = int(gl_LocalInvocationID.x);
    const int lane = int(gl_SubgroupInvocationID), subgroup = int(gl_SubgroupID);
    // Workgroups in bands of BAND rows of tiles: those that run together share slices in the cache.
    const int tiles_m = int(gl_NumWorkGroups.y), tiles_n = int(gl_NumWorkGroups.x);
    const int linear = int(gl_WorkGroupID.y) * tiles_n + int(gl_WorkGroupID.x);
    const int first_tile = linear / (BAND * tiles_n) * BAND;
    const int band = min(BAND, tiles_m - first_tile), in_band = linear - first_tile * tiles_n;
    const int first_m = (first_tile + in_band % band) * BM;
    const int first_n = in_band / band * BN;
    const int batch = int(gl_WorkGroupID.z);
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (first_m >= m_count || first_n >= n_count) return;
    const int part = subgroup % kParts, stretch = subgroup / kParts;
    const int part_m = part / kSubgroupsN * WM, part_n = part % kSubgroupsN * WN;
#ifdef FETCHES_EARLY
    const int early = lane + stretch * SUBGROUP;
    const int early_m = first_m + part_m + early / (WN / 4);
    const int early_n = first_n + part_n + early % (WN / 4) * 4;
    if (early < hearth_matrix_m * (WN / 4) && (M_IS_WHOLE || early_m < m_count) &&
        (N_IS_WHOLE || early_n < n_count))
        fetch_early(batch, early_m, early_n);
#endif

    hearth_matrix_sum sum[kMatricesM][kMatricesN];
    [[unroll]] for (int i = 0; i < kMatricesM; ++i)
        [[unroll]] for (int j = 0; j < kMatricesN; ++j) sum[i][j] = hearth_matrix_sum(0.0);

#ifndef FOLDS_ROWS
    FetchA next_a[kLoadsA];
#endif
    FetchB next_b[kLoadsB];
    int stage = 0;
    for (int k0 = k_first - BK; k0 < k_count; k0 += BK) {
        // The slice after this one, into registers.
        const int k1 = k0 + BK;
        const bool has_next = k1 < k_count;
#ifndef FOLDS_ROWS
        [[unroll]] for (int i = 0; i < kLoadsA; ++i) {
            const int e = thread + i * kThreads;
            const int k = k1 + (A_K_IS_CONTIGUOUS ? e % kRowA * 8 : e / kRowA);
            const int m = first_m + (A_K_IS_CONTIGUOUS ? e / kRowA : e % kRowA * 8);
            const bool inside = (M_IS_WHOLE || m < m_count) && (K_IS_WHOLE || k < k_count) &&
                                (kFillsA || e < kRowA * kRowsA);
            next_a[i] =
                inside && has_next ? load_a8(batch, m, k, m_count, k_count) : NO_FETCH_A;
        }
#endif
        [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
            const int e = thread + i * kThreads;
            const int k = k1 + (B_K_IS_CONTIGUOUS ? e % kRowB * 8 : e / kRowB);
            const int n = first_n + (B_K_IS_CONTIGUOUS ? e / kRowB : e % kRowB * 8);
            const bool inside = (N_IS_WHOLE || n < n_count) && (K_IS_WHOLE || k < k_count) &&
                                (kFillsB || e < kRowB * kRowsB);
            next_b[i] =
                inside && has_next ? load_b8(batch, k, n, k_count, n_count) : NO_FETCH_B;
        }
        // This one, from shared memory; there is none yet the first time.
        if (k0 >= k_first) {
            const int from_a = stage * kStage, from_b = from_a + kSizeA;
            [[unroll]] for (int step = 0; step < kStretch; step += hearth_matrix_k) {
                const int k = stretch * kStretch + step;
                hearth_matrix_a a[kMatricesM];
                [[unroll]] for (int i = 0; i < kMatricesM; ++i) {
                    const int m = part_m + i * hearth_matrix_m;
                    hearth_matrix_load(
                        a[i], tile,
                        from_a + (A_K_IS_CONTIGUOUS ? m * kStrideA + k / 8 : k * kStrideA + m / 8),
                        kStrideA, !A_K_IS_CONTIGUOUS);
                }
                [[unroll]] for (int j = 0; j < kMatricesN; ++j) {
                    const int n = part_n + j * hearth_matrix_n;
                    hearth_matrix_b b;
                    hearth_matrix_load(
                        b, tile,
                        from_b + (B_K_IS_CONTIGUOUS ? n * kStrideB + k / 8 : k * kStrideB + n / 8),
                        kStrideB, B_K_IS_CONTIGUOUS);
                    [[unroll]] for (int i = 0; i < kMatricesM; ++i)
                        sum[i][j] = hearth_multiply_add(a[i], b, sum[i][j]);
                }
            }
            if (STAGES == 1) barrier();
        }
        if (SPLIT > 1 && !has_next) break;
        if (STAGES == 2) stage = 1 - stage;
        const int to_a = stage * kStage, to_b = to_a + kSizeA;
#ifdef FOLDS_ROWS
        make_rows(batch, first_m, m_count, k_count);
#else
        [[unroll]] for (int i = 0; i < kLoadsA; ++i) {
            const int e = thread + i * kThreads;
            if (kFillsA || e < kRowA * kRowsA)
                tile[to_a + e / kRowA * kStrideA + e % kRowA] = hearth_words(next_a[i]);
        }
#endif
        [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
            const int e = thread + i * kThreads;
            if (kFillsB || e < kRowB * kRowsB)
                tile[to_b + e / kRowB * kStrideB + e % kRowB] = hearth_words(next_b[i]);
        }
        barrier();
    }

    if (SPLIT > 1 && STAGES > 1) barrier();
    const int out_first = subgroup * hearth_matrix_m * kStrideOut;
    const int part_first = part * hearth_matrix_m * kStrideOut;
    [[unroll]] for (int i = 0; i < kMatricesM; ++i) {
        [[unroll]] for (int j = 0; j < kMatricesN; ++j)
            hearth_matrix_store(sum[i][j], tile, out_first + j * (hearth_matrix_n / 4), kStrideOut,
                                false);
        if (SPLIT > 1)
            barrier();
        else
            subgroupBarrier();
        for (int e = lane + stretch * SUBGROUP; e < hearth_matrix_m * (WN / 4);
             e += SPLIT * SUBGROUP) {
            const int row = e / (WN / 4), column = e % (WN / 4);
            const int m = first_m + part_m + i * hearth_matrix_m + row;
            const int n = first_n + part_n + column * 4;
            const int place = part_first + row * kStrideOut + column;
            vec4 value = uintBitsToFloat(tile[place]);
            [[unroll]] for (int s = 1; s < SPLIT; ++s)
                value += uintBitsToFloat(tile[place + s * kParts * hearth_matrix_m * kStrideOut]);
            if ((M_IS_WHOLE || m < m_count) && (N_IS_WHOLE || n < n_count))
                store4(batch, m, n, value);
        }
        if (SPLIT > 1)
            barrier();
        else
            subgroupBarrier();
    }
}
