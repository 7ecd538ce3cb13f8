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
// slice, and they add up through shared memory, in the order of the stretches: beside the slices,
// or in their place (SUMS_REPLACE_SLICES), which takes a barrier and less memory.
//
// Code generation completes this text with STAGES, SPLIT and what matmul_tiled.comp has, but load_a4(b, m, k) and
// load_b4(b, k, n) give four elements: along k where X_K_IS_CONTIGUOUS, else along m or n.  The
// extent that is contiguous is a multiple of four, and so is K_FIRST where it is k.  X_IS_WHOLE
// says that an extent is a multiple of the tile's, so that nothing need be checked.
//
// With two STAGES in shared memory the next slices are written beside the present ones, which saves
// a barrier.  subgroupBarrier() keeps compilers from loading only when it is needed, and from
// writing before all has been read.  Tiles tried: docs/design/0010-matrix-cores.md.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

const int kThreadsN = BN / TN;
const int kThreadsM = BM / TM;
const int kPart = kThreadsM * kThreadsN;
const int kThreads = kPart * SPLIT;
const int kStretch = BK / SPLIT;
const int kLoadsA = BM * BK / 4 / kThreads;
const int kLoadsB = BN * BK / 4 / kThreads;
// One column of padding: fewer bank conflicts when transposed.
const int kStrideA = BM / 4 + 1, kStrideB = BN / 4 + 1;

#if SUMS_REPLACE_SLICES
const int kSlicesA = STAGES * BK * kStrideA, kSlicesB = STAGES * BK * kStrideB;
const int kSums = BM * BN / 4;
shared vec4 memory[max(kSlicesA + kSlicesB, SPLIT * kSums)];
#define SLICES_A(i) memory[i]
#define SLICES_B(i) memory[kSlicesA + (i)]
#define SUMS(stretch, i) memory[(stretch) * kSums + (i)]
#else
shared vec4 tile_a[STAGES * BK * kStrideA];
shared vec4 tile_b[STAGES * BK * kStrideB];
#if SPLIT > 1
shared vec4 of_stretch[SPLIT][BM * BN / 4];
#endif
#define SLICES_A(i) tile_a[i]
#define SLICES_B(i) tile_b[i]
#define SUMS(stretch, i) of_stretch[stretch][i]
#endif

vec4 sum[TM][TN / 4];
vec4 next_a[kLoadsA], next_b[kLoadsB];

// The slices at k0, into registers.
void fetch_slices(int batch, int first_m, int first_n, int k0, int k_count) {
    const int thread = int(gl_LocalInvocationID.x);
    const int m_count = M, n_count = N;
    [[unroll]] for (int i = 0; i < kLoadsA; ++i) {
        const int e = thread + i * kThreads;
        const int k = k0 + (A_K_IS_CONTIGUOUS ? e % (BK / 4) * 4 : e / (BM / 4));
        const int m = first_m + (A_K_IS_CONTIGUOUS ? e / (BK / 4) : e % (BM / 4) * 4);
        const bool inside = (M_IS_WHOLE || m < m_count) && (K_IS_WHOLE || k < k_count);
        next_a[i] = inside ? load_a4(batch, m, k) : vec4(0.0);
    }
    [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
        const int e = thread + i * kThreads;
        const int k = k0 + (B_K_IS_CONTIGUOUS ? e % (BK / 4) * 4 : e / (BN / 4));
        const int n = first_n + (B_K_IS_CONTIGUOUS ? e / (BK / 4) : e % (BN / 4) * 4);
        const bool inside = (N_IS_WHOLE || n < n_count) && (K_IS_WHOLE || k < k_count);
        next_b[i] = inside ? load_b4(batch, k, n) : vec4(0.0);
    }
}

