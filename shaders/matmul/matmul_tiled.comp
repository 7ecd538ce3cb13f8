// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched matrix product, out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n], of f32 or of integers.
//
// Each workgroup computes a BM x BN tile; A and B pass through shared memory in slices of BK; each
// thread keeps TM x TN sums in registers, strided so that neighbouring threads touch neighbouring
// columns.  Accumulates Numbers in order of k: deterministic; integers wrap around.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM) + M*N) * 4 per batch.
//
// Code generation completes this text with: Number (float, int or uint), BM BN BK TM TN, STORE_IN_LOOP, TILES_IN_TURN, the extents
// M N BATCHES, K_FIRST and K_END, the functions
// load_a(b, m, k), load_b(b, k, n) (they may fold transposes and other views) and
// store(b, m, n, sum) (it may fold bias, activation and whatever else follows element by element).

const int kThreadsN = BN / TN;
const int kThreadsM = BM / TM;
const int kThreads = kThreadsM * kThreadsN;

shared Number tile_a[BK][BM + 1];  // one column of padding: no bank conflicts when written by k
shared Number tile_b[BK][BN + 1];
#if STORE_IN_LOOP
shared Number tile_c[BM * BN];
#endif

void multiply(int first_m, int batch) {
    const int thread = int(gl_LocalInvocationID.x);
    const int thread_m = thread / kThreadsN, thread_n = thread % kThreadsN;
    const int first_n = int(gl_WorkGroupID.x) * BN;
    const int m_count = M, n_count = N;
    // All of K, or, in a product in parts, the part with this batch index.
    const int k_first = K_FIRST, k_count = K_END;
    // A replayed recording is sized for the capacity: tiles beyond the live rows have no work.
    if (first_m >= m_count || first_n >= n_count) return;

    Number sum[TM][TN];
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] = Number(0);

    for (int k0 = k_first; k0 < k_count; k0 += BK) {
        ROLLED for (int e = thread; e < BM * BK; e += kThreads) {
            const int k = A_K_IS_CONTIGUOUS ? e % BK : e / BM;
            const int m = A_K_IS_CONTIGUOUS ? e / BK : e % BM;
            const bool inside = first_m + m < m_count && k0 + k < k_count;
            tile_a[k][m] = inside ? load_a(batch, first_m + m, k0 + k) : Number(0);
        }
        ROLLED for (int e = thread; e < BN * BK; e += kThreads) {
            const int k = B_K_IS_CONTIGUOUS ? e % BK : e / BN;
            const int n = B_K_IS_CONTIGUOUS ? e / BK : e % BN;
            const bool inside = first_n + n < n_count && k0 + k < k_count;
            tile_b[k][n] = inside ? load_b(batch, k0 + k, first_n + n) : Number(0);
        }
        barrier();
        ROLLED for (int k = 0; k < BK; ++k) {
            Number a[TM], b[TN];
            for (int i = 0; i < TM; ++i) a[i] = tile_a[k][thread_m + i * kThreadsM];
            for (int j = 0; j < TN; ++j) b[j] = tile_b[k][thread_n + j * kThreadsN];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
        }
        barrier();
    }
#if STORE_IN_LOOP
    // One copy of what follows the product instead of one for each sum: it compiles faster.
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
            tile_c[(thread_m + i * kThreadsM) * BN + thread_n + j * kThreadsN] = sum[i][j];
    barrier();
    ROLLED for (int e = thread; e < BM * BN; e += kThreads) {
        const int m = first_m + e / BN, n = first_n + e % BN;
        if (m < m_count && n < n_count) store(batch, m, n, tile_c[e]);
    }
#else
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            const int m = first_m + thread_m + i * kThreadsM;
            const int n = first_n + thread_n + j * kThreadsN;
            if (m < m_count && n < n_count) store(batch, m, n, sum[i][j]);
        }
    }
#endif
}

void main() {
    const int first_m = int(gl_WorkGroupID.y) * BM, batch = int(gl_WorkGroupID.z);
#if TILES_IN_TURN
    // More tiles than a grid may have: each workgroup takes several.
    for (int z = batch; z < BATCHES; z += int(gl_NumWorkGroups.z)) {
        for (int y = first_m; y < M; y += int(gl_NumWorkGroups.y) * BM) {
            multiply(y, z);
            barrier();
        }
    }
#else
    multiply(first_m, batch);
#endif
}
