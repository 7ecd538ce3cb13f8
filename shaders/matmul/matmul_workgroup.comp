// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched matrix product on matrices that the whole workgroup holds, out[b, m, n] = sum over k of
// a[b, m, k] * b[b, k, n], with f16 operands and f32 sums (shaders/common/coopmat.glsl).
//
// Each workgroup computes a BM x BN tile in slices of BK (slices.glsl): BN / TN matrices of sums,
// TM rows each, which is all BM.  How the invocations share a matrix is the driver's choice.  The
// matrices leave one by one through shared memory, so that what follows the product sees known
// places.  The order of sums is fixed: deterministic.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM)) * 2 + M*N * (2 or 4) per batch.
//
// Code generation completes this text with BM BN BK TM TN THREADS, slices.glsl and what
// matmul_vector.comp has.  hearth_matrix_m, _n and _k are TM, TN and BK.

#extension GL_EXT_control_flow_attributes : require

const int kParts = BN / TN;
const int kStrideOut = TN / 4 + 1;

void main() {
    const int thread = int(gl_LocalInvocationID.x);
    const ivec2 origin = hearth_tile_origin();
    const int batch = int(gl_WorkGroupID.z);
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (origin.x >= m_count || origin.y >= n_count) return;

    hearth_matrix_sum sum[kParts];
    [[unroll]] for (int j = 0; j < kParts; ++j) sum[j] = hearth_matrix_sum(0.0);

    hearth_fetch_slices(batch, origin, k_first, 0, k_first, m_count, n_count, k_count);
    hearth_put_a();
    hearth_put_b();
    barrier();
    const bool has_more = k_count - k_first > BK;
    const int last = hearth_last_slice(k_first, k_count);
    for (int k0 = k_first; k0 < k_count; k0 += BK) {
        if (has_more)
            hearth_fetch_slices(batch, origin, min(k0 + BK, last), 0, min(k0 + BK, last), m_count,
                                n_count, k_count);
        hearth_matrix_a a;
        hearth_matrix_load(a, tile, 0, kStrideA, !A_K_IS_CONTIGUOUS);
        [[unroll]] for (int j = 0; j < kParts; ++j) {
            hearth_matrix_b b;
            const int n = j * TN;
            hearth_matrix_load(b, tile, kSizeA + (B_K_IS_CONTIGUOUS ? n * kStrideB : n / 8),
                               kStrideB, B_K_IS_CONTIGUOUS);
            sum[j] = hearth_multiply_add(a, b, sum[j]);
        }
        barrier();
        if (has_more) {
            hearth_put_a();
            hearth_put_b();
            barrier();
        }
    }

    [[unroll]] for (int j = 0; j < kParts; ++j) {
        hearth_matrix_store(sum[j], tile, 0, kStrideOut, false);
        barrier();
        for (int e = thread; e < TM * (TN / 4); e += THREADS) {
            const int row = e / (TN / 4), column = e % (TN / 4);
            const int m = origin.x + row, n = origin.y + j * TN + column * 4;
            if ((M_IS_WHOLE || m < m_count) && (N_IS_WHOLE || n < n_count))
                store4(batch, m, n, uintBitsToFloat(tile[row * kStrideOut + column]));
        }
        barrier();
    }
}
