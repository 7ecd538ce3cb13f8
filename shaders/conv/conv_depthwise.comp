// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution over one or two spatial axes of each channel by itself: out[n, o, p] = sum over k of
// x[n, o / MULTIPLE, place(p, k)] w[o, k].  f32 sums.
//
// in0: x [N, OUT / MULTIPLE, SIZE_Y, SIZE_X]    in1: w [OUT, 1, TAPS_Y, TAPS_X]
// out0: [N, OUT, COUNT_Y, COUNT_X]
//
// Each thread sums PY rows of PX pixels of one channel: what it reads of a row of x serves all of
// them.  All loads are on their way before the first is used.  READS_ALWAYS: see conv_tiled.comp.
// Bytes moved: x, w and y once; what neighbouring threads share comes from the cache.

#extension GL_EXT_control_flow_attributes : require

const int kPlane = SIZE_Y * SIZE_X;
const int kTaps = TAPS_Y * TAPS_X;
const int kRows = (PY - 1) * STRIDE_Y + (TAPS_Y - 1) * DILATION_Y + 1;
const int kSpan = (PX - 1) * STRIDE_X + (TAPS_X - 1) * DILATION_X + 1;
const int kBlocksY = (COUNT_Y + PY - 1) / PY, kBlocksX = (COUNT_X + PX - 1) / PX;

float element_of_x(int plane, int y, int x) {
    const bool inside = !IS_PADDED || (uint(y) < uint(SIZE_Y) && uint(x) < uint(SIZE_X));
    const int at = plane + y * SIZE_X + x;
#if READS_ALWAYS
    const float value = in0(inside ? at : 0);
    return inside ? value : 0.0;
#else
    return inside ? in0(at) : 0.0;
#endif
}

void compute(int item) {
    const int x0 = item % kBlocksX * PX, y0 = item / kBlocksX % kBlocksY * PY;
    const int o = item / (kBlocksX * kBlocksY) % OUT, n = item / (kBlocksX * kBlocksY * OUT);
    const int plane = (n * (OUT / MULTIPLE) + o / MULTIPLE) * kPlane;
    float w[kTaps], xs[kRows][kSpan];
    [[unroll]] for (int k = 0; k < kTaps; ++k) w[k] = in1(o * kTaps + k);
    [[unroll]] for (int r = 0; r < kRows; ++r)
        [[unroll]] for (int s = 0; s < kSpan; ++s)
            xs[r][s] = element_of_x(plane, y0 * STRIDE_Y - LOW_Y + r, x0 * STRIDE_X - LOW_X + s);
    float sum[PY][PX];
    [[unroll]] for (int i = 0; i < PY; ++i) {
        [[unroll]] for (int j = 0; j < PX; ++j) {
            sum[i][j] = 0.0;
            [[unroll]] for (int k = 0; k < kTaps; ++k)
                sum[i][j] += w[k] * xs[i * STRIDE_Y + k / TAPS_X * DILATION_Y]
                                      [j * STRIDE_X + k % TAPS_X * DILATION_X];
        }
    }
    [[unroll]] for (int i = 0; i < PY; ++i) {
        [[unroll]] for (int j = 0; j < PX; ++j)
            if (y0 + i < COUNT_Y && x0 + j < COUNT_X) STORE(n, o, y0 + i, x0 + j, sum[i][j]);
    }
}

void main() {
    const int items = in0_dim0 * OUT * kBlocksY * kBlocksX;
    const int threads = int(gl_NumWorkGroups.x * gl_WorkGroupSize.x);
    for (int item = int(gl_GlobalInvocationID.x); item < items; item += threads) compute(item);
}
