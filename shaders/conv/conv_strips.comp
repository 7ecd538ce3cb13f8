// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like conv_tiled.comp, for few channels and large images: all weights fit in shared
// memory; what a thread's windows cover of x fits in its registers (X_HELD), or what a tile's cover in
// shared memory.
//
// Each workgroup computes tiles of STRIPS * PY x LANES * 4 pixels for GROUPS * TURNS * OC output
// channels.  A thread sums PY rows of four pixels by OC channels, TURNS times: what it reads of a
// row of x serves all of the window's columns, and four results are one store.  f32 sums in a fixed
// order.
// Bytes moved: x (1 + halo) * OUT / (GROUPS * TURNS * OC) times, y once.

#extension GL_EXT_control_flow_attributes : require

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

#if OC % 4 == 0
#define Weights vec4
const int kWide = 4;
#else
#define Weights vec2
const int kWide = 2;
#endif
shared Weights weights[kDepth * kTileOut / kWide];
#if !X_HELD
shared vec4 patch_of_x[kPatch];
#endif

void stage_weights(int first_out) {
    for (int e = int(gl_LocalInvocationIndex); e < kDepth * kTileOut; e += kThreads) {
        const int o = min(first_out + e % kTileOut, OUT - 1), k = e / kTileOut;
        weights[e / kWide][e % kWide] = in1(o * kDepth + k);
    }
}

float one_of_x(int from, int x) {
    return uint(x) < uint(SIZE_X) ? in0(from + x) : 0.0;
}

// From a multiple of four on, of the row that begins at `from`.
vec4 four_of_x(int from, int x) {
#if LOADS_FOUR
    return uint(x) < uint(SIZE_X) ? in0_four(from + x) : vec4(0.0);
#else
    return vec4(one_of_x(from, x), one_of_x(from, x + 1), one_of_x(from, x + 2),
                one_of_x(from, x + 3));
#endif
}

// Fills a thread's row: `four` is what begins at its element `e`, a multiple of four less SHIFT, of
// which there are whole ones, and `one` a single element.
#define READ_ROW(row, four, one)                                  \
    [[unroll]] for (int i = 0; i < kSpan; ++i) {                  \
        const int e = SHIFT + i;                                  \
        if (e % 4 == 0 && i + 3 < kSpan) {                        \
            const vec4 all = four;                                \
            row[i] = all.x;                                       \
            row[i + 1] = all.y;                                   \
            row[i + 2] = all.z;                                   \
            row[i + 3] = all.w;                                   \
        } else if (i < (4 - SHIFT) % 4 || i >= kWhole) {          \
            row[i] = one;                                         \
        }                                                         \
    }

#if X_HELD
#define UNROLL_CHANNELS [[unroll]]
#else
#define UNROLL_CHANNELS
// Four elements of a patch whose first row and column of x are these.
vec4 four_of_patch(int image, int y, int x, int e) {
    const int c = e / (kPatchY * kPitch), at = e % (kPatchY * kPitch), sy = y + at / kPitch;
    const int from = (image * CHANNELS + c) * kPlane + sy * SIZE_X;
    return uint(sy) < uint(SIZE_Y) && e < kPatch ? four_of_x(from, x + at % kPitch * 4)
                                                 : vec4(0.0);
}

// All loads are on their way before the first is waited for.
void stage_x(int image, int y, int x) {
    const int thread = int(gl_LocalInvocationIndex);
    vec4 held[kLoads];
    [[unroll]] for (int u = 0; u < kLoads; ++u)
        held[u] = four_of_patch(image, y, x, thread + u * kThreads);
    barrier();
    [[unroll]] for (int u = 0; u < kLoads; ++u)
        if (thread + u * kThreads < kPatch) patch_of_x[thread + u * kThreads] = held[u];
    barrier();
}
#endif

void store_row(int image, int o, int y, int x, vec4 v) {
    if ((OUT % kTileOut != 0 && o >= OUT) || y >= COUNT_Y || x >= COUNT_X) return;
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
#if X_HELD
    barrier();
#endif
    const int tiles = in0_dim0 * kTilesY * kTilesX;
    for (int tile = int(gl_WorkGroupID.x); tile < tiles; tile += int(gl_NumWorkGroups.x)) {
        const int image = tile / (kTilesY * kTilesX), at = tile % (kTilesY * kTilesX);
        const int first_y = at / kTilesX * kTileY, first_x = at % kTilesX * kTileX;
        const int from_y = first_y * STRIDE_Y - LOW_Y, from_x = first_x * STRIDE_X - LOW_X - SHIFT;
#if X_HELD
        float held[CHANNELS][kRows][kSpan];
        [[unroll]] for (int c = 0; c < CHANNELS; ++c) {
            [[unroll]] for (int r = 0; r < kRows; ++r) {
                const int sy = from_y + strip * STRIDE_Y + r, sx = from_x + 4 * lane * STRIDE_X;
                const int from = (image * CHANNELS + c) * kPlane + sy * SIZE_X;
                const bool has_row = uint(sy) < uint(SIZE_Y);
                READ_ROW(held[c][r], has_row ? four_of_x(from, sx + e - e % 4) : vec4(0.0),
                         has_row ? one_of_x(from, sx + e) : 0.0)
            }
        }
#define XS held[c]
#else
        stage_x(image, from_y, from_x);
#define XS xs
#endif
        for (int turn = 0; turn < TURNS; ++turn) {
            const int block = (group * TURNS + turn) * OC;
            vec4 sum[OC][PY];
            [[unroll]] for (int j = 0; j < OC; ++j)
                [[unroll]] for (int i = 0; i < PY; ++i) sum[j][i] = vec4(0.0);
            UNROLL_CHANNELS for (int c = 0; c < CHANNELS; ++c) {
#if !X_HELD
                float xs[kRows][kSpan];
                [[unroll]] for (int r = 0; r < kRows; ++r) {
                    const int row = (c * kPatchY + strip * STRIDE_Y + r) * kPitch + lane * STRIDE_X;
                    READ_ROW(xs[r], patch_of_x[row + e / 4], patch_of_x[row + e / 4][e % 4])
                }
#endif
                [[unroll]] for (int k = 0; k < kTaps; ++k) {
                    const int row = k / TAPS_X * DILATION_Y, column = k % TAPS_X * DILATION_X;
                    [[unroll]] for (int j = 0; j < OC; j += kWide) {
                        const Weights w =
                            weights[((c * kTaps + k) * kTileOut + block + j) / kWide];
                        [[unroll]] for (int i = 0; i < PY; ++i) {
                            const int r = i * STRIDE_Y + row;
                            const vec4 v = vec4(XS[r][column], XS[r][column + STRIDE_X],
                                                XS[r][column + 2 * STRIDE_X],
                                                XS[r][column + 3 * STRIDE_X]);
                            [[unroll]] for (int e = 0; e < kWide; ++e) sum[j + e][i] += w[e] * v;
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
