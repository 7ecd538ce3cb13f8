#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A row program on matrix cores: f16 activations in shared memory, f32 sums in registers.  Subgroup
// s makes NT neighbouring matrices of each of its rows; weight gradients are dealt out by matrices.
//
// Defines: ROWS      rows of a tile
//          S, LANES  subgroups and their size
//          NT        matrices side by side that a subgroup makes
//          WEIGHTS   0 fetched a layer ahead, 1 all in registers from the start, 3 read when needed,
//                    5 through shared memory a layer ahead, in two places that take turns
//          W32       weights are read as f32
//          XS        x and y pass through shared memory in steps of 16 bytes, x a tile ahead
//          TRAIN     forward, loss, backward
//          KEEP      gradients are kept from tile to tile; else a workgroup has one tile
//          DELTAS    1 or 2 places for what comes back

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "coop.glsl"

#if !TRAIN
#define KEEP 0
#define DELTAS 0
#endif
#define THREADS (S * LANES)
layout(local_size_x = THREADS) in;

layout(push_constant) uniform Push {
    ReadHalfs x;         // as halfs and, by the same address, in 16 bytes
    ReadHalfs target;
    ReadFloats weights;  // w[in][out], then b[out], of each layer
    ReadHalfs weights_h;
    Floats partials;
    Halfs y;
    Floats loss_partials;
    State state;
    uint rows;
    uint groups;
} p;

const uint kColumnGroups = kWide / NT;
const uint kRowGroups = S / kColumnGroups;
const uint MT = ROWS / T / kRowGroups;
const uint DW = TRAIN == 1 ? kWide * kWide / S : 1;  // matrices of a weight gradient of a subgroup
const uint kDeltas = DELTAS;
const uint kSlot = ROWS * kStride;
// h1 to h4 or, without training, two that take turns; then x; then what comes back.
const uint kHiddenSlots = TRAIN == 1 ? kLayers - 1 : 2;
const uint kX = kHiddenSlots * kSlot;
const uint kDelta = kX + (XS == 1 ? kSlot : 0);
const uint kStaged = kDelta + (TRAIN == 1 ? DELTAS * kSlot : 0);
const uint kReduce = S * kLayers * kWidth / 4 + THREADS / 4;
const uint kPlace = kWidth * kStride;
const uint kBias = kStaged + (WEIGHTS == 5 ? 2 * kPlace : 0);
const uint kPoolLeast = kBias + kLayers * kWidth / 4;
shared uvec4 pool[max(kPoolLeast, TRAIN == 1 ? kReduce : 0)];

#define hidden(layer) (((layer) - 1) % kHiddenSlots * kSlot)
#define delta_at(layer) (kDelta + (layer) % max(kDeltas, 1) * kSlot)
#define sg gl_SubgroupID
#define n0 (sg % kColumnGroups * NT)
#define m0 (sg / kColumnGroups * MT)

#if W32
#define LOAD_WEIGHT(m, layer, k, n, how)                                             \
    {                                                                                \
        Sum wide;                                                                    \
        how(wide, p.weights.v, (layer) * kLayerHalfs + (k) * T * kWidth + (n) * T, kWidth); \
        m = MatrixB(wide);                                                           \
    }
#else
#define LOAD_WEIGHT(m, layer, k, n, how) \
    how(m, p.weights_h.v, (layer) * kLayerHalfs + (k) * T * kWidth + (n) * T, kWidth);
#endif
#define STAGED(layer, k, n) (kStaged + (layer) % 2 * kPlace + (k) * T * kStride + (n) * kEdge)

#define FETCH(to, layer)                                                      \
    [[unroll]] for (uint k = 0; k < kWide; ++k)                               \
        [[unroll]] for (uint n = 0; n < NT; ++n)                              \
            LOAD_WEIGHT(to[k * NT + n], layer, k, n0 + n, LOAD)
#define FETCH_BACK(to, layer)                                                 \
    [[unroll]] for (uint k = 0; k < kWide; ++k)                               \
        [[unroll]] for (uint n = 0; n < NT; ++n)                              \
            LOAD_WEIGHT(to[k * NT + n], layer, n0 + n, k, LOAD_TRANSPOSED)

#if WEIGHTS == 0
#define B_FORWARD(b, layer, k, n) b = now[(k) * NT + (n)];
#define B_BACK(b, layer, k, n) b = now[(k) * NT + (n)];
#elif WEIGHTS == 1
#define B_FORWARD(b, layer, k, n) b = all[layer][(k) * NT + (n)];
#define B_BACK(b, layer, k, n) b = all_back[layer][(k) * NT + (n)];
#elif WEIGHTS == 5
#define B_FORWARD(b, layer, k, n) LOAD(b, pool, STAGED(layer, k, n0 + n), kStride);
#define B_BACK(b, layer, k, n)                                                \
    LOAD_TRANSPOSED(b, pool, STAGED(layer, n0 + n, k), kStride);
