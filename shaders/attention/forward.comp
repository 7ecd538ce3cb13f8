// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// softmax(scores) values without storing scores: a workgroup keeps a tile of queries and walks over
// the keys, rescaling what it has summed whenever a row's largest score grows.  f32 throughout.
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022, algorithm 1.
//
// in0: queries [B, HEADS, QUERIES, D], in1: keys [B, KEY_HEADS, KEYS, D],
// in2: values [B, KEY_HEADS, KEYS, DV]
// out0: [B, HEADS, QUERIES, DV], out1: log of the sum of exp(scores) [B, HEADS, QUERIES]; both 0
// for a query that sees no key
//
// Thread: row (query) = index / LANES; it computes the scores of every LANES-th key of a tile, and
// every LANES-th column of the result.

const int kColumns = (DV + LANES - 1) / LANES;

shared float queries[TILE_Q * (D + 1)];
shared float keys[TILE_K * (D + 1)];
shared float values[TILE_K * (DV + 1)];
shared float scores[TILE_Q * (TILE_K + 1)];

void attend(int pair, int first_query) {
    const Sequence s = sequence_of(pair);
    const int key_base = (s.batch * KEY_HEADS + s.head / (HEADS / KEY_HEADS)) * KEYS;
    const int row = int(gl_LocalInvocationIndex) / LANES;
    const int lane = int(gl_LocalInvocationIndex) % LANES;
    const int query = first_query + row;
    LOAD_ROWS(queries, TILE_Q, D, in0, pair * QUERIES, first_query, QUERIES);
    float sums[kColumns];
    for (int c = 0; c < kColumns; ++c) sums[c] = 0.0;
    float largest = kHidden, total = 0.0;

    const int last_query = min(first_query + TILE_Q, QUERIES) - 1;
    const int end = last_key(s, last_query);
    for (int first = first_key(s, first_query) / TILE_K * TILE_K; first < end; first += TILE_K) {
        barrier();
        LOAD_ROWS(keys, TILE_K, D, in1, key_base, first, KEYS);
        LOAD_ROWS(values, TILE_K, DV, in2, key_base, first, KEYS);
        barrier();
        for (int k = lane; k < TILE_K; k += LANES) {
            float product = 0.0;
            for (int d = 0; d < D; ++d)
                product += queries[row * (D + 1) + d] * keys[k * (D + 1) + d];
            float slope;
            scores[row * (TILE_K + 1) + k] = score_of(s, query, first + k, product, slope);
        }
        barrier();
        float now = largest;
        for (int k = 0; k < TILE_K; ++k) now = max(now, scores[row * (TILE_K + 1) + k]);
        const float kept = weight_of(largest, now);
        largest = now;
        total *= kept;
        for (int c = 0; c < kColumns; ++c) sums[c] *= kept;
        for (int k = 0; k < TILE_K; ++k) {
            const float w = weight_of(scores[row * (TILE_K + 1) + k], now);
            total += w;
            for (int c = 0; c < kColumns; ++c)
                if (lane + c * LANES < DV && w != 0.0)
                    sums[c] += w * values[k * (DV + 1) + lane + c * LANES];
        }
    }
    barrier();
    if (query >= QUERIES) return;
    for (int c = 0; c < kColumns; ++c)
        if (lane + c * LANES < DV)
            out0((pair * QUERIES + query) * DV + lane + c * LANES,
                 total == 0.0 ? 0.0 : sums[c] / total);
    if (lane == 0) out1(pair * QUERIES + query, total == 0.0 ? 0.0 : largest + log(total));
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_Q; first < QUERIES;
             first += int(gl_NumWorkGroups.y) * TILE_Q)
            attend(pair, first);
}
