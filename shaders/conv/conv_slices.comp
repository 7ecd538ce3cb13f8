// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution like compiler/codegen/conv/gpu_conv_tiled.cpp, but of f16 with f32 sums, on matrix cores
// (shaders/common/coopmat.glsl), for images of few pixels: weights [OUT, depth] times patches [depth,
// pixels], depth being channels and taps in the order of memory.
//
// Each workgroup computes PIXELS pixels for TILE_OUT output channels; each of its SLICES subgroups
// takes a part of the input channels, CHUNK of the depth at a time (whole channels, or all there are),
// and adds up sums of its own.  A
// lane loads the elements of its pixels' windows, all before the first is waited for (with
// LOADS_BY_STAGE those of a stage, which takes fewer registers), and stages
// them, STAGE of the depth at a time, in shared memory of its subgroup's, beside the weights; so
// subgroups wait for no other until the end, when the parts are added in a fixed order.
// Rows in shared memory lie a vector of eight apart more than they are long, so that they begin in
// different banks.
// Bytes moved: x once for each row of the window and OUT / TILE_OUT times, mostly from the cache; w
// pixels / PIXELS times; y once; 2 each.

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

const int kPlane = SIZE_Y * SIZE_X;
const int kPlaces = COUNT_Y * COUNT_X;
const int kTaps = TAPS_Y * TAPS_X;
const int kDepth = CHANNELS * kTaps;
const bool kIsWhole = SLICES * SLICE_CHUNKS * CHUNK == kDepth;
const int kEach = PIXELS / SUBGROUP;  // pixels of a lane
const int kThreads = SLICES * SUBGROUP;
#if LOADS_BY_STAGE
const int kHeld = STAGE;
#else
const int kHeld = CHUNK;
#endif
const int kVectors = kHeld / 8;  // of what is held of a row
const int kLoads = (TILE_OUT * kVectors + SUBGROUP - 1) / SUBGROUP;
const int kStep = STAGE / 8 + 1;
const int kStaged = (PIXELS + TILE_OUT) * kStep;  // vectors of a subgroup
const int kParts = TILE_OUT * PIXELS / 4;         // likewise, at the end
const int kRowsOut = TILE_OUT / hearth_matrix_m, kColumns = PIXELS / hearth_matrix_n;

// Of a subgroup: its patches, [PIXELS, STAGE], and weights, [TILE_OUT, STAGE]; then its sums.
shared uvec4 memory[SLICES * (kStaged > kParts ? kStaged : kParts)];

// Where in x the first element of a pixel's window is; and a bit for each row, and TAPS_Y on for
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

// Element k of the chunk from channel c on.
float16_t element(ivec2 window, int c, int k) {
    const int channel = k / kTaps, ky = k % kTaps / TAPS_X, kx = k % TAPS_X;
    const int needed = (1 << ky) | (1 << (TAPS_Y + kx));
    const bool inside = (!IS_PADDED || (window.y & needed) == needed) &&
                        (kIsWhole || c + channel < CHANNELS);
    const int at =
        window.x + (c + channel) * kPlane + ky * DILATION_Y * SIZE_X + kx * DILATION_X;
    return inside ? in0_half(at) : float16_t(0.0);
}

uvec4 eight_elements(ivec2 window, int c, int k) {
    uvec4 words;
    [[unroll]] for (int e = 0; e < 4; ++e)
        words[e] = packFloat2x16(f16vec2(element(window, c, k + 2 * e),
                                         element(window, c, k + 2 * e + 1)));
    return words;
}

uvec4 eight_weights(int first_out, int chunk, int e) {
    const int o = min(first_out + e / kVectors, OUT - 1), k = chunk * kHeld + e % kVectors * 8;
#if WEIGHTS_BY_EIGHT
    return kIsWhole || k < kDepth ? in1_eight(o * kDepth + k) : uvec4(0u);
#else
    uvec4 words;
    [[unroll]] for (int i = 0; i < 4; ++i) {
        f16vec2 pair = f16vec2(0.0);
        if (k + 2 * i < kDepth) pair.x = in1_half(o * kDepth + k + 2 * i);
        if (k + 2 * i + 1 < kDepth) pair.y = in1_half(o * kDepth + k + 2 * i + 1);
        words[i] = packFloat2x16(pair);
    }
    return words;
#endif
}

