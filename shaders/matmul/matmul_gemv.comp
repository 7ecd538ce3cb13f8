// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched matrix product with few rows, out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]: what
// takes time is reading b, once.
//
// Each workgroup computes BM rows of BN columns.  Where b's elements follow each other along k, its
// threads share out k, a chunk each at a time (chunks.glsl), and have a sum for each result.  Else a
// chunk of neighbouring columns belongs to each of BN / CHUNK threads, and the other threads share
// out k.  The threads' sums are added through shared memory in a fixed order: deterministic.
// Bytes moved: K*N of b's elements for each BM rows, which a's rows and the results add little to.
//
// Code generation completes this text with BM BN THREADS, ALONG_K, CHUNK, a multiple of four, and
// what matmul_tiled.comp has, but load_chunk(b, k, n, k_count, n_count) gives a ChunkOfB: along k if
// ALONG_K, else along n, with zeros beyond the counts.  If ALONG_K, load_a4(b, m, k, m_count,
// k_count) gives four elements along k; else load_a(b, m, k) gives one.

#extension GL_EXT_control_flow_attributes : require

const int kLanesN = ALONG_K == 1 ? 1 : BN / CHUNK;
const int kLanesK = THREADS / kLanesN;
const int kColumns = ALONG_K == 1 ? BN : CHUNK;  // of a thread
const int kResults = BM * BN;
const int kMostParts = kLanesK < 8 ? kLanesK : 8;
const int kParts = THREADS / kResults < 1            ? 1
                   : THREADS / kResults < kMostParts ? THREADS / kResults
                                                     : kMostParts;
const int kPart = kLanesK / kParts;

shared float partial[kLanesK * kResults];

void main() {
    const int thread = int(gl_LocalInvocationID.x);
    const int lane_n = thread % kLanesN, lane_k = thread / kLanesN;
    const int first_n = int(gl_WorkGroupID.x) * BN;
    const int first_m = int(gl_WorkGroupID.y) * BM;
    const int batch = int(gl_WorkGroupID.z);
    const int m_count = M, n_count = N;
    const int k_first = K_FIRST, k_count = K_END;
    if (first_m >= m_count || first_n >= n_count) return;

    float sum[BM][kColumns];
    [[unroll]] for (int i = 0; i < BM; ++i)
        [[unroll]] for (int j = 0; j < kColumns; ++j) sum[i][j] = 0.0;

#if ALONG_K
    for (int k = k_first + lane_k * CHUNK; k < k_count; k += kLanesK * CHUNK) {
        ChunkOfB b[BN];
        // Columns beyond the last are computed again: a load needs a place.
        [[unroll]] for (int j = 0; j < BN; ++j)
            b[j] = load_chunk(batch, k, min(first_n + j, n_count - 1), k_count, n_count);
        [[unroll]] for (int part = 0; part < CHUNK / 4; ++part) {
            [[unroll]] for (int i = 0; i < BM; ++i) {
                const vec4 a = load_a4(batch, min(first_m + i, m_count - 1), k + 4 * part, m_count,
                                       k_count);
                [[unroll]] for (int j = 0; j < BN; ++j) sum[i][j] += dot(a, four_of(b[j], part));
            }
        }
    }
#else
    const int n = first_n + lane_n * CHUNK;
    for (int k = k_first + lane_k; k < k_count && n < n_count; k += kLanesK) {
        const ChunkOfB b = load_chunk(batch, k, n, k_count, n_count);
        [[unroll]] for (int i = 0; i < BM; ++i) {
            const float a = load_a(batch, min(first_m + i, m_count - 1), k);
            [[unroll]] for (int part = 0; part < CHUNK / 4; ++part) {
                const vec4 four = four_of(b, part);
                [[unroll]] for (int j = 0; j < 4; ++j) sum[i][4 * part + j] += a * four[j];
            }
        }
    }
#endif

    [[unroll]] for (int i = 0; i < BM; ++i)
        [[unroll]] for (int j = 0; j < kColumns; ++j)
            partial[(i * BN + lane_n * kColumns + j) * kLanesK + lane_k] = sum[i][j];
    // In two steps: some threads add up a part of each result's sums, then one adds up the parts.
    // Each begins somewhere else, so that neighbours read different banks.
    barrier();
    for (int e = thread; e < kResults * kParts; e += THREADS) {
        const int at = e / kParts * kLanesK + e % kParts * kPart;
        float total = 0.0;
        [[unroll]] for (int i = 0; i < kPart; ++i) total += partial[at + (i + e) % kPart];
        partial[at] = total;
    }
    barrier();
    for (int e = thread; e < kResults; e += THREADS) {
        float total = 0.0;
        [[unroll]] for (int i = 0; i < kParts; ++i) total += partial[e * kLanesK + i * kPart];
        const int m = first_m + e / BN, n = first_n + e % BN;
        if (m < m_count && n < n_count) store(batch, m, n, total);
    }
}
