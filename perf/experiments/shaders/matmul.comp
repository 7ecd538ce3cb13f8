#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// c = op(a) * op(b), f32, tiled through shared memory; c: [m, n], row-major, any sizes.
// The third grid dimension splits k: split z writes its partial product at c + z * split_stride.
//
// Defines: BM, BN      tile; 16 columns of k at a time
//          TM, TN      outputs per thread; BM / TM * BN / TN threads
//          TRANS_A     a is stored [k, m] instead of [m, k]
//          TRANS_B     b is stored [n, k] instead of [k, n]
//          EPILOGUE    0 none, 1 add bias[n], 2 add bias[n] then relu, 3 zero where mask[m, n] <= 0
//          ADDRESSES   1 buffers by device address, 0 by descriptor

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

#define BK 16
#define THREADS (BM / TM * BN / TN)

layout(local_size_x = THREADS) in;

#if ADDRESSES
layout(push_constant) uniform Push {
    ReadFloats a;
    ReadFloats b;
    Floats c;
    ReadFloats extra;  // bias or mask
    uint m, n, k;
    uint k_per_split;
    uint split_stride;
} p;
#define A p.a.v
#define B p.b.v
#define C p.c.v
#define EXTRA p.extra.v
#else
layout(set = 0, binding = 0) readonly restrict buffer BufferA { float v[]; } buffer_a;
layout(set = 0, binding = 1) readonly restrict buffer BufferB { float v[]; } buffer_b;
layout(set = 0, binding = 2) restrict buffer BufferC { float v[]; } buffer_c;
layout(push_constant) uniform Push {
    uint m, n, k;
    uint k_per_split;
    uint split_stride;
} p;
#define A buffer_a.v
#define B buffer_b.v
#define C buffer_c.v
#endif

shared float tile_a[BK][BM + 4];
shared float tile_b[BK][BN + 4];

void main() {
    const uint thread = gl_LocalInvocationID.x;
    const uint m0 = gl_WorkGroupID.x * BM, n0 = gl_WorkGroupID.y * BN;
    const uint k_begin = gl_WorkGroupID.z * p.k_per_split;
    const uint k_end = min(k_begin + p.k_per_split, p.k);
    const uint tm = thread / (BN / TN) * TM, tn = thread % (BN / TN) * TN;
    float acc[TM][TN];
    [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN; ++j) acc[i][j] = 0;

    for (uint k0 = k_begin; k0 < k_end; k0 += BK) {
        [[unroll]] for (uint at = 0; at < BM * BK; at += THREADS) {
            const uint i = at + thread;
#if TRANS_A
            const uint kk = i / BM, mm = i % BM;
            tile_a[kk][mm] = k0 + kk < k_end && m0 + mm < p.m ? A[(k0 + kk) * p.m + m0 + mm] : 0.0;
#else
            const uint mm = i / BK, kk = i % BK;
            tile_a[kk][mm] = k0 + kk < k_end && m0 + mm < p.m ? A[(m0 + mm) * p.k + k0 + kk] : 0.0;
#endif
        }
        [[unroll]] for (uint at = 0; at < BN * BK; at += THREADS) {
            const uint i = at + thread;
#if TRANS_B
            const uint nn = i / BK, kk = i % BK;
            tile_b[kk][nn] = k0 + kk < k_end && n0 + nn < p.n ? B[(n0 + nn) * p.k + k0 + kk] : 0.0;
#else
            const uint kk = i / BN, nn = i % BN;
            tile_b[kk][nn] = k0 + kk < k_end && n0 + nn < p.n ? B[(k0 + kk) * p.n + n0 + nn] : 0.0;
#endif
        }
        barrier();
        for (uint kk = 0; kk < BK; ++kk) {
            float a[TM], b[TN];
            [[unroll]] for (uint i = 0; i < TM; ++i) a[i] = tile_a[kk][tm + i];
            [[unroll]] for (uint j = 0; j < TN; ++j) b[j] = tile_b[kk][tn + j];
            [[unroll]] for (uint i = 0; i < TM; ++i)
                [[unroll]] for (uint j = 0; j < TN; ++j) acc[i][j] = fma(a[i], b[j], acc[i][j]);
        }
        barrier();
    }

    [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN; ++j) {
            const uint m = m0 + tm + i, n = n0 + tn + j;
            if (m >= p.m || n >= p.n) continue;
            float value = acc[i][j];
#if EPILOGUE == 1
            value += EXTRA[n];
#elif EPILOGUE == 2
            value = max(value + EXTRA[n], 0.0);
#elif EPILOGUE == 3
            value = EXTRA[m * p.n + n] > 0.0 ? value : 0.0;
#endif
            C[gl_WorkGroupID.z * p.split_stride + m * p.n + n] = value;
        }
}
