// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched f32 matrix product like matmul_tiled.comp, for operands that lie in memory as they are
// read: both are loaded four elements at a time, and the next slices while the present ones are
// multiplied.
//
// Each workgroup computes a BM x BN tile in slices of BK; each thread keeps TM x TN sums, in
// blocks of four rows by four columns.  Per slice element a thread reads (TM + TN) / 4 vectors of
// shared memory for TM * TN multiply-adds.  f32 accumulation in order of k: deterministic.
//
// Where there are few tiles, SPLIT threads share each one's sums: each takes its stretch of every
// slice, and they add up through shared memory, in the order of the stretches.
//
// Code generation completes this text with SPLIT and what matmul_tiled.comp has, but load_a4(b, m, k) and
// load_b4(b, k, n) give four elements: along k where X_K_IS_CONTIGUOUS, else along m or n.  The
// extent that is contiguous is a multiple of four, and so is K_FIRST where it is k.  X_IS_WHOLE
// says that an extent is a multiple of the tile's, so that nothing need be checked.
//
// Tiles tried on an H200, TFLOP/s at 4,096 and 1,024: 256x128x8 of 16x8 45.0 and 10.9, 128x128x8 of
// 8x8 43.1 and 19.2, 128x128x16 34.5 and 14.6, 128x64x8 40.9 and 30.5, 64x64x16 of 8x4 40.1 and
// 34.4, of 4x4 32.0 and 28.4.  Two buffers in shared memory instead of one and 8x4 threads a
// subgroup changed nothing (2 %).

const int kThreadsN = BN / TN;
const int kThreadsM = BM / TM;
const int kPart = kThreadsM * kThreadsN;
const int kThreads = kPart * SPLIT;
const int kStretch = BK / SPLIT;
const int kLoadsA = BM * BK / 4 / kThreads;
const int kLoadsB = BN * BK / 4 / kThreads;

shared vec4 tile_a[BK][BM / 4 + 1];  // one column of padding: fewer bank conflicts when transposed
shared vec4 tile_b[BK][BN / 4 + 1];
#if SPLIT > 1
shared vec4 of_stretch[SPLIT][BM * BN / 4];
#endif

void multiply(int first_m, int batch) {
    const int thread = int(gl_LocalInvocationID.x);
    const int stretch = thread / kPart;
    const int thread_m = thread % kPart / kThreadsN, thread_n = thread % kThreadsN;
    const int first_n = int(gl_WorkGroupID.x) * BN;
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (first_m >= m_count || first_n >= n_count) return;

    vec4 sum[TM][TN / 4];
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0.0);

    vec4 next_a[kLoadsA], next_b[kLoadsB];
    for (int k0 = k_first - BK; k0 < k_count; k0 += BK) {
        // The slice after this one, into registers.
        const int k1 = k0 + BK;
        for (int i = 0; i < kLoadsA && k1 < k_count; ++i) {
            const int e = thread + i * kThreads;
            const int k = k1 + (A_K_IS_CONTIGUOUS ? e % (BK / 4) * 4 : e / (BM / 4));
            const int m = first_m + (A_K_IS_CONTIGUOUS ? e / (BK / 4) : e % (BM / 4) * 4);
            const bool inside = (M_IS_WHOLE || m < m_count) && (K_IS_WHOLE || k < k_count);
            next_a[i] = inside ? load_a4(batch, m, k) : vec4(0.0);
        }
        for (int i = 0; i < kLoadsB && k1 < k_count; ++i) {
            const int e = thread + i * kThreads;
            const int k = k1 + (B_K_IS_CONTIGUOUS ? e % (BK / 4) * 4 : e / (BN / 4));
            const int n = first_n + (B_K_IS_CONTIGUOUS ? e / (BK / 4) : e % (BN / 4) * 4);
            const bool inside = (N_IS_WHOLE || n < n_count) && (K_IS_WHOLE || k < k_count);
            next_b[i] = inside ? load_b4(batch, k, n) : vec4(0.0);
        }
        // This one, from shared memory; there is none yet the first time.
        if (k0 >= k_first) {
            for (int step = 0; step < kStretch; ++step) {
                const int k = stretch * kStretch + step;
                vec4 a[TM / 4], b[TN / 4];
                for (int i = 0; i < TM / 4; ++i) a[i] = tile_a[k][thread_m + i * kThreadsM];
                for (int j = 0; j < TN / 4; ++j) b[j] = tile_b[k][thread_n + j * kThreadsN];
                for (int i = 0; i < TM; ++i)
                    for (int j = 0; j < TN / 4; ++j)
                        sum[i][j] = fma(vec4(a[i / 4][i % 4]), b[j], sum[i][j]);
            }
            barrier();
        }
        for (int i = 0; i < kLoadsA; ++i) {
            const int e = thread + i * kThreads;
            if (A_K_IS_CONTIGUOUS) {
                const int k = e % (BK / 4) * 4, m = e / (BK / 4);
                for (int j = 0; j < 4; ++j) tile_a[k + j][m / 4][m % 4] = next_a[i][j];
            } else {
                tile_a[e / (BM / 4)][e % (BM / 4)] = next_a[i];
            }
        }
        for (int i = 0; i < kLoadsB; ++i) {
            const int e = thread + i * kThreads;
            if (B_K_IS_CONTIGUOUS) {
                const int k = e % (BK / 4) * 4, n = e / (BK / 4);
                for (int j = 0; j < 4; ++j) tile_b[k + j][n / 4][n % 4] = next_b[i][j];
            } else {
                tile_b[e / (BN / 4)][e % (BN / 4)] = next_b[i];
            }
        }
        barrier();
    }
#if SPLIT > 1
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN / 4; ++j)
            of_stretch[stretch][((thread_m + i / 4 * kThreadsM) * 4 + i % 4) * (BN / 4) + thread_n +
                                j * kThreadsN] = sum[i][j];
    barrier();
    for (int e = thread; e < BM * BN / 4; e += kThreads) {
        vec4 all = of_stretch[0][e];
        for (int s = 1; s < SPLIT; ++s) all += of_stretch[s][e];
        const int m = first_m + e / (BN / 4), n = first_n + e % (BN / 4) * 4;
        if ((M_IS_WHOLE || m < m_count) && (N_IS_WHOLE || n < n_count)) store4(batch, m, n, all);
    }
#else
    for (int i = 0; i < TM; ++i) {
        const int m = first_m + (thread_m + i / 4 * kThreadsM) * 4 + i % 4;
        for (int j = 0; j < TN / 4; ++j) {
            const int n = first_n + (thread_n + j * kThreadsN) * 4;
            if ((M_IS_WHOLE || m < m_count) && (N_IS_WHOLE || n < n_count))
                store4(batch, m, n, sum[i][j]);
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
