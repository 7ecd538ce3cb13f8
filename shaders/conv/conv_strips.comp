// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like conv_tiled.comp, for few channels and large images: all weights, and the part of
// x that a tile's windows cover, fit in shared memory.
//
// Each workgroup computes tiles of STRIPS * PY x LANES * 4 pixels for GROUPS * TURNS * OC output
// channels.  A thread sums PY rows of four pixels by OC channels, TURNS times: what it reads of a
// row of x serves all of the window's columns, and four results are one store.  f32 sums in a fixed
// order.
// Bytes moved: x (1 + halo) * OUT / (GROUPS * TURNS * OC) times, y once.

const int kTaps = TAPS_Y * TAPS_X;
const int kDepth = CHANNELS * kTaps;
const int kPlane = SIZE_Y * SIZE_X;
const int kTileY = STRIPS * PY, kTileX = LANES * 4;
const int kPatchY = (kTileY - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kPatchX = (kTileX - 1) * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;
// Rows of the patch begin at a multiple of four of x, SHIFT before the first window.
const int kPitch = (SHIFT + kPatchX + 3) / 4;  // vectors
const int kPatch = CHANNELS * kPatchY * kPitch;
const int kRows = (PY - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kSpan = 3 * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;  // elements
// Behind these of a thread's elements of a row there is no whole vector.
const int kWhole = (SHIFT + kSpan) / 4 * 4 - SHIFT;
const int kTilesX = (COUNT_X + kTileX - 1) / kTileX, kTilesY = (COUNT_Y + kTileY - 1) / kTileY;
const int kTileOut = GROUPS * TURNS * OC;
const int kThreads = LANES * STRIPS * GROUPS;
const int kLoads = (kPatch + kThreads - 1) / kThreads;

shared vec4 patch_of_x[kPatch];
shared vec4 weights[kDepth * kTileOut / 4];

void stage_weights(int first_out) {
    for (int e = int(gl_LocalInvocationIndex); e < kDepth * kTileOut; e += kThreads) {
        const int o = min(first_out + e % kTileOut, OUT - 1), k = e / kTileOut;
        weights[e / 4][e % 4] = in1(o * kDepth + k);
    }
}

// Four elements of x from a multiple of four on, at patch element e.
vec4 four_of_x(int image, int y, int x, int e) {
    const int c = e / (kPatchY * kPitch), at = e % (kPatchY * kPitch);
    const int sy = y + at / kPitch, sx = x + at % kPitch * 4;
    const int from = (image * CHANNELS + c) * kPlane + sy * SIZE_X + sx;
    const bool has_row = uint(sy) < uint(SIZE_Y) && e < kPatch;
#if LOADS_FOUR
    return has_row && uint(sx) < uint(SIZE_X) ? in0_four(from) : vec4(0.0);
#else
    vec4 four;
    [[unroll]] for (int i = 0; i < 4; ++i)
        four[i] = has_row && uint(sx + i) < uint(SIZE_X) ? in0(from + i) : 0.0;
    return four;
#endif
}

// All loads are on their way before the first is waited for.
void stage_x(int image, int y, int x) {
    const int thread = int(gl_LocalInvocationIndex);
    vec4 held[kLoads];
    [[unroll]] for (int u = 0; u < kLoads; ++u)
        held[u] = four_of_x(image, y, x, thread + u * kThreads);
    barrier();
    [[unroll]] for (int u = 0; u < kLoads; ++u)
        if (thread + u * kThreads < kPatch) patch_of_x[thread + u * kThreads] = held[u];
    barrier();
}

void store_row(int image, int o, int y, int x, vec4 v) {
    if (o >= OUT || y >= COUNT_Y || x >= COUNT_X) return;
#if STORES_FOUR
    STORE_FOUR(image, o, y, x, v);
#else
    [[unroll]] for (int e = 0; e < 4; ++e)
        if (x + e < COUNT_X) STORE(image, o, y, x + e, v[e]);
#endif
}

void main() {
    const int thread = int(gl_LocalInvocationIndex);
    const int lane = thread % LANES, strip = thread / LANES % STRIPS * PY;
    const int group = thread / (LANES * STRIPS);
    const int first_out = int(gl_WorkGroupID.y) * kTileOut;
    stage_weights(first_out);
    const int tiles = in0_dim0 * kTilesY * kTilesX;
    for (int tile = int(gl_WorkGroupID.x); tile < tiles; tile += int(gl_NumWorkGroups.x)) {
        const int image = tile / (kTilesY * kTilesX), at = tile % (kTilesY * kTilesX);
        const int first_y = at / kTilesX * kTileY, first_x = at % kTilesX * kTileX;
        stage_x(image, first_y * STRIDE_Y - LOW_Y, first_x * STRIDE_X - LOW_X - SHIFT);
        for (int turn = 0; turn < TURNS; ++turn) {
            const int block = (group * TURNS + turn) * OC;
            vec4 sum[OC][PY];
            [[unroll]] for (int j = 0; j < OC; ++j)
                [[unroll]] for (int i = 0; i < PY; ++i) sum[j][i] = vec4(0.0);
            for (int c = 0; c < CHANNELS; ++c) {
                float xs[kRows][kSpan];
                const int from = (c * kPatchY + strip * STRIDE_Y) * kPitch + lane * STRIDE_X;
                [[unroll]] for (int r = 0; r < kRows; ++r) {
                    [[unroll]] for (int i = 0; i < kSpan; ++i) {
                        const int e = SHIFT + i, v = from + r * kPitch + e / 4;
                        if (e % 4 == 0 && i + 3 < kSpan) {
                            const vec4 four = patch_of_x[v];
                            xs[r][i] = four.x;
                            xs[r][i + 1] = four.y;
                            xs[r][i + 2] = four.z;
                            xs[r][i + 3] = four.w;
                        } else if (i < (4 - SHIFT) % 4 || i >= kWhole) {
                            xs[r][i] = patch_of_x[v][e % 4];
                        }
                    }
                }
                [[unroll]] for (int k = 0; k < kTaps; ++k) {
                    const int row = k / TAPS_X * DILATION_Y, column = k % TAPS_X * DILATION_X;
                    [[unroll]] for (int j = 0; j < OC; j += 4) {
                        const vec4 w = weights[(c * kTaps + k) * (kTileOut / 4) + (block + j) / 4];
                        [[unroll]] for (int i = 0; i < PY; ++i) {
                            const int r = i * STRIDE_Y + row;
                            const vec4 v = vec4(xs[r][column], xs[r][column + STRIDE_X],
                                                xs[r][column + 2 * STRIDE_X],
                                                xs[r][column + 3 * STRIDE_X]);
                            [[unroll]] for (int e = 0; e < 4; ++e) sum[j + e][i] += w[e] * v;
                        }
                    }
                }
            }
            const int y = first_y + strip, x = first_x + 4 * lane;
            [[unroll]] for (int j = 0; j < OC; ++j)
                [[unroll]] for (int i = 0; i < PY; ++i)
                    store_row(image, first_out + block + j, y + i, x, sum[j][i]);
        }
    }
}
