#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Row program of a five-layer network: one workgroup carries a tile of ROWS rows through forward,
// mean squared error and backward; activations stay in registers, the operands of the current
// product in shared memory.
//
//   x, target: [rows, 64]; y: [rows, 64] (inference only); all accumulation in f32.
//   Weight gradients: one partial sum per workgroup, [groups][20800 floats], to be added in a fixed
//   order by reduce_adam.comp. A workgroup takes tiles group, group + groups, ...
//   Bytes moved: 512 per row, 83,200 of weights per tile (cached), 83,200 of partials per group.
//
// Defines: ROWS, THREADS   tile shape; shared memory is 16 to 32 KB
//          TRAIN           1 forward + loss + backward, 0 forward only
//          KEEP            1 weight gradients stay in registers from tile to tile,
//                          0 they are added to the group's partial sum after each tile
//          STAGE           1 weights are copied to shared memory, 2 likewise, but fetched into
//                          registers during the product before; 0 read through the cache

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

#define TR (ROWS * 16 / THREADS)  // rows of a product held by a thread (by 4 columns)
#define TK (1024 / THREADS)       // rows of a weight gradient held by a thread (by 4 columns)

layout(local_size_x = THREADS) in;

layout(push_constant) uniform Push {
    ReadVec4s x;
    ReadVec4s target;
    ReadVec4s weights;    // w[in][out]
    ReadVec4s weights_t;  // w[out][in], kept up to date by the optimizer
    Vec4s partials;
    Vec4s y;
    Floats loss_partials;
    State state;
    uint rows;
    uint groups;
} p;

// Shared memory, in vec4s. At 64 rows the backward weights take the activations' place.
const uint kTile = ROWS * 16;
const uint kAct = 0;
#if STAGE
const uint kForwardWeights = ROWS == 64 || !bool(TRAIN) ? kTile : 2 * kTile;
const uint kDelta = ROWS == 64 ? 1024 : kTile;
const uint kBackwardWeights = ROWS == 64 ? 0 : kForwardWeights;
shared vec4 pool[kForwardWeights + 1024];
#else
const uint kDelta = kTile;
shared vec4 pool[TRAIN == 1 ? 2 * kTile : kTile];
#endif

#define column (gl_LocalInvocationID.x % 16)  // of vec4s
#define lane_row (gl_LocalInvocationID.x / 16)

// Rows held by different threads of a subgroup fall into different banks.
uint slot(uint row, uint column4) { return row * 16 + (column4 ^ ((row / TR) & 7)); }

#if STAGE
#define STAGED (1024 / THREADS)  // vec4s of a weight matrix copied by a thread
vec4 staged[STAGED];

void fetch_weights(ReadVec4s w, uint layer) {
    [[unroll]] for (uint i = 0; i < STAGED; ++i)
        staged[i] = w.v[layer * kLayerVec4s + i * THREADS + gl_LocalInvocationID.x];
}

void stage_weights(uint base) {
    [[unroll]] for (uint i = 0; i < STAGED; ++i)
        pool[base + i * THREADS + gl_LocalInvocationID.x] = staged[i];
}
#endif
#if STAGE == 0
#define STAGE_WEIGHTS(buffer, layer, base)
#define FETCH_NEXT(buffer, layer)
#elif STAGE == 1
#define STAGE_WEIGHTS(buffer, layer, base) fetch_weights(buffer, layer); stage_weights(base);
#define FETCH_NEXT(buffer, layer)
#else
#define STAGE_WEIGHTS(buffer, layer, base) stage_weights(base);
#define FETCH_NEXT(buffer, layer) fetch_weights(buffer, layer);
#endif

#if STAGE
#define WEIGHT(buffer, layer, base, k) pool[(base) + (k) * 16 + column]
#else
#define WEIGHT(buffer, layer, base, k) (buffer).v[(layer) * kLayerVec4s + (k) * 16 + column]
#endif

// acc[TR] += pool[source] * weights
#define MULTIPLY(acc, source, buffer, layer, base)                                           \
    for (uint k4 = 0; k4 < 16; ++k4) {                                                       \
        vec4 a[TR];                                                                          \
        [[unroll]] for (uint i = 0; i < TR; ++i) a[i] = pool[(source) + slot(lane_row * TR + i, k4)]; \
        [[unroll]] for (uint j = 0; j < 4; ++j) {                                            \
            const vec4 w = WEIGHT(buffer, layer, base, k4 * 4 + j);                          \
            [[unroll]] for (uint i = 0; i < TR; ++i) acc[i] = fma(vec4(a[i][j]), w, acc[i]); \
        }                                                                                    \
    }

