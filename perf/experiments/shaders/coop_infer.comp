#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Inference on matrix cores with activations in registers: a subgroup carries MT * 16 rows through
// all layers.  The sums of a layer become the next one's factors by a conversion, which only
// GL_NV_cooperative_matrix has.  Weights are staged once in shared memory.
//
// Defines: S       subgroups
//          MT      matrices of rows of a subgroup
//          W32     weights are read as f32
//          AHEAD   the next tile's x is loaded before this one is worked on
//          LOOP    a loop over the layers, instead of code for each
//          BIAS    0: none is added
//          DEPTH   5; another number of layers computes nothing useful, but tells what one costs

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#define KHR 0
#define T 16
#include "coop.glsl"

#define THREADS (S * 32)
layout(local_size_x = THREADS) in;

layout(push_constant) uniform Push {
    ReadHalfs x;
    ReadHalfs target;
    ReadFloats weights;
    ReadHalfs weights_h;
    Floats partials;
    Halfs y;
    Floats loss_partials;
    State state;
    uint rows;
    uint groups;
} p;

const uint kBias = kLayers * kWidth * kStride;
shared uvec4 pool[kBias + kLayers * kWidth / 4];

#if LOOP
#define LAYERS [[dont_unroll]]
#else
#define LAYERS [[unroll]]
#endif

#define LOAD_X(a, tile)                                       \
    [[unroll]] for (uint m = 0; m < MT; ++m)                  \
        [[unroll]] for (uint k = 0; k < kWide; ++k)           \
            LOAD(a[m][k], p.x.v, ((tile) * MT + m) * T * kWidth + k * T, kWidth);

void main() {
    const uint tiles = p.rows / (MT * T), step = p.groups * S;
    uint tile = gl_WorkGroupID.x * S + gl_SubgroupID;
    MatrixA a[MT][kWide], next[MT][kWide];
    if (tile < tiles) LOAD_X(next, tile)
    [[unroll]] for (uint i0 = 0; i0 < kLayers * kWidth * kWidth / 8; i0 += THREADS) {
        const uint i = i0 + gl_LocalInvocationID.x;
        const uint layer = i / (kWidth * kWidth / 8), j = i % (kWidth * kWidth / 8);
        const uint to = (layer * kWidth + j / (kWidth / 8)) * kStride + j % (kWidth / 8);
#if W32
        ReadVec4s from = ReadVec4s(p.weights);
        pool[to] = to_halfs(from.v[layer * kLayerVec4s + 2 * j],
                            from.v[layer * kLayerVec4s + 2 * j + 1]);
#else
        pool[to] = ReadUvec4s(p.weights_h).v[layer * kLayerHalfs / 8 + j];
#endif
    }
    for (uint i = gl_LocalInvocationID.x; i < kLayers * kWidth / 4; i += THREADS)
        pool[kBias + i] = ReadUvec4s(p.weights)
                              .v[i / (kWidth / 4) * kLayerVec4s + 1024 + i % (kWidth / 4)];
    barrier();
    for (; tile < tiles; tile += step) {
        [[unroll]] for (uint m = 0; m < MT; ++m)
            [[unroll]] for (uint k = 0; k < kWide; ++k) a[m][k] = next[m][k];
#if AHEAD
        if (tile + step < tiles) LOAD_X(next, tile + step)
#endif
        LAYERS for (uint depth = 0; depth < DEPTH; ++depth) {
            const uint l = depth % kLayers;
            Sum acc[MT][kWide];
            [[unroll]] for (uint n = 0; n < kWide; ++n) {
#if BIAS
                Sum bias;
                LOAD(bias, pool, kBias + (l * kWidth + n * T) / 4, 0);
#else
                const Sum bias = Sum(0.0);
#endif
                [[unroll]] for (uint m = 0; m < MT; ++m) acc[m][n] = bias;
            }
            [[unroll]] for (uint k = 0; k < kWide; ++k)
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    MatrixB b;
                    LOAD(b, pool, (l * kWidth + k * T) * kStride + n * kEdge, kStride);
                    [[unroll]] for (uint m = 0; m < MT; ++m)
                        acc[m][n] = MULTIPLY_ADD(a[m][k], b, acc[m][n]);
                }
            const float16_t least = depth + 1 < DEPTH ? float16_t(0) : float16_t(-65504);
            [[unroll]] for (uint m = 0; m < MT; ++m)
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    a[m][n] = MatrixA(acc[m][n]);
                    [[unroll]] for (uint e = 0; e < a[m][n].length(); ++e) a[m][n][e] = max(a[m][n][e], least);
                }
        }
        [[unroll]] for (uint m = 0; m < MT; ++m)
            [[unroll]] for (uint n = 0; n < kWide; ++n)
                STORE(a[m][n], p.y.v, (tile * MT + m) * T * kWidth + n * T, kWidth);
#if !AHEAD
        if (tile + step < tiles) LOAD_X(next, tile + step)
#endif
    }
}
