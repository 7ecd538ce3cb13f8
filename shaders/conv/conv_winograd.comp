// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution with 3 x 3 windows, one apart, by Winograd's minimal filtering F(2 x 2, 3 x 3) (Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2016, section 4.1): a block of 2 x 2
// results takes 16 products for each channel instead of 36.
//
// in0: x [N, CHANNELS, SIZE_Y, SIZE_X]    in1: w [OUT, CHANNELS, 3, 3]
// out0: [N, OUT, COUNT_Y, COUNT_X]
//
// Each workgroup computes kBlocks blocks for kOuts output channels.  CHUNK input channels at a time,
// each thread transforms the 4 x 4 elements of one block and one kernel into shared memory; then 16
// threads for each of the 16 products of matrices sum 8 x 8 elements each.  At the end all 16 meet in
// shared memory and are transformed back.  f32 sums in a fixed order; infinities give NaN, as
// differences of elements are multiplied.
// Bytes moved: x 4 OUT / kOuts times, mostly from the cache; w once for each kBlocks blocks; y once.

#extension GL_EXT_control_flow_attributes : require

const int kBlocks = 32, kOuts = 32, kThreads = 256;
const int kPlane = SIZE_Y * SIZE_X;
const int kBlocksX = (COUNT_X + 1) / 2, kBlocksY = (COUNT_Y + 1) / 2;
const int kOfImage = kBlocksX * kBlocksY;

// [16, CHUNK, kBlocks] and [16, CHUNK, kOuts] while summing, [16, kOuts / 2, kBlocks] at the end.
shared vec4 memory[16 * CHUNK * (kBlocks + kOuts) / 4];
#define SHARED(e) memory[(e) / 4][(e) % 4]
const int kWeights = 16 * CHUNK * kBlocks;

// The elements that a block reads of a channel: zero outside x.
mat4 block_of_x(int block, int c) {
    const int n = block / kOfImage, at = block % kOfImage;
    const int y = at / kBlocksX * 2 - LOW_Y, x = at % kBlocksX * 2 - LOW_X;
    const int from = (n * CHANNELS + c) * kPlane + y * SIZE_X + x;
    mat4 d;
    [[unroll]] for (int i = 0; i < 4; ++i) {
        [[unroll]] for (int j = 0; j < 4; ++j) {
            const bool inside = uint(y + i) < uint(SIZE_Y) && uint(x + j) < uint(SIZE_X);
            d[i][j] = inside && c < CHANNELS ? in0(from + i * SIZE_X + j) : 0.0;
        }
    }
    return d;
}

// By rows first: d[i] is row i.
mat4 transformed_x(mat4 d) {
    const mat4 t = mat4(d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]);
    mat4 v;
    [[unroll]] for (int i = 0; i < 4; ++i)
        v[i] = vec4(t[i][0] - t[i][2], t[i][1] + t[i][2], t[i][2] - t[i][1], t[i][1] - t[i][3]);
    return v;
}

mat3 kernel_of(int o, int c) {
    const int from = (min(o, OUT - 1) * CHANNELS + min(c, CHANNELS - 1)) * 9;
    mat3 g;
    [[unroll]] for (int i = 0; i < 3; ++i)
        [[unroll]] for (int j = 0; j < 3; ++j) g[i][j] = in1(from + 3 * i + j);
    return g;
}

vec4 spread(vec3 g) {
    const float ends = 0.5 * (g.x + g.z), middle = 0.5 * g.y;
    return vec4(g.x, ends + middle, ends - middle, g.z);
}

mat4 transformed_kernel(mat3 g) {
    const vec3 ends = 0.5 * (g[0] + g[2]), middle = 0.5 * g[1];
    return mat4(spread(g[0]), spread(ends + middle), spread(ends - middle), spread(g[2]));
}

void store_block(int block, int count, int o, mat4 m) {
    if (block >= count || o >= OUT) return;
    const vec4 above = m[0] + m[1] + m[2], below = m[1] - m[2] - m[3];
    const vec2 results[2] = vec2[2](vec2(above.x + above.y + above.z, above.y - above.z - above.w),
                                    vec2(below.x + below.y + below.z, below.y - below.z - below.w));
    const int n = block / kOfImage, at = block % kOfImage;
    const int y = at / kBlocksX * 2, x = at % kBlocksX * 2;
    [[unroll]] for (int i = 0; i < 2; ++i) {
        [[unroll]] for (int j = 0; j < 2; ++j)
            if (y + i < COUNT_Y && x + j < COUNT_X) STORE(n, o, y + i, x + j, results[i][j]);
    }
}

void compute(int first, int count) {
    const int thread = int(gl_LocalInvocationIndex);
    const int first_out = int(gl_WorkGroupID.y) * kOuts;
    const int product = thread / 16, down = thread / 4 % 4 * 8, right = thread % 4 * 8;
    float sum[8][8];
    [[unroll]] for (int i = 0; i < 8; ++i)
        [[unroll]] for (int j = 0; j < 8; ++j) sum[i][j] = 0.0;

    const int lane = thread % 32, channel = thread / 32;
    for (int c0 = 0; c0 < CHANNELS; c0 += CHUNK) {
        const mat4 v = transformed_x(block_of_x(min(first + lane, count - 1), c0 + channel));
        const mat4 u = transformed_kernel(kernel_of(first_out + lane, c0 + channel));
        barrier();
        [[unroll]] for (int k = 0; k < 16; ++k) {
            SHARED((k * CHUNK + channel) * kBlocks + lane) = v[k / 4][k % 4];
            SHARED(kWeights + (k * CHUNK + channel) * kOuts + lane) = u[k / 4][k % 4];
        }
        barrier();
        [[unroll]] for (int c = 0; c < CHUNK; ++c) {
            const int row = product * CHUNK + c;
            vec4 a[2], b[2];
            [[unroll]] for (int h = 0; h < 2; ++h) {
                a[h] = memory[(kWeights + row * kOuts + down) / 4 + h];
                b[h] = memory[(row * kBlocks + right) / 4 + h];
            }
            [[unroll]] for (int i = 0; i < 8; ++i)
                [[unroll]] for (int j = 0; j < 8; ++j)
                    sum[i][j] += a[i / 4][i % 4] * b[j / 4][j % 4];
        }
    }

    // Half of the output channels at a time, as that is what fits.
    [[unroll]] for (int half_out = 0; half_out < kOuts; half_out += kOuts / 2) {
        barrier();
        if (down / (kOuts / 2) == half_out / (kOuts / 2)) {
            [[unroll]] for (int i = 0; i < 8; ++i)
                [[unroll]] for (int j = 0; j < 8; ++j)
                    SHARED((product * (kOuts / 2) + down - half_out + i) * kBlocks + right + j) =
                        sum[i][j];
        }
        barrier();
        for (int e = thread; e < kOuts / 2 * kBlocks; e += kThreads) {
            mat4 m;
            [[unroll]] for (int k = 0; k < 16; ++k)
                m[k / 4][k % 4] = SHARED(k * (kOuts / 2) * kBlocks + e);
            store_block(first + e % kBlocks, count, first_out + half_out + e / kBlocks, m);
        }
    }
}

void main() {
    const int count = in0_dim0 * kOfImage;
    for (int first = int(gl_WorkGroupID.x) * kBlocks; first < count;
         first += int(gl_NumWorkGroups.x) * kBlocks)
        compute(first, count);
}