#define STORE_TILE(base, value)                                                              \
    [[unroll]] for (uint i = 0; i < TR; ++i) pool[(base) + slot(lane_row * TR + i, column)] = value[i];

// h_out = activation(h_in * W + b)
#define FORWARD(layer, h_in, h_out, last)                                                    \
    {                                                                                        \
        barrier();                                                                           \
        STORE_TILE(kAct, h_in)                                                               \
        STAGE_WEIGHTS(p.weights, layer, FORWARD_BASE)                                        \
        barrier();                                                                           \
        if (!(last)) {                                                                       \
            FETCH_NEXT(p.weights, (layer) + 1)                                               \
        } else if (bool(TRAIN)) {                                                            \
            FETCH_NEXT(p.weights_t, layer)                                                   \
        } else {                                                                             \
            FETCH_NEXT(p.weights, 0)                                                         \
        }                                                                                    \
        const vec4 bias = p.weights.v[(layer) * kLayerVec4s + 1024 + column];                \
        [[unroll]] for (uint i = 0; i < TR; ++i) h_out[i] = bias;                            \
        MULTIPLY(h_out, kAct, p.weights, layer, FORWARD_BASE)                                \
        if (!(last)) { [[unroll]] for (uint i = 0; i < TR; ++i) h_out[i] = max(h_out[i], vec4(0)); } \
    }
#if STAGE
#define FORWARD_BASE kForwardWeights
#define BACKWARD_BASE kBackwardWeights
#else
#define FORWARD_BASE 0
#define BACKWARD_BASE 0
#endif

// Adds this tile's gradient of one layer to `g`: g[k][n] += sum over rows of h_in[r][k] delta[r][n].
#define WEIGHT_GRADIENT(layer, g)                                                            \
    {                                                                                        \
        vec4 bias_gradient = vec4(0);                                                        \
        for (uint r = 0; r < ROWS; ++r) {                                                    \
            const vec4 d = pool[kDelta + slot(r, column)];                                   \
            bias_gradient += d;                                                              \
            LOAD_AND_ADD(g, d)                                                               \
        }                                                                                    \
        const uint at = gl_WorkGroupID.x * kParamVec4s + (layer) * kLayerVec4s;              \
        if (lane_row == 0) {                                                                 \
            if (!first) bias_gradient += p.partials.v[at + 1024 + column];                   \
            p.partials.v[at + 1024 + column] = bias_gradient;                                \
        }                                                                                    \
    }
#if TK >= 4
#define LOAD_AND_ADD(g, d)                                                                   \
    [[unroll]] for (uint i4 = 0; i4 < TK / 4; ++i4) {                                        \
        const vec4 a = pool[kAct + slot(r, lane_row * (TK / 4) + i4)];                       \
        [[unroll]] for (uint j = 0; j < 4; ++j) g[i4 * 4 + j] = fma(vec4(a[j]), d, g[i4 * 4 + j]); \
    }
#else
#error "at most 256 threads"
#endif

#define STORE_GRADIENT(layer, g, add)                                                        \
    [[unroll]] for (uint i = 0; i < TK; ++i) {                                               \
        const uint at = gl_WorkGroupID.x * kParamVec4s + (layer) * kLayerVec4s +             \
                        (lane_row * TK + i) * 16 + column;                                   \
        p.partials.v[at] = (add) ? p.partials.v[at] + g[i] : g[i];                           \
    }

#if KEEP
#define GRADIENT(layer) WEIGHT_GRADIENT(layer, g##layer)
#else
#define GRADIENT(layer)                                                                      \
    {                                                                                        \
        vec4 g[TK];                                                                          \
        [[unroll]] for (uint i = 0; i < TK; ++i) g[i] = vec4(0);                             \
        WEIGHT_GRADIENT(layer, g)                                                            \
        STORE_GRADIENT(layer, g, !first)                                                     \
    }
#endif

// What follows layer's backward weights: the layer before, or the next tile's first layer.
#define FETCH_AFTER(layer)                                                                   \
    if ((layer) > 1) {                                                                       \
        FETCH_NEXT(p.weights_t, (layer) - 1)                                                 \
    } else {                                                                                 \
        FETCH_NEXT(p.weights, 0)                                                             \
    }

