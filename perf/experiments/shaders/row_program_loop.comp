#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Row program as in row_program.comp, but with loops over the layers instead of code per layer: the
// activations that the backward pass needs stay in shared memory, where a loop can index them. An
// eighth of the code; at most 16 rows per tile.
//
// Defines: ROWS, THREADS   tile shape
//          TRAIN           1 forward + loss + backward, 0 forward only

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

const uint kTile = ROWS * 16;                   // vec4s
const uint kStagedRows = ROWS > 8 ? 32 : 64;    // of a weight matrix, in shared memory at a time
shared vec4 acts[(TRAIN == 1 ? kLayers : 2) * kTile];  // each layer's input
shared vec4 delta[kTile];
shared vec4 staged[kStagedRows * 16];

#define column (gl_LocalInvocationID.x % 16)  // of vec4s
#define lane_row (gl_LocalInvocationID.x / 16)

// Rows held by different threads of a subgroup fall into different banks.
uint slot(uint row, uint column4) { return row * 16 + (column4 ^ ((row / TR) & 7)); }

// acc[TR] += source * weights of the layer
#define MULTIPLY(acc, source, base, buffer, layer)                                           \
    for (uint k0 = 0; k0 < kWidth; k0 += kStagedRows) {                                      \
        barrier();                                                                           \
        for (uint i = gl_LocalInvocationID.x; i < kStagedRows * 16; i += THREADS)            \
            staged[i] = buffer.v[(layer) * kLayerVec4s + k0 * 16 + i];                       \
        barrier();                                                                           \
        for (uint k4 = 0; k4 < kStagedRows / 4; ++k4) {                                      \
            vec4 a[TR];                                                                      \
            [[unroll]] for (uint i = 0; i < TR; ++i)                                         \
                a[i] = source[(base) + slot(lane_row * TR + i, k0 / 4 + k4)];                \
            [[unroll]] for (uint j = 0; j < 4; ++j) {                                        \
                const vec4 w = staged[(k4 * 4 + j) * 16 + column];                           \
                [[unroll]] for (uint i = 0; i < TR; ++i)                                     \
                    acc[i] = fma(vec4(a[i][j]), w, acc[i]);                                  \
            }                                                                                \
        }                                                                                    \
    }

// Adds this tile's gradient of one layer to the group's partial sum.
void weight_gradient(uint layer, bool first) {
    vec4 g[TK];
    [[unroll]] for (uint i = 0; i < TK; ++i) g[i] = vec4(0);
    vec4 bias_gradient = vec4(0);
    for (uint r = 0; r < ROWS; ++r) {
        const vec4 d = delta[slot(r, column)];
        bias_gradient += d;
        [[unroll]] for (uint i4 = 0; i4 < TK / 4; ++i4) {
            const vec4 a = acts[layer * kTile + slot(r, lane_row * (TK / 4) + i4)];
            [[unroll]] for (uint j = 0; j < 4; ++j)
                g[i4 * 4 + j] = fma(vec4(a[j]), d, g[i4 * 4 + j]);
        }
    }
    const uint at = gl_WorkGroupID.x * kParamVec4s + layer * kLayerVec4s;
    [[unroll]] for (uint i = 0; i < TK; ++i) {
        const uint w = at + (lane_row * TK + i) * 16 + column;
        if (!first) g[i] += p.partials.v[w];
        p.partials.v[w] = g[i];
    }
    if (lane_row == 0) {
        if (!first) bias_gradient += p.partials.v[at + 1024 + column];
        p.partials.v[at + 1024 + column] = bias_gradient;
    }
}

void main() {
    const uint tiles = (p.rows + ROWS - 1) / ROWS;
    float loss = 0;
    bool first = true;
#if TRAIN
    // Nothing else in this dispatch touches the counter; the optimizer reads it after a barrier.
    if (gl_GlobalInvocationID.x == 0) p.state.step += 1;
#endif
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.groups) {
        const uint first_row = tile * ROWS + lane_row * TR;
        barrier();
        [[unroll]] for (uint i = 0; i < TR; ++i) {
            const uint row = first_row + i;
            acts[slot(lane_row * TR + i, column)] =
                row < p.rows ? p.x.v[row * 16 + column] : vec4(0);
        }
        vec4 acc[TR];
        for (uint layer = 0; layer < kLayers; ++layer) {
            const uint from = (TRAIN == 1 ? layer : layer % 2) * kTile;
            const uint to = (TRAIN == 1 ? layer + 1 : (layer + 1) % 2) * kTile;
            const vec4 bias = p.weights.v[layer * kLayerVec4s + 1024 + column];
            [[unroll]] for (uint i = 0; i < TR; ++i) acc[i] = bias;
            MULTIPLY(acc, acts, from, p.weights, layer)
            if (layer + 1 < kLayers) {
                [[unroll]] for (uint i = 0; i < TR; ++i)
                    acts[to + slot(lane_row * TR + i, column)] = max(acc[i], vec4(0));
            }
        }
#if TRAIN
        const float scale = 2.0 / (float(p.rows) * float(kWidth));
        [[unroll]] for (uint i = 0; i < TR; ++i) {
            const uint row = first_row + i;
            const vec4 error =
                row < p.rows ? acc[i] - p.target.v[row * 16 + column] : vec4(0);
            loss += dot(error, error);
            delta[slot(lane_row * TR + i, column)] = error * scale;
        }
        for (uint back = 0; back < kLayers; ++back) {
            const uint layer = kLayers - 1 - back;
            barrier();
            weight_gradient(layer, first);
            if (layer > 0) {
                [[unroll]] for (uint i = 0; i < TR; ++i) acc[i] = vec4(0);
                MULTIPLY(acc, delta, 0, p.weights_t, layer)
                barrier();
                [[unroll]] for (uint i = 0; i < TR; ++i) {
                    const uint at = slot(lane_row * TR + i, column);
                    delta[at] = mix(vec4(0), acc[i],
                                    greaterThan(acts[layer * kTile + at], vec4(0)));
                }
            }
        }
        first = false;
#else
        [[unroll]] for (uint i = 0; i < TR; ++i)
            if (first_row + i < p.rows) p.y.v[(first_row + i) * 16 + column] = acc[i];
#endif
    }
#if TRAIN
    barrier();
    acts[gl_LocalInvocationID.x].x = loss;
    barrier();
    for (uint half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        if (gl_LocalInvocationID.x < half_size)
            acts[gl_LocalInvocationID.x].x += acts[gl_LocalInvocationID.x + half_size].x;
        barrier();
    }
    if (gl_LocalInvocationID.x == 0)
        p.loss_partials.v[gl_WorkGroupID.x] = acts[0].x / (float(p.rows) * float(kWidth));
#endif
}
