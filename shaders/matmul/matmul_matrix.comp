// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched matrix product on matrix cores: out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n], with
// f16 operands and f32 sums (shaders/common/coopmat.glsl).
//
// Each workgroup computes a BM x BN tile in slices of BK (slices.glsl); each subgroup a WM x WN part
// of it, in matrices of sums that stay in registers.  Where there are few tiles, SPLIT subgroups
// share each part: each multiplies its stretch of every slice, and they add up on the way out, in
// the order of the stretches.  At the end the sums pass through shared memory to get known places.
// The order of sums is fixed: deterministic.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM)) * 2 + M*N * (2 or 4) per batch.
//
// Code generation completes this text with BM BN BK WM WN STAGES SPLIT THREADS SUBGROUP, slices.glsl and
// what matmul_vector.comp has.
//
// Where FETCHES_EARLY is defined an invocation stores four elements at most, and fetch_early(batch, m, n)
// reads what store4 will want beside the sums.
//
// Where FOLDS_ROWS is defined there is no load_a8: rows of a, whole slices, are made of those of a
// tensor that is read once.  load_raw(batch, m, k) gives eight elements of it, of type Raw; ROW_LANES
// invocations hold a row; FOLD_ROWS is statements that turn `row` into the operand's elements, with
// what FETCH_PARAMS read.
//
// Tiles tried: docs/design/0010-matrix-cores.md.

const int kSubgroupsM = BM / WM;
const int kSubgroupsN = BN / WN;
const int kParts = kSubgroupsM * kSubgroupsN;
const int kStretch = BK / SPLIT;
const int kMatricesM = WM / hearth_matrix_m;
const int kMatricesN = WN / hearth_matrix_n;
// One row of matrices of sums for each subgroup, on the way out.
const int kStrideOut = WN / 4 + 1;

#ifdef FOLDS_ROWS
shared float of_lane[THREADS];
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

// Sets four[u] for the elements of row[u].
#define FETCH_OF_ROW(four, fetch)                                                 \
    [[unroll]] for (int u = 0; u < 2 * kRowChunks; ++u) {                         \
        const int k = (u / 2 * ROW_LANES + lane) * 8 + u % 2 * 4;                 \
        four[u] = k < k_count ? fetch(batch, m, k) : vec4(0.0);                   \
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
    FETCH_PARAMS
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
    const int lane = int(gl_SubgroupInvocationID), subgroup = int(gl_SubgroupID);
    const ivec2 origin = hearth_tile_origin();
    const int batch = int(gl_WorkGroupID.z);
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (origin.x >= m_count || origin.y >= n_count) return;
    const int part = subgroup % kParts, stretch = subgroup / kParts;
    const int part_m = part / kSubgroupsN * WM, part_n = part % kSubgroupsN * WN;
#ifdef FETCHES_EARLY
    const int early = lane + stretch * SUBGROUP;
    const int early_m = origin.x + part_m + early / (WN / 4);
    const int early_n = origin.y + part_n + early % (WN / 4) * 4;
    if (early < hearth_matrix_m * (WN / 4) && (M_IS_WHOLE || early_m < m_count) &&
        (N_IS_WHOLE || early_n < n_count))
        fetch_early(batch, early_m, early_n);
#endif

    hearth_matrix_sum sum[kMatricesM][kMatricesN];
    [[unroll]] for (int i = 0; i < kMatricesM; ++i)
        [[unroll]] for (int j = 0; j < kMatricesN; ++j) sum[i][j] = hearth_matrix_sum(0.0);

    [[unroll]] for (int part = STAGES - 1; part >= 0; --part)
        hearth_fetch_slices(batch, origin, k_first, part, k_first, m_count, n_count, k_count);
#ifdef FOLDS_ROWS
    make_rows(batch, origin.x, m_count, k_count);
#endif
    hearth_put_a();
    hearth_put_b();
    barrier();
    const bool has_more = k_count - k_first > BK;
    const int last = hearth_last_slice(k_first, k_count);
    const int last_b = last + kDepth - BK;
    for (int k0 = k_first; k0 < k_count; k0 += kDepth) {
        [[unroll]] for (int stage = 0; stage < STAGES; ++stage) {
            if (has_more) {
                hearth_fetch_slices(batch, origin, min(k0 + kDepth, last), stage,
                                    min(k0 + (stage + 1) * BK, last_b), m_count, n_count, k_count);
                subgroupBarrier();  // keeps compilers from loading only when it is needed
            }
            [[unroll]] for (int step = 0; step < kStretch; step += hearth_matrix_k) {
                const int k = stretch * kStretch + step, in_a = stage * BK + k;
                hearth_matrix_a a[kMatricesM];
                [[unroll]] for (int i = 0; i < kMatricesM; ++i) {
                    const int m = part_m + i * hearth_matrix_m;
                    hearth_matrix_load(
                        a[i], tile,
                        A_K_IS_CONTIGUOUS ? m * kStrideA + in_a / 8 : in_a * kStrideA + m / 8,
                        kStrideA, !A_K_IS_CONTIGUOUS);
                }
                [[unroll]] for (int j = 0; j < kMatricesN; ++j) {
                    const int n = part_n + j * hearth_matrix_n;
                    hearth_matrix_b b;
                    hearth_matrix_load(
                        b, tile,
                        kSizeA + (B_K_IS_CONTIGUOUS ? n * kStrideB + k / 8 : k * kStrideB + n / 8),
                        kStrideB, B_K_IS_CONTIGUOUS);
                    [[unroll]] for (int i = 0; i < kMatricesM; ++i)
                        sum[i][j] = hearth_multiply_add(a[i], b, sum[i][j]);
                }
            }
            barrier();
            if (has_more) {
                if (stage + 1 == STAGES) hearth_put_a();
                hearth_put_b();
                barrier();
            }
        }
    }

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
            const int m = origin.x + part_m + i * hearth_matrix_m + row;
            const int n = origin.y + part_n + column * 4;
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