// From delta, the gradient of this layer's output, to the layer's gradients and, through the relu
// before it, to the gradient of the previous layer's output.
#define BACKWARD(layer, h_in)                                                                \
    {                                                                                        \
        barrier();                                                                           \
        STORE_TILE(kAct, h_in)                                                               \
        STORE_TILE(kDelta, delta)                                                            \
        if (ROWS < 64 && (layer) > 0) {                                                      \
            STAGE_WEIGHTS(p.weights_t, layer, BACKWARD_BASE)                                 \
            FETCH_AFTER(layer)                                                               \
        }                                                                                    \
        barrier();                                                                           \
        GRADIENT(layer)                                                                      \
        if ((layer) > 0) {                                                                   \
            if (ROWS == 64 && bool(STAGE)) {                                                 \
                barrier();                                                                   \
                STAGE_WEIGHTS(p.weights_t, layer, BACKWARD_BASE)                             \
                FETCH_AFTER(layer)                                                           \
                barrier();                                                                   \
            }                                                                                \
            [[unroll]] for (uint i = 0; i < TR; ++i) delta[i] = vec4(0);                     \
            MULTIPLY(delta, kDelta, p.weights_t, layer, BACKWARD_BASE)                       \
            [[unroll]] for (uint i = 0; i < TR; ++i)                                         \
                delta[i] = mix(vec4(0), delta[i], greaterThan(h_in[i], vec4(0)));            \
        }                                                                                    \
    }

void main() {
    const uint tiles = (p.rows + ROWS - 1) / ROWS;
#if TRAIN
    float loss = 0;
#if KEEP
    vec4 g0[TK], g1[TK], g2[TK], g3[TK], g4[TK];
    [[unroll]] for (uint i = 0; i < TK; ++i) g0[i] = g1[i] = g2[i] = g3[i] = g4[i] = vec4(0);
#endif
    bool first = true;
    // Nothing else in this dispatch touches the counter; the optimizer reads it after a barrier.
    if (gl_GlobalInvocationID.x == 0) p.state.step += 1;
#endif
    FETCH_NEXT(p.weights, 0)
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.groups) {
        const uint first_row = tile * ROWS + lane_row * TR;
        vec4 x[TR], h1[TR], h2[TR], h3[TR], h4[TR], y[TR];
        [[unroll]] for (uint i = 0; i < TR; ++i) {
            const uint row = first_row + i;
            x[i] = row < p.rows ? p.x.v[row * 16 + column] : vec4(0);
        }
        FORWARD(0, x, h1, false)
        FORWARD(1, h1, h2, false)
        FORWARD(2, h2, h3, false)
        FORWARD(3, h3, h4, false)
        FORWARD(4, h4, y, true)
#if TRAIN
        vec4 delta[TR];
        const float scale = 2.0 / (float(p.rows) * float(kWidth));
        [[unroll]] for (uint i = 0; i < TR; ++i) {
            const uint row = first_row + i;
            vec4 error = row < p.rows ? y[i] - p.target.v[row * 16 + column] : vec4(0);
            loss += dot(error, error);
            delta[i] = error * scale;
        }
        BACKWARD(4, h4)
        BACKWARD(3, h3)
        BACKWARD(2, h2)
        BACKWARD(1, h1)
        BACKWARD(0, x)
        first = false;
#else
        [[unroll]] for (uint i = 0; i < TR; ++i)
            if (first_row + i < p.rows) p.y.v[(first_row + i) * 16 + column] = y[i];
#endif
    }
#if TRAIN
#if KEEP
    STORE_GRADIENT(0, g0, false)
    STORE_GRADIENT(1, g1, false)
    STORE_GRADIENT(2, g2, false)
    STORE_GRADIENT(3, g3, false)
    STORE_GRADIENT(4, g4, false)
#endif
    barrier();
    pool[gl_LocalInvocationID.x].x = loss;
    barrier();
    for (uint half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        if (gl_LocalInvocationID.x < half_size)
            pool[gl_LocalInvocationID.x].x += pool[gl_LocalInvocationID.x + half_size].x;
        barrier();
    }
    if (gl_LocalInvocationID.x == 0)
        p.loss_partials.v[gl_WorkGroupID.x] = pool[0].x / (float(p.rows) * float(kWidth));
#endif
}
