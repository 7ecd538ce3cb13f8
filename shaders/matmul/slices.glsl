// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Slices of both operands of a product on matrix cores, on their way to shared memory.
//
// They lie there as in memory, row by row or column by column, eight elements at a time, each row
// followed by PAD vectors so that rows begin in different banks.  A slice waits in registers while
// the one before is multiplied.  With two STAGES, which want a along k, a's slice is 2 BK deep, for
// two of b's, and half of its rows are fetched with each: whole lines of 128 bytes at BK of 32.
//
// Code generation completes this with BM BN BK STAGES THREADS, the extents, TILE_VECTORS, which shared
// memory has room for, and load_a8(b, m, k, m_count, k_count) and load_b8(b, k, n, k_count,
// n_count).  They give eight elements, along k where X_K_IS_CONTIGUOUS, else along m or n, with
// zeros beyond the counts: FetchA and FetchB are uvec4, the words of f16, or Eight, floats that are
// rounded only on their way to shared memory, so that nothing waits for them.  Where FOLDS_ROWS is
// defined the text itself puts a's slice there.

#extension GL_EXT_control_flow_attributes : require

#ifndef PAD
#define PAD 1
#endif
#ifndef BAND
#define BAND 8
#endif

const int kDepth = STAGES * BK;  // of a's slices
const int kRowA = (A_K_IS_CONTIGUOUS ? kDepth : BM) / 8;
const int kRowsA = A_K_IS_CONTIGUOUS ? BM : kDepth;
const int kRowB = (B_K_IS_CONTIGUOUS ? BK : BN) / 8, kRowsB = B_K_IS_CONTIGUOUS ? BN : BK;
const int kStrideA = kRowA + PAD, kStrideB = kRowB + PAD;
const int kLoadsA = (kRowA * kRowsA + THREADS - 1) / THREADS;
const int kLoadsB = (kRowB * kRowsB + THREADS - 1) / THREADS;
const bool kFillsA = kRowA * kRowsA % THREADS == 0, kFillsB = kRowB * kRowsB % THREADS == 0;
const int kSizeA = kRowsA * kStrideA;

#ifndef FOLDS_ROWS
shared uvec4 tile[TILE_VECTORS];
#endif

// The first row and column of this workgroup's tile.  Workgroups run in bands of BAND rows of tiles:
// those that run together share slices in the cache.
ivec2 hearth_tile_origin() {
    const int tiles_m = int(gl_NumWorkGroups.y), tiles_n = int(gl_NumWorkGroups.x);
    const int linear = int(gl_WorkGroupID.y) * tiles_n + int(gl_WorkGroupID.x);
    const int first_tile = linear / (BAND * tiles_n) * BAND;
    const int band = min(BAND, tiles_m - first_tile), in_band = linear - first_tile * tiles_n;
    return ivec2((first_tile + in_band % band) * BM, in_band / band * BN);
}

#ifndef FOLDS_ROWS
FetchA next_a[kLoadsA];
#endif
FetchB next_b[kLoadsB];

// A part of a's slice at ka, and b's at kb, into registers.
void hearth_fetch_slices(int batch, ivec2 origin, int ka, int part, int kb, int m_count,
                         int n_count, int k_count) {
    const int thread = int(gl_LocalInvocationID.x);
#ifndef FOLDS_ROWS
    const int first = part * (kLoadsA / STAGES);
    [[unroll]] for (int i = first; i < first + kLoadsA / STAGES; ++i) {
        const int e = thread + i * THREADS;
        const int k = ka + (A_K_IS_CONTIGUOUS ? e % kRowA * 8 : e / kRowA);
        const int m = origin.x + (A_K_IS_CONTIGUOUS ? e / kRowA : e % kRowA * 8);
        const bool inside = (M_IS_WHOLE || m < m_count) && (K_IS_WHOLE || k < k_count) &&
                            (kFillsA || e < kRowA * kRowsA);
        next_a[i] = inside ? load_a8(batch, m, k, m_count, k_count) : NO_FETCH_A;
    }
#endif
    [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
        const int e = thread + i * THREADS;
        const int k = kb + (B_K_IS_CONTIGUOUS ? e % kRowB * 8 : e / kRowB);
        const int n = origin.y + (B_K_IS_CONTIGUOUS ? e / kRowB : e % kRowB * 8);
        const bool inside = (N_IS_WHOLE || n < n_count) && (K_IS_WHOLE || k < k_count) &&
                            (kFillsB || e < kRowB * kRowsB);
        next_b[i] = inside ? load_b8(batch, k, n, k_count, n_count) : NO_FETCH_B;
    }
}

// Where the last slice begins.  The one after it is never needed: fetching the last one again costs
// less than asking whether there is another.
int hearth_last_slice(int k_first, int k_count) {
    return k_first + max(k_count - k_first - 1, 0) / kDepth * kDepth;
}

// What was fetched, to shared memory.
void hearth_put_a() {
#ifndef FOLDS_ROWS
    const int thread = int(gl_LocalInvocationID.x);
    [[unroll]] for (int i = 0; i < kLoadsA; ++i) {
        const int e = thread + i * THREADS;
        if (kFillsA || e < kRowA * kRowsA)
            tile[e / kRowA * kStrideA + e % kRowA] = hearth_words(next_a[i]);
    }
#endif
}
void hearth_put_b() {
    const int thread = int(gl_LocalInvocationID.x);
    [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
        const int e = thread + i * THREADS;
        if (kFillsB || e < kRowB * kRowsB)
            tile[kSizeA + e / kRowB * kStrideB + e % kRowB] = hearth_words(next_b[i]);
    }
}