#else
#define B_FORWARD(b, layer, k, n) LOAD_WEIGHT(b, layer, k, n0 + n, LOAD)
#define B_BACK(b, layer, k, n) LOAD_WEIGHT(b, layer, n0 + n, k, LOAD_TRANSPOSED)
#endif

// acc[MT * NT] += rows at `base` in shared memory * weights
#define MULTIPLY(acc, A_LOAD, B_LOAD, layer)                                  \
    [[unroll]] for (uint k = 0; k < kWide; ++k) {                             \
        MatrixB b[NT];                                                        \
        [[unroll]] for (uint n = 0; n < NT; ++n) {                            \
            B_LOAD(b[n], layer, k, n)                                         \
        }                                                                     \
        [[unroll]] for (uint m = 0; m < MT; ++m) {                            \
            MatrixA a;                                                        \
            A_LOAD(a, m0 + m, k)                                              \
            [[unroll]] for (uint n = 0; n < NT; ++n)                          \
                acc[m * NT + n] = MULTIPLY_ADD(a, b[n], acc[m * NT + n]);     \
        }                                                                     \
    }

#if WEIGHTS == 5
const uint kHeld = kWidth * kWidth / 8 / THREADS;
#define HOLD(layer)                                                                       \
    [[unroll]] for (uint i = 0; i < kHeld; ++i)                                           \
        held[i] = weights_at(layer, i * THREADS + gl_LocalInvocationID.x);
#define PUT(layer)                                                                        \
    [[unroll]] for (uint i = 0; i < kHeld; ++i) {                                         \
        const uint j = i * THREADS + gl_LocalInvocationID.x;                              \
        pool[kStaged + (layer) % 2 * kPlace + j / (kWidth / 8) * kStride + j % (kWidth / 8)] = \
            held[i];                                                                      \
    }

uvec4 weights_at(uint layer, uint j) {
#if W32
    ReadVec4s from = ReadVec4s(p.weights);
    return to_halfs(from.v[layer * kLayerVec4s + 2 * j], from.v[layer * kLayerVec4s + 2 * j + 1]);
#else
    return ReadUvec4s(p.weights_h).v[layer * kLayerHalfs / 8 + j];
#endif
}
#else
#define HOLD(layer) {}
#define PUT(layer) {}
#endif

#if XS
const uint kHeldX = (ROWS * kWidth / 8 + THREADS - 1) / THREADS;
#define HOLD_X(tile)                                                                      \
    [[unroll]] for (uint i = 0; i < kHeldX; ++i) {                                        \
        const uint j = i * THREADS + gl_LocalInvocationID.x;                              \
        if (j < ROWS * kWidth / 8)                                                        \
            held_x[i] = ReadUvec4s(p.x).v[(tile) * ROWS * kWidth / 8 + j];                \
    }
#endif

void main() {
    const uint tiles = p.rows / ROWS;
#if WEIGHTS == 0
    MatrixB now[kWide * NT], next[kWide * NT];
    FETCH(next, 0)
#elif WEIGHTS == 1
    MatrixB all[kLayers][kWide * NT];
    [[unroll]] for (uint l = 0; l < kLayers; ++l) FETCH(all[l], l)
#if TRAIN
    MatrixB all_back[kLayers][kWide * NT];
    [[unroll]] for (uint l = kLayers - 1; l > 0; --l) FETCH_BACK(all_back[l], l)
#endif
#elif WEIGHTS == 5
    uvec4 held[kHeld];
    HOLD(0)
    PUT(0)
#endif
    for (uint i = gl_LocalInvocationID.x; i < kLayers * kWidth / 4; i += THREADS)
        pool[kBias + i] = ReadUvec4s(p.weights)
                              .v[i / (kWidth / 4) * kLayerVec4s + 1024 + i % (kWidth / 4)];
#if XS
    uvec4 held_x[kHeldX];
    HOLD_X(gl_WorkGroupID.x)
#endif
#if TRAIN
    float loss = 0;
    vec2 bias_gradient[kLayers][32 / LANES];  // two columns each
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < 32 / LANES; ++i) bias_gradient[l][i] = vec2(0);
#if KEEP
    Sum g[kLayers][DW];
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < DW; ++i) g[l][i] = Sum(0.0);
#endif
    // Nothing else in this dispatch touches the counter; the optimizer reads it after a barrier.
    if (gl_GlobalInvocationID.x == 0) p.state.step += 1;
    const float scale = 2.0 / (float(p.rows) * float(kWidth));
    const uint partial = gl_WorkGroupID.x * kLayers * kLayerHalfs;
