// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like compiler/codegen/conv/gpu_conv_tiled.cpp, but of f16 with f32 sums, on matrix cores
// (shaders/common/coopmat.glsl), for images of many pixels: for each tap, weights [OUT, CHANNELS]
// times pixels [CHANNELS, pixels], the pixels being those of the tile, shifted.
//
// Each workgroup computes tiles of DOWN * MATRICES x ACROSS * hearth_matrix_n pixels for TILE_OUT
// output channels.  CHUNK input channels at a time, it stages the part of x that the tile's windows
// cover, channels innermost so that a shift is a step in memory, and the weights, by taps.  Each of
// its DOWN * ACROSS subgroups takes MATRICES pieces of rows, one below the other, so that a matrix of
// pixels serves all rows of the window.  What comes next of x is on its way while matrices are
// multiplied.  Pixels and rows of weights lie a vector of eight apart more than they are long, so
// that they begin in different banks.  The order of sums is fixed.
// Bytes moved: x (1 + halo) * OUT / TILE_OUT times, w once for each workgroup, y once; 2 each.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

const int kTileY = DOWN * MATRICES, kTileX = ACROSS * hearth_matrix_n;
const int kPatchY = (kTileY - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kPatchX = (kTileX - 1) * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;
const int kPatch = kPatchY * kPatchX;
const int kTaps = TAPS_Y * TAPS_X;
const int kPlane = SIZE_Y * SIZE_X;
const int kChunks = (CHANNELS + CHUNK - 1) / CHUNK;
const int kTilesX = (COUNT_X + kTileX - 1) / kTileX, kTilesY = (COUNT_Y + kTileY - 1) / kTileY;
const int kThreads = DOWN * ACROSS * SUBGROUP;
const int kRowsOut = TILE_OUT / hearth_matrix_m;
const int kStep = CHUNK / 8 + 1;  // vectors from pixel to pixel, and from weights to weights
const int kStepOut = hearth_matrix_n / 8 + 1;
const int kResults = hearth_matrix_m * kStepOut;  // vectors of a matrix of results
const int kRows = (MATRICES - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;  // of a subgroup
const int kSteps = CHUNK / hearth_matrix_k;

// A piece of x: of two channels, eight elements of a row where these are 16 bytes of memory, which
// begin SHIFT before the first window, or one element.
#if LOADS_EIGHT
const int kPieces = (SHIFT + kPatchX + 7) / 8;  // of a row
#define Piece uvec4
#else
const int kPieces = kPatchX;
#define Piece uint
#endif
const int kLoads = (kPatchY * kPieces * (CHUNK / 2) + kThreads - 1) / kThreads;

shared uvec4 patch_of_x[kPatch * kStep];
shared uvec4 weights[kTaps * TILE_OUT * kStep];
shared uvec4 results[DOWN * ACROSS * MATRICES * kResults];

// Neighbouring threads have pairs of channels, then rows: words of different banks.
ivec3 piece_at(int e) {
    const int pair = e % (CHUNK / 2), row = e / (CHUNK / 2) % kPatchY;
    return ivec3(pair, row, e / (CHUNK / 2 * kPatchY));
}

// Piece `at` of one of the pair's channels.  A single element that is not there is read elsewhere and
// not used: where a conversion follows, a load that is skipped is waited for before the next one.
Piece piece_of_x(int image, int c, int y, int x, ivec3 at, int which) {
    const int channel = c + 2 * at.x + which, sy = y + at.y;
    const bool has_row = uint(sy) < uint(SIZE_Y) && channel < CHANNELS && at.z < kPieces;
    const int from = (image * CHANNELS + channel) * kPlane + sy * SIZE_X;
#if LOADS_EIGHT
    const int sx = x - SHIFT + 8 * at.z;
    const bool inside = has_row && uint(sx) < uint(SIZE_X);
    return inside ? in0_eight(from + sx) : uvec4(0u);
#else
    const int sx = x + at.z;
    const bool inside = has_row && uint(sx) < uint(SIZE_X);
    const float one = in0(inside ? from + sx : 0);
    return inside ? packHalf2x16(vec2(one, 0.0)) : 0u;
#endif
}

void stage_pair(int pair, int row, int x, uint both) {
    if (uint(x) < uint(kPatchX)) patch_of_x[(row + x) * kStep + pair / 4][pair % 4] = both;
}

void stage_piece(ivec3 at, Piece first, Piece second) {
    if (at.z >= kPieces) return;
#if LOADS_EIGHT
    const int x = 8 * at.z - SHIFT, row = at.y * kPatchX;
    stage_pair(at.x, row, x, (first.x & 0xffffu) | second.x << 16);
    stage_pair(at.x, row, x + 1, first.x >> 16 | (second.x & 0xffff0000u));
    stage_pair(at.x, row, x + 2, (first.y & 0xffffu) | second.y << 16);
    stage_pair(at.x, row, x + 3, first.y >> 16 | (second.y & 0xffff0000u));
    stage_pair(at.x, row, x + 4, (first.z & 0xffffu) | second.z << 16);
    stage_pair(at.x, row, x + 5, first.z >> 16 | (second.z & 0xffff0000u));
    stage_pair(at.x, row, x + 6, (first.w & 0xffffu) | second.w << 16);
    stage_pair(at.x, row, x + 7, first.w >> 16 | (second.w & 0xffff0000u));
#else
    stage_pair(at.x, at.y * kPatchX, at.z, first | second << 16);
#endif
}

void stage_weights(int c, int first_out) {
    for (int e = int(gl_LocalInvocationIndex); e < kTaps * TILE_OUT * (CHUNK / 2); e += kThreads) {
        const int tap = e % kTaps, pair = e / kTaps % (CHUNK / 2), o = e / (kTaps * (CHUNK / 2));
        const int channel = c + 2 * pair;
        const int from = ((first_out + o) * CHANNELS + channel) * kTaps + tap;
        const bool has_first = first_out + o < OUT && channel < CHANNELS;
        const bool has_second = first_out + o < OUT && channel + 1 < CHANNELS;
        const int after = from + kTaps;
        const float first = in1(has_first ? from : 0), second = in1(has_second ? after : 0);
        weights[(tap * TILE_OUT + o) * kStep + pair / 4][pair % 4] =
            packHalf2x16(vec2(has_first ? first : 0.0, has_second ? second : 0.0));
    }
}

void store_eight(int image, int o, int y, int x, vec4 v, vec4 after) {
    if ((OUT % TILE_OUT != 0 && o >= OUT) || y >= COUNT_Y || x >= COUNT_X) return;
#if STORES_EIGHT
    STORE_EIGHT(image, o, y, x, v, after);
#else
    [[unroll]] for (int e = 0; e < 8; ++e)
        if (x + e < COUNT_X) STORE(image, o, y, x + e, e < 4 ? v[e % 4] : after[e % 4]);
#endif
}

// All loads of the patch of a tile, from channel c on.  Text, as drivers keep in registers what belongs
// to main().
#define FETCH(tile_at, c)                                                              \
    {                                                                                  \
        const int tile_now = tile_at, c_now = c;                                       \
        const int n = tile_now / (kTilesY * kTilesX), p = tile_now % (kTilesY * kTilesX); \
        const int py = p / kTilesX * kTileY * STRIDE_Y - LOW_Y;                        \
        const int px = p % kTilesX * kTileX * STRIDE_X - LOW_X;                        \
        [[unroll]] for (int u = 0; u < kLoads; ++u) {                                  \
            const ivec3 piece = piece_at(thread + u * kThreads);                       \
            first_held[u] = piece_of_x(n, c_now, py, px, piece, 0);                    \
            second_held[u] = piece_of_x(n, c_now, py, px, piece, 1);                   \
        }                                                                              \
    }

void main() {
    const int thread = int(gl_LocalInvocationIndex);
    const int subgroup = int(gl_SubgroupID), lane = int(gl_SubgroupInvocationID);
    const int right = subgroup % ACROSS * hearth_matrix_n, down = subgroup / ACROSS * MATRICES;
    const int first_out = int(gl_WorkGroupID.y) * TILE_OUT;
    const int tiles = in0_dim0 * kTilesY * kTilesX, stride = int(gl_NumWorkGroups.x);
    if (int(gl_WorkGroupID.x) >= tiles) return;
    Piece first_held[kLoads], second_held[kLoads];
    if (kChunks == 1) stage_weights(0, first_out);
    FETCH(int(gl_WorkGroupID.x), 0)
    for (int tile = int(gl_WorkGroupID.x); tile < tiles; tile += stride) {
        hearth_matrix_sum sum[kRowsOut * MATRICES];
        [[unroll]] for (int i = 0; i < kRowsOut * MATRICES; ++i) sum[i] = hearth_matrix_sum(0.0);
        for (int c = 0; c < CHANNELS; c += CHUNK) {
            barrier();
            [[unroll]] for (int u = 0; u < kLoads; ++u)
                stage_piece(piece_at(thread + u * kThreads), first_held[u], second_held[u]);
            if (kChunks > 1) stage_weights(c, first_out);
            barrier();
            const bool is_last = c + CHUNK >= CHANNELS;
            FETCH(min(is_last ? tile + stride : tile, tiles - 1), is_last ? 0 : c + CHUNK)
            [[unroll]] for (int kx = 0; kx < TAPS_X; ++kx) {
                [[unroll]] for (int k = 0; k < kSteps; ++k) {
                    hearth_matrix_a a[kRowsOut * TAPS_Y];
                    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                        [[unroll]] for (int ky = 0; ky < TAPS_Y; ++ky)
                            hearth_matrix_load(
                                a[i * TAPS_Y + ky], weights,
                                ((ky * TAPS_X + kx) * TILE_OUT + i * hearth_matrix_m) * kStep +
                                    k * hearth_matrix_k / 8,
                                kStep, false);
                    [[unroll]] for (int r = 0; r < kRows; ++r) {
                        const int from = (down * STRIDE_Y + r) * kPatchX + right * STRIDE_X;
                        hearth_matrix_b b;
                        hearth_matrix_load(
                            b, patch_of_x,
                            (from + kx * DILATION_X) * kStep + k * hearth_matrix_k / 8,
                            STRIDE_X * kStep, true);
                        [[unroll]] for (int ky = 0; ky < TAPS_Y; ++ky) {
#if STRIDE_Y == 1
                            const int m = r - ky * DILATION_Y;
                            const bool is_one = m >= 0 && m < MATRICES;
#else
                            const int m = (r - ky * DILATION_Y) / STRIDE_Y;
                            const bool is_one = m >= 0 && m < MATRICES &&
                                                m * STRIDE_Y + ky * DILATION_Y == r;
#endif
                            if (is_one) {
                                [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                                    sum[i * MATRICES + m] = hearth_multiply_add(
                                        a[i * TAPS_Y + ky], b, sum[i * MATRICES + m]);
                            }
                        }
                    }
                }
            }
        }

        const int image = tile / (kTilesY * kTilesX), at = tile % (kTilesY * kTilesX);
        const int y = at / kTilesX * kTileY + down, x = at % kTilesX * kTileX + right;
        const int base = subgroup * MATRICES * kResults;
        [[unroll]] for (int i = 0; i < kRowsOut; ++i) {
            [[unroll]] for (int m = 0; m < MATRICES; ++m) {
                // As the operator's result is f16, whatever follows it.
                const hearth_matrix_half rounded = hearth_matrix_half(sum[i * MATRICES + m]);
                hearth_matrix_store(rounded, results, base + m * kResults, kStepOut, false);
            }
            subgroupBarrier();
            const int kEights = hearth_matrix_m * (hearth_matrix_n / 8);
            [[dont_unroll]] for (int e = lane; e < MATRICES * kEights; e += SUBGROUP) {
                const int m = e / kEights, row = e % kEights / (hearth_matrix_n / 8);
                const int eight = e % (hearth_matrix_n / 8);
                const uvec4 v = results[base + m * kResults + row * kStepOut + eight];
                store_eight(image, first_out + i * hearth_matrix_m + row, y + m, x + 8 * eight,
                            vec4(unpackHalf2x16(v.x), unpackHalf2x16(v.y)),
                            vec4(unpackHalf2x16(v.z), unpackHalf2x16(v.w)));
            }
            subgroupBarrier();
        }
    }
}
