// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution over one or two spatial axes, with all input channels in one group, as a product of
// weights [OUT, CHANNELS * taps] and patches that are never stored: out[n, o, p] = sum over c, k of
// x[n, c, place(p, k)] w[o, c, k].  f32 sums.
//
// in0: x [N, CHANNELS, SIZE_Y, SIZE_X]    in1: w [OUT, CHANNELS, TAPS_Y, TAPS_X]
// out0: [N, OUT, COUNT_Y, COUNT_X]
//
// Each thread sums PX pixels by OC output channels in registers.  LANES threads stand side by side
// along pixels, GROUPS of these along output channels; and each of SLICES such blocks takes a part
// of the input channels, so that small images have work for a whole GPU.  The parts are added in a
// fixed order through shared memory, PX_EACH pixels at a time: deterministic.  Where one part is
// everything and weights fit (WEIGHTS_SHARED), they are staged in shared memory; elsewhere four at
// a time come straight from the cache (WEIGHTS_BY_FOUR), as all lanes read the same ones.
// READS_ALWAYS: for elements outside x others are read and not used.  Skipping them is faster, but
// not where a conversion follows the load, which then is waited for before the next one.
// Bytes moved: x times OUT / (GROUPS * OC), w times pixels / (LANES * PX), y once.

#extension GL_EXT_control_flow_attributes : require

const int kPlane = SIZE_Y * SIZE_X;
const int kPlaces = COUNT_Y * COUNT_X;
const int kTaps = TAPS_Y * TAPS_X;
const int kDepth = CHANNELS * kTaps;
const int kBlock = LANES * GROUPS;
const int kThreads = kBlock * SLICES;
const int kTilePixels = LANES * PX;
const int kTileOut = GROUPS * OC;

#if WEIGHTS_SHARED
shared vec4 staged[kDepth * kTileOut / 4];
#endif
#if SLICES > 1
shared float parts[kThreads * OC * PX_EACH];
#endif

// Windows of one pixel: where in x its first element is; and a bit for each row, and TAPS_Y on for
// each column, that is in x.
ivec2 window_of(int q) {
    const int n = q / kPlaces, p = q % kPlaces;
    const int y = p / COUNT_X * STRIDE_Y - LOW_Y, x = p % COUNT_X * STRIDE_X - LOW_X;
    uint bits = 0u;
    [[unroll]] for (int k = 0; k < TAPS_Y; ++k)
        if (uint(y + k * DILATION_Y) < uint(SIZE_Y)) bits |= 1u << k;
    [[unroll]] for (int k = 0; k < TAPS_X; ++k)
        if (uint(x + k * DILATION_X) < uint(SIZE_X)) bits |= 1u << (TAPS_Y + k);
    return ivec2(n * CHANNELS * kPlane + y * SIZE_X + x, bits);
}

float pixel(ivec2 window, int c, int tap) {
    const int ky = tap / TAPS_X, kx = tap % TAPS_X;
    const int at = window.x + c * kPlane + ky * DILATION_Y * SIZE_X + kx * DILATION_X;
    const int needed = (1 << ky) | (1 << (TAPS_Y + kx));
    const bool inside = !IS_PADDED || (window.y & needed) == needed;
#if READS_ALWAYS
    const float x = in0(inside ? at : 0);
    return inside ? x : 0.0;
#else
    return inside ? in0(at) : 0.0;
#endif
}

void store(int q, int o, int count, float value) {
    if (q >= count || o >= OUT) return;
    const int n = q / kPlaces, p = q % kPlaces;
    STORE(n, o, p / COUNT_X, p % COUNT_X, value);
}

void main() {
    const int thread = int(gl_LocalInvocationIndex);
    const int lane = thread % LANES, group = thread % kBlock / LANES, slice = thread / kBlock;
    const int count = in0_dim0 * kPlaces;
    const int first_out = int(gl_WorkGroupID.y) * kTileOut;
    const int out_block = first_out + group * OC;
#if WEIGHTS_SHARED
    for (int e = thread; e < kDepth * kTileOut; e += kThreads) {
        const int o = e / kDepth, k = e % kDepth;
        staged[k * (kTileOut / 4) + o / 4][o % 4] = in1(min(first_out + o, OUT - 1) * kDepth + k);
    }
    barrier();
#endif
    for (int first = int(gl_WorkGroupID.x) * kTilePixels; first < count;
         first += int(gl_NumWorkGroups.x) * kTilePixels) {
        // Drivers keep in registers what belongs to a function and has constant indices.
        ivec2 window[PX];
        float sum[OC][PX];
        [[unroll]] for (int i = 0; i < PX; ++i) {
            window[i] = window_of(min(first + lane + i * LANES, count - 1));
            [[unroll]] for (int j = 0; j < OC; ++j) sum[j][i] = 0.0;
        }
        const int end = min(CHANNELS, (slice + 1) * SLICE_CHANNELS);
        for (int c = slice * SLICE_CHANNELS; c < end; c += CHUNK) {
#if WEIGHTS_BY_FOUR
            [[unroll]] for (int k0 = 0; k0 < CHUNK * kTaps; k0 += 4) {
                vec4 w[OC];
                [[unroll]] for (int j = 0; j < OC; ++j)
                    w[j] = in1_four(min(out_block + j, OUT - 1) * kDepth + c * kTaps + k0);
                [[unroll]] for (int e = 0; e < 4; ++e) {
                    [[unroll]] for (int i = 0; i < PX; ++i) {
                        const float x = pixel(window[i], c + (k0 + e) / kTaps, (k0 + e) % kTaps);
                        [[unroll]] for (int j = 0; j < OC; ++j) sum[j][i] += w[j][e] * x;
                    }
                }
            }
#else
            [[unroll]] for (int k = 0; k < CHUNK * kTaps; ++k) {
                vec4 w[OC / 4];
                [[unroll]] for (int j = 0; j < OC / 4; ++j) {
#if WEIGHTS_SHARED
                    w[j] = staged[(c * kTaps + k) * (kTileOut / 4) + group * (OC / 4) + j];
#else
                    [[unroll]] for (int e = 0; e < 4; ++e)
                        w[j][e] = in1(min(out_block + 4 * j + e, OUT - 1) * kDepth + c * kTaps + k);
#endif
                }
                [[unroll]] for (int i = 0; i < PX; ++i) {
                    const float x = pixel(window[i], c + k / kTaps, k % kTaps);
                    [[unroll]] for (int j = 0; j < OC; ++j) sum[j][i] += w[j / 4][j % 4] * x;
                }
            }
#endif
        }
#if SLICES > 1
        // As many pixels of each thread at a time as fit.
        [[unroll]] for (int i0 = 0; i0 < PX; i0 += PX_EACH) {
            [[unroll]] for (int i = 0; i < PX_EACH; ++i)
                [[unroll]] for (int j = 0; j < OC; ++j)
                    parts[(i * OC + j) * kThreads + thread] = sum[j][i0 + i];
            barrier();
            for (int e = thread; e < kBlock * OC * PX_EACH; e += kThreads) {
                const int ij = e / kBlock, t = e % kBlock;
                float total = 0.0;
                [[unroll]] for (int s = 0; s < SLICES; ++s)
                    total += parts[ij * kThreads + s * kBlock + t];
                store(first + t % LANES + (i0 + ij / OC) * LANES,
                      first_out + t / LANES * OC + ij % OC, count, total);
            }
            barrier();
        }
#else
        [[unroll]] for (int j = 0; j < OC; ++j)
            [[unroll]] for (int i = 0; i < PX; ++i)
                store(first + lane + i * LANES, out_block + j, count, sum[j][i]);
#endif
    }
}