#define dw_n (sg % kWide)
#define dw_k (sg / kWide * DW)
#endif
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.groups) {
        const uint first = tile * ROWS;
#if XS
        barrier();
        [[unroll]] for (uint i = 0; i < kHeldX; ++i) {
            const uint j = i * THREADS + gl_LocalInvocationID.x;
            if (j < ROWS * kWidth / 8)
                pool[kX + j / (kWidth / 8) * kStride + j % (kWidth / 8)] = held_x[i];
        }
        if (tile + p.groups < tiles) HOLD_X(tile + p.groups)
#endif
#if TRAIN
        HalfSum target[MT * NT];
        [[unroll]] for (uint i = 0; i < MT * NT; ++i)
            LOAD(target[i], p.target.v,
                 (first + (m0 + i / NT) * T) * kWidth + (n0 + i % NT) * T, kWidth);
#endif
        Sum acc[MT * NT];
        [[unroll]] for (uint l = 0; l < kLayers; ++l) {
#if WEIGHTS == 0
            [[unroll]] for (uint i = 0; i < kWide * NT; ++i) now[i] = next[i];
            if (l + 1 < kLayers) {
                FETCH(next, l + 1)
            } else {
#if TRAIN
                FETCH_BACK(next, kLayers - 1)
#else
                FETCH(next, 0)
#endif
            }
#elif WEIGHTS == 5
            if (l + 1 < kLayers) HOLD(l + 1)
#endif
            barrier();
            [[unroll]] for (uint n = 0; n < NT; ++n) {
                Sum bias;
                LOAD(bias, pool, kBias + (l * kWidth + (n0 + n) * T) / 4, 0);
                [[unroll]] for (uint m = 0; m < MT; ++m) acc[m * NT + n] = bias;
            }
            if (l == 0) {
#if XS
#define A_X(a, m, k) LOAD(a, pool, kX + (m) * T * kStride + (k) * kEdge, kStride);
#else
#define A_X(a, m, k) LOAD(a, p.x.v, (first + (m) * T) * kWidth + (k) * T, kWidth);
#endif
                MULTIPLY(acc, A_X, B_FORWARD, 0)
            } else {
#define A_HIDDEN(a, m, k) LOAD(a, pool, hidden(l) + (m) * T * kStride + (k) * kEdge, kStride);
                MULTIPLY(acc, A_HIDDEN, B_FORWARD, l)
            }
            if (l + 1 < kLayers) {
                PUT(l + 1)
                [[unroll]] for (uint i = 0; i < MT * NT; ++i) {
                    HalfSum h = HalfSum(acc[i]);
                    [[unroll]] for (uint e = 0; e < h.length(); ++e) h[e] = max(h[e], float16_t(0));
                    STORE(h, pool,
                          hidden(l + 1) + (m0 + i / NT) * T * kStride + (n0 + i % NT) * kEdge,
                          kStride);
                }
            }
        }
#if TRAIN
        [[unroll]] for (uint i = 0; i < MT * NT; ++i) {
            const Sum error = acc[i] - Sum(target[i]);
            [[unroll]] for (uint e = 0; e < error.length(); ++e) loss += error[e] * error[e];
            const HalfSum d = HalfSum(error);
            STORE(d, pool,
                  delta_at(kLayers - 1) + (m0 + i / NT) * T * kStride + (n0 + i % NT) * kEdge,
                  kStride);
        }
        [[unroll]] for (uint back = 0; back < kLayers; ++back) {
            const uint l = kLayers - 1 - back;
#if WEIGHTS == 0
            [[unroll]] for (uint i = 0; i < kWide * NT; ++i) now[i] = next[i];
            if (l > 1) {
                FETCH_BACK(next, l - 1)
            } else if (l == 1) {
                FETCH(next, 0)
            }
#elif WEIGHTS == 5
            if (l > 0 && l < kLayers - 1) HOLD(l - 1)
#endif
            barrier();
#if !KEEP
            Sum g1[DW];
            [[unroll]] for (uint i = 0; i < DW; ++i) g1[i] = Sum(0.0);
#define GRAD(l, i) g1[i]
#else
#define GRAD(l, i) g[l][i]
#endif
            [[unroll]] for (uint m = 0; m < ROWS / T; ++m) {
                MatrixB d;
                LOAD(d, pool, delta_at(l) + m * T * kStride + dw_n * kEdge, kStride);
                [[unroll]] for (uint i = 0; i < DW; ++i) {
                    MatrixA a;
                    if (l > 0) {
                        LOAD_TRANSPOSED(a, pool, hidden(l) + m * T * kStride + (dw_k + i) * kEdge,
                                        kStride);
                    } else {
#if XS
                        LOAD_TRANSPOSED(a, pool, kX + m * T * kStride + (dw_k + i) * kEdge,
                                        kStride);
#else
                        LOAD_TRANSPOSED(a, p.x.v, (first + m * T) * kWidth + (dw_k + i) * T,
                                        kWidth);
#endif
                    }
                    GRAD(l, i) = MULTIPLY_ADD(a, d, GRAD(l, i));
                }
            }
            for (uint r = sg; r < ROWS; r += S)
                [[unroll]] for (uint i = 0; i < 32 / LANES; ++i) {
                    const uint word = gl_SubgroupInvocationID + i * LANES;
                    bias_gradient[l][i] +=
                        unpackHalf2x16(pool[delta_at(l) + r * kStride + word / 4][word % 4]);
                }
#if !KEEP
            [[unroll]] for (uint i = 0; i < DW; ++i) {
                g1[i] = g1[i] * scale;
                STORE(g1[i], p.partials.v,
                      partial + l * kLayerHalfs + (dw_k + i) * T * kWidth + dw_n * T, kWidth);
            }
#endif
            if (l > 0) {
                [[unroll]] for (uint i = 0; i < MT * NT; ++i) acc[i] = Sum(0.0);
#define A_DELTA(a, m, k) LOAD(a, pool, delta_at(l) + (m) * T * kStride + (k) * kEdge, kStride);
                MULTIPLY(acc, A_DELTA, B_BACK, l)
                if (DELTAS == 1) barrier();
                if (l < kLayers - 1) PUT(l - 1)
                [[unroll]] for (uint i = 0; i < MT * NT; ++i) {
                    const uint at = (m0 + i / NT) * T * kStride + (n0 + i % NT) * kEdge;
                    HalfSum h, d = HalfSum(acc[i]);
                    LOAD(h, pool, hidden(l) + at, kStride);
                    [[unroll]] for (uint e = 0; e < d.length(); ++e)
                        d[e] = h[e] > float16_t(0) ? d[e] : float16_t(0);
                    STORE(d, pool, delta_at(l - 1) + at, kStride);
                }
            }
        }
#else
#if XS
        barrier();
        [[unroll]] for (uint i = 0; i < MT * NT; ++i) {
            const HalfSum y = HalfSum(acc[i]);
            STORE(y, pool, kX + (m0 + i / NT) * T * kStride + (n0 + i % NT) * kEdge, kStride);
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < ROWS * kWidth / 8; i += THREADS)
            Uvec4s(p.y).v[first * kWidth / 8 + i] =
                pool[kX + i / (kWidth / 8) * kStride + i % (kWidth / 8)];
#else
        [[unroll]] for (uint i = 0; i < MT * NT; ++i) {
            const HalfSum y = HalfSum(acc[i]);
            STORE(y, p.y.v, (first + (m0 + i / NT) * T) * kWidth + (n0 + i % NT) * T, kWidth);
        }
#endif
#endif
    }
