// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like conv_tiled.comp, for few channels and large images: all weights, and the part of
// x that a tile's windows cover, fit in shared memory.
//
// Each workgroup computes tiles of TILE_Y x LANES pixels for GROUPS * OC output channels.  A thread
// sums PX pixels, one below the other, by OC channels: what it reads of a column of x serves all
// rows of the window.  f32 sums in a fixed order.
// Bytes moved: x (1 + halo) * OUT / (GROUPS * OC) times, y once.

const int kTaps = TAPS_Y * TAPS_X;
const int kDepth = CHANNELS * kTaps;
const int kPlane = SIZE_Y * SIZE_X;
const int kPatchY = (TILE_Y - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kPatchX = (LANES - 1) * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;
const int kPatch = CHANNELS * kPatchY * kPatchX;
const int kColumn = (PX - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kTilesX = (COUNT_X + LANES - 1) / LANES, kTilesY = (COUNT_Y + TILE_Y - 1) / TILE_Y;
const int kTileOut = GROUPS * OC;
const int kThreads = LANES * GROUPS * (TILE_Y / PX);
const int kLoads = (kPatch + kThreads - 1) / kThreads;

shared float patch_of_x[kPatch];
shared vec4 weights[kDepth * kTileOut / 4];

float element_of_x(int image, int y, int x, int e) {
    const int c = e / (kPatchY * kPatchX), at = e % (kPatchY * kPatchX);
    const int sy = y + at / kPatchX, sx = x + at % kPatchX;
    const bool inside = uint(sy) < uint(SIZE_Y) && uint(sx) < uint(SIZE_X) && e < kPatch;
    return inside ? in0((image * CHANNELS + c) * kPlane + sy * SIZE_X + sx) : 0.0;
}

void main() {
    const int thread = int(gl_LocalInvocationIndex);
    const int lane = thread % LANES, group = thread / LANES % GROUPS;
    const int strip = thread / (LANES * GROUPS) * PX;
    const int first_out = int(gl_WorkGroupID.y) * kTileOut, out_block = first_out + group * OC;
    for (int e = thread; e < kDepth * kTileOut; e += kThreads) {
        const int o = e / kDepth, k = e % kDepth;
        weights[k * (kTileOut / 4) + o / 4][o % 4] = in1(min(first_out + o, OUT - 1) * kDepth + k);
    }
    const int tiles = in0_dim0 * kTilesY * kTilesX;
    for (int tile = int(gl_WorkGroupID.x); tile < tiles; tile += int(gl_NumWorkGroups.x)) {
        const int image = tile / (kTilesY * kTilesX), at = tile % (kTilesY * kTilesX);
        const int first_y = at / kTilesX * TILE_Y, x = at % kTilesX * LANES + lane;
        // All loads are on their way before the first is waited for.
        float held[kLoads];
        [[unroll]] for (int u = 0; u < kLoads; ++u)
            held[u] = element_of_x(image, first_y * STRIDE_Y - LOW_Y,
                                   (x - lane) * STRIDE_X - LOW_X, thread + u * kThreads);
        barrier();
        [[unroll]] for (int u = 0; u < kLoads; ++u)
            if (thread + u * kThreads < kPatch) patch_of_x[thread + u * kThreads] = held[u];
        barrier();

        float sum[OC][PX];
        [[unroll]] for (int j = 0; j < OC; ++j)
            [[unroll]] for (int i = 0; i < PX; ++i) sum[j][i] = 0.0;
        for (int c = 0; c < CHANNELS; ++c) {
            [[unroll]] for (int kx = 0; kx < TAPS_X; ++kx) {
                const int from = (c * kPatchY + strip * STRIDE_Y) * kPatchX + lane * STRIDE_X;
                float column[kColumn];
                [[unroll]] for (int r = 0; r < kColumn; ++r)
                    column[r] = patch_of_x[from + r * kPatchX + kx * DILATION_X];
                [[unroll]] for (int ky = 0; ky < TAPS_Y; ++ky) {
                    const int row = c * kTaps + ky * TAPS_X + kx;
                    [[unroll]] for (int j = 0; j < OC; j += 4) {
                        const vec4 w = weights[row * (kTileOut / 4) + (group * OC + j) / 4];
                        [[unroll]] for (int i = 0; i < PX; ++i) {
                            const float v = column[i * STRIDE_Y + ky * DILATION_Y];
                            sum[j][i] += w.x * v;
                            sum[j + 1][i] += w.y * v;
                            sum[j + 2][i] += w.z * v;
                            sum[j + 3][i] += w.w * v;
                        }
                    }
                }
            }
        }
        [[unroll]] for (int i = 0; i < PX; ++i) {
            const int y = first_y + strip + i;
            if (x >= COUNT_X || y >= COUNT_Y) break;
            [[unroll]] for (int j = 0; j < OC; ++j)
                if (out_block + j < OUT) STORE(image, out_block + j, y, x, sum[j][i]);
        }
    }
}