void put_slices(int stage) {
    const int thread = int(gl_LocalInvocationID.x);
    const int to_a = stage * BK * kStrideA, to_b = stage * BK * kStrideB;
    [[unroll]] for (int i = 0; i < kLoadsA; ++i) {
        const int e = thread + i * kThreads;
        if (A_K_IS_CONTIGUOUS) {
            const int k = e % (BK / 4) * 4, m = e / (BK / 4);
            [[unroll]] for (int j = 0; j < 4; ++j)
                SLICES_A(to_a + (k + j) * kStrideA + m / 4)[m % 4] = next_a[i][j];
        } else {
            SLICES_A(to_a + e / (BM / 4) * kStrideA + e % (BM / 4)) = next_a[i];
        }
    }
    [[unroll]] for (int i = 0; i < kLoadsB; ++i) {
        const int e = thread + i * kThreads;
        if (B_K_IS_CONTIGUOUS) {
            const int k = e % (BK / 4) * 4, n = e / (BK / 4);
            [[unroll]] for (int j = 0; j < 4; ++j)
                SLICES_B(to_b + (k + j) * kStrideB + n / 4)[n % 4] = next_b[i][j];
        } else {
            SLICES_B(to_b + e / (BN / 4) * kStrideB + e % (BN / 4)) = next_b[i];
        }
    }
}

void multiply_slices(int first_k, int thread_m, int thread_n) {
    const int from_a = first_k * kStrideA + thread_m;
    const int from_b = first_k * kStrideB + thread_n;
    vec4 a[2][TM / 4], b[2][TN / 4];
    [[unroll]] for (int k = -1; k < kStretch; ++k) {
        // The elements after these, while these are multiplied.
        const int now = k & 1, next = 1 - now;
        if (k + 1 < kStretch) {
            [[unroll]] for (int i = 0; i < TM / 4; ++i)
                a[next][i] = SLICES_A(from_a + (k + 1) * kStrideA + i * kThreadsM);
            [[unroll]] for (int j = 0; j < TN / 4; ++j)
                b[next][j] = SLICES_B(from_b + (k + 1) * kStrideB + j * kThreadsN);
        }
        if (k < 0) continue;
        [[unroll]] for (int i = 0; i < TM; ++i)
            [[unroll]] for (int j = 0; j < TN / 4; ++j)
                sum[i][j] = fma(vec4(a[now][i / 4][i % 4]), b[now][j], sum[i][j]);
    }
}

void multiply(int first_m, int batch) {
    const int thread = int(gl_LocalInvocationID.x);
    const int stretch = thread / kPart;
    const int thread_m = thread % kPart / kThreadsN, thread_n = thread % kThreadsN;
    const int first_n = int(gl_WorkGroupID.x) * BN;
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (first_m >= m_count || first_n >= n_count) return;

    [[unroll]] for (int i = 0; i < TM; ++i)
        [[unroll]] for (int j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0.0);
    fetch_slices(batch, first_m, first_n, k_first, k_count);
    put_slices(0);
    barrier();
    const bool has_more = k_count - k_first > BK;
    // Fetching the last slices once more costs less than asking whether there are others.
    const int last = k_first + max(k_count - k_first - 1, 0) / BK * BK;
    for (int k0 = k_first; k0 < k_count; k0 += STAGES * BK) {
        [[unroll]] for (int stage = 0; stage < STAGES; ++stage) {
            const int k = k0 + stage * BK;
            if (has_more) fetch_slices(batch, first_m, first_n, min(k + BK, last), k_count);
            subgroupBarrier();
            multiply_slices(stage * BK + stretch * kStretch, thread_m, thread_n);
            if (k >= last) break;
            if (STAGES == 1)
                barrier();
            else
                subgroupBarrier();
            put_slices((stage + 1) % STAGES);
            barrier();
        }
    }

#if SPLIT > 1
#if SUMS_REPLACE_SLICES
    barrier();
#endif
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN / 4; ++j)
            SUMS(stretch, ((thread_m + i / 4 * kThreadsM) * 4 + i % 4) * (BN / 4) + thread_n +
                              j * kThreadsN) = sum[i][j];
    barrier();
    for (int e = thread; e < BM * BN / 4; e += kThreads) {
        vec4 all = SUMS(0, e);
        for (int s = 1; s < SPLIT; ++s) all += SUMS(s, e);
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
