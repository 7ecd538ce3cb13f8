// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like conv_tiled.comp, but of f16 with f32 sums, on matrix cores
// (shaders/common/coopmat.glsl): for each tap, weights [OUT, CHANNELS] times pixels
// [CHANNELS, pixels], the pixels being those of the tile, shifted.
//
// Each workgroup computes a tile of TILE_Y x TILE_X pixels for TILE_OUT output channels.  CHUNK
// input channels at a time, it stages the part of x that the tile's windows cover, channels
// innermost so that a shift is a step in memory, and the weights, by taps.  Each of its SUBGROUPS
// takes MATRICES rows of pixels, hearth_matrix_n long.  Pixels and rows of weights lie a vector of
// eight apart more than they are long, so that they begin in different banks.  The order of sums is
// fixed.
// Bytes moved: x (1 + halo) * OUT / TILE_OUT times, w once for each tile, y once; 2 each.

const int kPatchY = (TILE_Y - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kPatchX = (TILE_X - 1) * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;
const int kPatch = kPatchY * kPatchX;
const int kTaps = TAPS_Y * TAPS_X;
const int kPlane = SIZE_Y * SIZE_X;
const int kTilesX = (COUNT_X + TILE_X - 1) / TILE_X, kTilesY = (COUNT_Y + TILE_Y - 1) / TILE_Y;
const int kThreads = SUBGROUPS * SUBGROUP;
const int kRowsOut = TILE_OUT / hearth_matrix_m;
const int kStep = CHUNK / 8 + 1;  // vectors from pixel to pixel, and from weights to weights
const int kStepOut = hearth_matrix_n / 4;

shared uvec4 patch_of_x[kPatch * kStep];
shared uvec4 weights[kTaps * TILE_OUT * kStep];
shared uvec4 results[SUBGROUPS * hearth_matrix_m * kStepOut];

// Two channels of an element, as they lie in a word.  What is not there is read elsewhere and not
// used: a load that is skipped is waited for before the next one.
uint pair_of_x(int image, int c, int y, int x, int e) {
    const int at = e % kPatch, channel = c + e / kPatch * 2;
    const int sy = y + at / kPatchX, sx = x + at % kPatchX;
    const bool inside = uint(sy) < uint(SIZE_Y) && uint(sx) < uint(SIZE_X);
    const int from = (image * CHANNELS + channel) * kPlane + sy * SIZE_X + sx;
    const bool has_first = inside && channel < CHANNELS;
    const bool has_second = inside && channel + 1 < CHANNELS;
    const int after = from + kPlane;
    const float first = in0(has_first ? from : 0), second = in0(has_second ? after : 0);
    return packHalf2x16(vec2(has_first ? first : 0.0, has_second ? second : 0.0));
}

// All loads are on their way before the first is waited for.
void stage_x(int image, int c, int y, int x) {
    const int kCount = kPatch * (CHUNK / 2), kEach = (kCount + kThreads - 1) / kThreads;
    uint held[kEach];
    [[unroll]] for (int u = 0; u < kEach; ++u) {
        const int e = int(gl_LocalInvocationIndex) + u * kThreads;
        held[u] = e < kCount ? pair_of_x(image, c, y, x, e) : 0u;
    }
    [[unroll]] for (int u = 0; u < kEach; ++u) {
        const int e = int(gl_LocalInvocationIndex) + u * kThreads, pair = e / kPatch;
        if (e < kCount) patch_of_x[e % kPatch * kStep + pair / 4][pair % 4] = held[u];
    }
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

void compute(int image, int first_out, int first_y, int first_x, bool has_weights) {
    const int subgroup = int(gl_SubgroupID), lane = int(gl_SubgroupInvocationID);
    const int kAcross = TILE_X / hearth_matrix_n;
    hearth_matrix_sum sum[kRowsOut][MATRICES];
    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
        [[unroll]] for (int j = 0; j < MATRICES; ++j) sum[i][j] = hearth_matrix_sum(0.0);
    for (int c = 0; c < CHANNELS; c += CHUNK) {
        barrier();
        stage_x(image, c, first_y * STRIDE_Y - LOW_Y, first_x * STRIDE_X - LOW_X);
        if (!has_weights) stage_weights(c, first_out);
        barrier();
        [[unroll]] for (int tap = 0; tap < kTaps; ++tap) {
            const int shift =
                tap / TAPS_X * DILATION_Y * kPatchX + tap % TAPS_X * DILATION_X;
            [[unroll]] for (int k = 0; k < CHUNK; k += hearth_matrix_k) {
                hearth_matrix_a a[kRowsOut];
                [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                    hearth_matrix_load(
                        a[i], weights,
                        (tap * TILE_OUT + i * hearth_matrix_m) * kStep + k / 8, kStep, false);
                [[unroll]] for (int j = 0; j < MATRICES; ++j) {
                    const int block = subgroup * MATRICES + j;
                    const int y = block / kAcross, x = block % kAcross * hearth_matrix_n;
                    const int from = y * STRIDE_Y * kPatchX + x * STRIDE_X + shift;
                    hearth_matrix_b b;
                    hearth_matrix_load(b, patch_of_x, from * kStep + k / 8, STRIDE_X * kStep, true);
                    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                        sum[i][j] = hearth_multiply_add(a[i], b, sum[i][j]);
                }
            }
        }
    }
    const int base = subgroup * hearth_matrix_m * kStepOut;
    [[unroll]] for (int j = 0; j < MATRICES; ++j) {
        const int block = subgroup * MATRICES + j;
        const int y = first_y + block / kAcross, x0 = first_x + block % kAcross * hearth_matrix_n;
        [[unroll]] for (int i = 0; i < kRowsOut; ++i) {
            hearth_matrix_store(sum[i][j], results, base, kStepOut, false);
            subgroupBarrier();
            for (int e = lane; e < hearth_matrix_m * hearth_matrix_n; e += SUBGROUP) {
                const int column = e % hearth_matrix_n, row = e / hearth_matrix_n;
                const int o = first_out + i * hearth_matrix_m + row, x = x0 + column;
                const float value = uintBitsToFloat(
                    results[base + row * kStepOut + column / 4][column % 4]);
                if (o < OUT && y < COUNT_Y && x < COUNT_X) STORE(image, o, y, x, value);
            }
            subgroupBarrier();
        }
    }
}

void main() {
    const int tiles = in0_dim0 * kTilesY * kTilesX;
    const int start = int(gl_WorkGroupID.x);
    for (int tile = start; tile < tiles; tile += int(gl_NumWorkGroups.x)) {
        const int image = tile / (kTilesY * kTilesX), at = tile % (kTilesY * kTilesX);
        compute(image, int(gl_WorkGroupID.y) * TILE_OUT, at / kTilesX * TILE_Y,
                at % kTilesX * TILE_X, CHANNELS <= CHUNK && tile != start);
    }
}
