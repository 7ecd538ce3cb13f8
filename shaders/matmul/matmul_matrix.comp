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
// Where FOLDS_ROWS is defined there is no load_a8: make_rows(batch, first_m, m_count, k_count) makes a's
// slice, whole rows, of those of a tensor that is read once, and puts it into `tile`, which it declares.
//
// Tiles tried: docs/design/0010-matrix-cores.md.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

const int kSubgroupsM = BM / WM;
const int kSubgroupsN = BN / WN;
const int kParts = kSubgroupsM * kSubgroupsN;
const int kStretch = BK / SPLIT;
const int kMatricesM = WM / hearth_matrix_m;
const int kMatricesN = WN / hearth_matrix_n;
// One row of matrices of sums for each subgroup, on the way out.
const int kStrideOut = WN / 4 + 1;

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