void compute(int first, int count) {
    const int slice = int(gl_SubgroupID), lane = int(gl_SubgroupInvocationID);
    const int first_out = int(gl_WorkGroupID.y) * TILE_OUT;
    const int pixels = slice * kStaged, weights = pixels + PIXELS * kStep;
    hearth_matrix_sum sum[kRowsOut][kColumns];
    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
        [[unroll]] for (int j = 0; j < kColumns; ++j) sum[i][j] = hearth_matrix_sum(0.0);
    ivec2 window[kEach];
    [[unroll]] for (int i = 0; i < kEach; ++i)
        window[i] = window_of(min(first + lane + i * SUBGROUP, count - 1));

    // All subgroups go round equally often: not every driver lets matrices be used otherwise.
    for (int turn = 0; turn < SLICE_CHUNKS; ++turn) {
        const int chunk = slice * SLICE_CHUNKS + turn;
#if LOADS_BY_STAGE
        [[unroll]] for (int from = 0; from < CHUNK; from += STAGE) {
#define FROM(k) (from + (k))
#define HELD_OF(chunk) ((chunk) * (CHUNK / STAGE) + from / STAGE)
#else
        {
#define FROM(k) k
#define HELD_OF(chunk) chunk
#endif
        uvec4 patches[kEach][kVectors], held[kLoads];
        [[unroll]] for (int i = 0; i < kEach; ++i)
            [[unroll]] for (int v = 0; v < kVectors; ++v)
                patches[i][v] = eight_elements(window[i], chunk * (CHUNK / kTaps), FROM(8 * v));
        [[unroll]] for (int u = 0; u < kLoads; ++u)
            held[u] = eight_weights(first_out, HELD_OF(chunk), lane + u * SUBGROUP);

        [[unroll]] for (int stage = 0; stage < kHeld; stage += STAGE) {
            subgroupBarrier();
            [[unroll]] for (int i = 0; i < kEach; ++i)
                [[unroll]] for (int v = 0; v < STAGE / 8; ++v)
                    memory[pixels + (lane + i * SUBGROUP) * kStep + v] = patches[i][stage / 8 + v];
            [[unroll]] for (int u = 0; u < kLoads; ++u) {
                const int e = lane + u * SUBGROUP, row = e / kVectors;
                const int v = e % kVectors - stage / 8;
                if (row < TILE_OUT && uint(v) < uint(STAGE / 8))
                    memory[weights + row * kStep + v] = held[u];
            }
            subgroupBarrier();
            [[unroll]] for (int k = 0; k < STAGE; k += hearth_matrix_k) {
                hearth_matrix_a a[kRowsOut];
                [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                    hearth_matrix_load(a[i], memory, weights + i * hearth_matrix_m * kStep + k / 8,
                                       kStep, false);
                [[unroll]] for (int j = 0; j < kColumns; ++j) {
                    hearth_matrix_b b;
                    hearth_matrix_load(b, memory, pixels + j * hearth_matrix_n * kStep + k / 8,
                                       kStep, true);
                    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
                        sum[i][j] = hearth_multiply_add(a[i], b, sum[i][j]);
                }
            }
        }
        }
    }

    barrier();
    [[unroll]] for (int i = 0; i < kRowsOut; ++i)
        [[unroll]] for (int j = 0; j < kColumns; ++j)
            hearth_matrix_store(sum[i][j], memory,
                                slice * kParts + (i * hearth_matrix_m * PIXELS +
                                                  j * hearth_matrix_n) / 4,
                                PIXELS / 4, false);
    barrier();
    for (int e = int(gl_LocalInvocationIndex); e < TILE_OUT * PIXELS; e += kThreads) {
        const int q = first + e % PIXELS, o = first_out + e / PIXELS;
        float total = 0.0;
        [[unroll]] for (int s = 0; s < SLICES; ++s)
            total += uintBitsToFloat(memory[s * kParts + e / 4][e % 4]);
        const int p = q % kPlaces;
        if (q < count && o < OUT) STORE(q / kPlaces, o, p / COUNT_X, p % COUNT_X, total);
    }
    barrier();
}

void main() {
    const int count = in0_dim0 * kPlaces;
    for (int first = int(gl_WorkGroupID.x) * PIXELS; first < count;
         first += int(gl_NumWorkGroups.x) * PIXELS)
        compute(first, count);
}
