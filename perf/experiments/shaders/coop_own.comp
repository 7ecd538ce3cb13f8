#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Training on matrix cores with activations in registers: a subgroup carries its own T rows forward
// and back, and no layer waits for other subgroups.  They meet once a layer on the way back: inputs
// and gradients of all rows lie in shared memory then, and each subgroup adds up its matrices of the
// weight gradient, which stay in registers from tile to tile.  Going forward all weights lie in
// shared memory; going back one layer's do, in the place of the last layer's.
//
// Defines: S      subgroups
//          W32    weights are read as f32
//          XKEEP  x stays in registers; else it is read again for its gradient

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "coop.glsl"

#define THREADS (S * LANES)
layout(local_size_x = THREADS) in;

layout(push_constant) uniform Push {
    ReadHalfs x;
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

const uint kRows = S * T;
const uint kPlace = kWidth * kStride;      // one layer's weights
const uint kExchange = kRows * kStride;    // rows of one value
const uint kLast = max((kLayers - 1) * kPlace, 2 * kExchange);  // the last layer's
const uint kBias = kLast + kPlace;
const uint kOwn = kBias + kLayers * kWidth / 4;  // KHR: T rows of each subgroup
const uint kReduce = S * kLayers * kWidth / 4 + THREADS / 4;
shared uvec4 pool[max(kOwn + (KHR == 1 ? kRows * kStride : 0), kReduce)];

#define sg gl_SubgroupID
#define WEIGHTS_AT(layer) ((layer) == kLayers - 1 ? kLast : (layer) * kPlace)
const uint DW = kWide * kWide / S;
#define dw_n (sg % kWide)
#define dw_k (sg / kWide * DW)

#if KHR
#define AS_LEFT(a, half_sums)                                                              \
    {                                                                                      \
        subgroupBarrier();                                                                 \
        [[unroll]] for (uint k = 0; k < kWide; ++k)                                        \
            STORE(half_sums[k], pool, kOwn + sg * T * kStride + k * kEdge, kStride);       \
        subgroupBarrier();                                                                 \
        [[unroll]] for (uint k = 0; k < kWide; ++k)                                        \
            LOAD(a[k], pool, kOwn + sg * T * kStride + k * kEdge, kStride);                \
    }
#else
#define AS_LEFT(a, half_sums) \
    [[unroll]] for (uint k = 0; k < kWide; ++k) a[k] = half_sums[k];
#endif

uvec4 weights_at(uint layer, uint j) {
#if W32
    ReadVec4s from = ReadVec4s(p.weights);
    return to_halfs(from.v[layer * kLayerVec4s + 2 * j], from.v[layer * kLayerVec4s + 2 * j + 1]);
#else
    return ReadUvec4s(p.weights_h).v[layer * kLayerHalfs / 8 + j];
#endif
}

const uint kHeld = kWidth * kWidth / 8 / THREADS;
#define HOLD(layer)                                                                       \
    [[unroll]] for (uint i = 0; i < kHeld; ++i)                                           \
        held[i] = weights_at(layer, i * THREADS + gl_LocalInvocationID.x);
#define PUT(place)                                                                        \
    [[unroll]] for (uint i = 0; i < kHeld; ++i) {                                         \
        const uint j = i * THREADS + gl_LocalInvocationID.x;                              \
        pool[(place) + j / (kWidth / 8) * kStride + j % (kWidth / 8)] = held[i];          \
    }

void main() {
    const uint tiles = p.rows / kRows;
    for (uint i = gl_LocalInvocationID.x; i < kLayers * kWidth / 4; i += THREADS)
        pool[kBias + i] = ReadUvec4s(p.weights)
                              .v[i / (kWidth / 4) * kLayerVec4s + 1024 + i % (kWidth / 4)];
    float loss = 0;
    vec2 bias_gradient[kLayers][32 / LANES];  // two columns each
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < 32 / LANES; ++i) bias_gradient[l][i] = vec2(0);
    Sum g[kLayers][DW];
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < DW; ++i) g[l][i] = Sum(0.0);
    if (gl_GlobalInvocationID.x == 0) p.state.step += 1;
    const float scale = 2.0 / (float(p.rows) * float(kWidth));
    const uint partial = gl_WorkGroupID.x * kLayers * kLayerHalfs;

    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.groups) {
        const uint first = (tile * S + sg) * T;
        HalfSum h[kLayers][kWide];  // the inputs of each layer
        [[unroll]] for (uint k = 0; k < kWide; ++k)
            LOAD(h[0][k], p.x.v, first * kWidth + k * T, kWidth);
        barrier();
        {
            uvec4 held[kHeld];
            [[unroll]] for (uint l = 0; l < kLayers; ++l) {
                HOLD(l)
                PUT(WEIGHTS_AT(l))
            }
        }
        barrier();
        HalfSum delta[kWide];
        [[unroll]] for (uint l = 0; l < kLayers; ++l) {
            Sum acc[kWide];
            [[unroll]] for (uint n = 0; n < kWide; ++n)
                LOAD(acc[n], pool, kBias + (l * kWidth + n * T) / 4, 0);
            MatrixA a[kWide];
            AS_LEFT(a, h[l])
            [[unroll]] for (uint k = 0; k < kWide; ++k)
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    MatrixB b;
                    LOAD(b, pool, WEIGHTS_AT(l) + k * T * kStride + n * kEdge, kStride);
                    acc[n] = MULTIPLY_ADD(a[k], b, acc[n]);
                }
            if (l + 1 < kLayers) {
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    h[l + 1][n] = HalfSum(acc[n]);
                    [[unroll]] for (uint e = 0; e < h[l + 1][n].length(); ++e)
                        h[l + 1][n][e] = max(h[l + 1][n][e], float16_t(0));
                }
            } else {
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    HalfSum target;
                    LOAD(target, p.target.v, first * kWidth + n * T, kWidth);
                    const Sum error = acc[n] - Sum(target);
                    [[unroll]] for (uint e = 0; e < error.length(); ++e)
                        loss += error[e] * error[e];
                    delta[n] = HalfSum(error);
                }
            }
        }
        barrier();  // the exchange lies where weights did
        [[unroll]] for (uint back = 0; back < kLayers; ++back) {
            const uint l = kLayers - 1 - back;
            uvec4 held[kHeld];
            if (l > 1) HOLD(l - 1)
            const uint own = sg * T * kStride;
#if !XKEEP
            if (l == 0) [[unroll]] for (uint k = 0; k < kWide; ++k)
                LOAD(h[0][k], p.x.v, first * kWidth + k * T, kWidth);
#endif
            [[unroll]] for (uint k = 0; k < kWide; ++k) {
                STORE(h[l][k], pool, own + k * kEdge, kStride);
                STORE(delta[k], pool, kExchange + own + k * kEdge, kStride);
            }
            if (l > 0) {
                Sum acc[kWide];
                [[unroll]] for (uint n = 0; n < kWide; ++n) acc[n] = Sum(0.0);
                MatrixA a[kWide];
                AS_LEFT(a, delta)
                [[unroll]] for (uint k = 0; k < kWide; ++k)
                    [[unroll]] for (uint n = 0; n < kWide; ++n) {
                        MatrixB b;
                        LOAD_TRANSPOSED(b, pool, kLast + n * T * kStride + k * kEdge, kStride);
                        acc[n] = MULTIPLY_ADD(a[k], b, acc[n]);
                    }
                [[unroll]] for (uint n = 0; n < kWide; ++n) {
                    delta[n] = HalfSum(acc[n]);
                    [[unroll]] for (uint e = 0; e < delta[n].length(); ++e)
                        delta[n][e] = h[l][n][e] > float16_t(0) ? delta[n][e] : float16_t(0);
                }
            }
            barrier();
            if (l > 1) PUT(kLast)
            [[unroll]] for (uint m = 0; m < S; ++m) {
                MatrixB d;
                LOAD(d, pool, kExchange + m * T * kStride + dw_n * kEdge, kStride);
                [[unroll]] for (uint i = 0; i < DW; ++i) {
                    MatrixA a;
                    LOAD_TRANSPOSED(a, pool, m * T * kStride + (dw_k + i) * kEdge, kStride);
                    g[l][i] = MULTIPLY_ADD(a, d, g[l][i]);
                }
            }
            [[unroll]] for (uint r = 0; r < T; ++r)
                [[unroll]] for (uint i = 0; i < 32 / LANES; ++i) {
                    const uint word = gl_SubgroupInvocationID + i * LANES;
                    bias_gradient[l][i] += unpackHalf2x16(
                        pool[kExchange + own + r * kStride + word / 4][word % 4]);
                }
            barrier();
        }
    }
    [[unroll]] for (uint l = 0; l < kLayers; ++l)
        [[unroll]] for (uint i = 0; i < DW; ++i) {
            g[l][i] = g[l][i] * scale;
            STORE(g[l][i], p.partials.v,
                  partial + l * kLayerHalfs + (dw_k + i) * T * kWidth + dw_n * T, kWidth);
        }
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
}