#if TRAIN
#if KEEP
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < DW; ++i) {
            g[l][i] = g[l][i] * scale;
            STORE(g[l][i], p.partials.v,
                  partial + l * kLayerHalfs + (dw_k + i) * T * kWidth + dw_n * T, kWidth);
        }
#endif
    barrier();
    // Sums of subgroups, as floats: [subgroup][layer][column], then the loss of each thread.
#define SUM(i) pool[(i) / 4][(i) % 4]
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < 32 / LANES; ++i) {
            const uint at =
                (sg * kLayers + l) * kWidth + 2 * (gl_SubgroupInvocationID + i * LANES);
            SUM(at) = floatBitsToUint(bias_gradient[l][i].x);
            SUM(at + 1) = floatBitsToUint(bias_gradient[l][i].y);
        }
    const uint kLoss = S * kLayers * kWidth;
    SUM(kLoss + gl_LocalInvocationID.x) = floatBitsToUint(loss);
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < kLayers * kWidth; i += THREADS) {
        float sum = 0;
        for (uint s = 0; s < S; ++s) sum += uintBitsToFloat(SUM(s * kLayers * kWidth + i));
        p.partials.v[partial + i / kWidth * kLayerHalfs + kWidth * kWidth + i % kWidth] =
            sum * scale;
    }
    for (uint half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        const uint i = kLoss + gl_LocalInvocationID.x;
        if (gl_LocalInvocationID.x < half_size)
            SUM(i) = floatBitsToUint(uintBitsToFloat(SUM(i)) + uintBitsToFloat(SUM(i + half_size)));
        barrier();
    }
    if (gl_LocalInvocationID.x == 0)
        p.loss_partials.v[gl_WorkGroupID.x] =
            uintBitsToFloat(SUM(kLoss)) / (float(p.rows) * float(kWidth));
#endif
}
