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
// Thread: row (query) = index / LANES.  Of a tile it computes the scores of every LANES-th key; of
// the result it sums some columns (ADD_ROWS).

const int kWide = (D + 3) / 4, kWideValues = (DV + 3) / 4;  // vectors of a row
const int kKeysEach = (TILE_K + LANES - 1) / LANES;

shared vec4 queries[TILE_Q * (kWide + 1)];
shared vec4 keys[TILE_K * (kWide + 1)];
shared vec4 values[TILE_K * (kWideValues + 1)];
shared float weights[TILE_Q * (TILE_K + 1)];
shared vec4 of_lane[THREADS / 4];
shared vec4 sum_of_lane[THREADS];

#define QUERY_FOUR(b, h, i, column) in0_four_at(b, h, i, column)
#define KEY_FOUR(b, h, i, column) in1_four_at(b, h, i, column)
#define VALUE_FOUR(b, h, i, column) in2_four_at(b, h, i, column)
#define STORE_RESULT(b, h, i, column, four) out0_four_at(b, h, i, column, four)

void attend(int pair, int first_query) {
    const Sequence s = sequence_of(pair);
    const int key_head = s.head / (HEADS / KEY_HEADS);
    const int key_base = (s.batch * KEY_HEADS + key_head) * KEYS;
    const int thread = int(gl_LocalInvocationIndex);
    const int row = thread / LANES, lane = thread % LANES;
    const int query = first_query + row;
    FETCH_FOURS(next_queries, TILE_Q, D, in0, QUERY_FOUR, s.batch, s.head, pair * QUERIES,
                first_query, QUERIES)
    vec4 sums[COLUMNS(kWideValues)];
    for (int c = 0; c < COLUMNS(kWideValues); ++c) sums[c] = vec4(0.0);
    float largest = kHidden, total = 0.0;  // the total of the lane's keys alone

    const int end = last_key(s, min(first_query + TILE_Q, QUERIES) - 1);
    const int begin = first_key(s, first_query) / TILE_K * TILE_K;
    for (int first = begin; first < end; first += TILE_K) {
        const int count = min(TILE_K, end - first);
        FETCH_FOURS(next_keys, TILE_K, D, in1, KEY_FOUR, s.batch, key_head, key_base, first, end)
        FETCH_FOURS(next_values, TILE_K, DV, in2, VALUE_FOUR, s.batch, key_head, key_base, first,
                    end)
        barrier();
        if (first == begin) KEEP_FOURS(queries, next_queries, TILE_Q, D)
        KEEP_FOURS(keys, next_keys, TILE_K, D)
        KEEP_FOURS(values, next_values, TILE_K, DV)
        barrier();
        float score[kKeysEach], tile_largest = kHidden;
        UNROLL for (int u = 0; u < kKeysEach; ++u) {
            const int k = lane + u * LANES;
            score[u] = kHidden;
            if (k < count) {
                vec4 product = vec4(0.0);
                ADD_PRODUCT(product, queries, row * (kWide + 1), keys, k * (kWide + 1), kWide)
                float slope;
                score[u] = score_of(s, query, first + k, total_of(product), slope);
            }
            tile_largest = max(tile_largest, score[u]);
        }
        of_lane[thread / 4][thread % 4] = tile_largest;
        barrier();
        vec4 of_row = vec4(largest);
        UNROLL for (int l = 0; l < LANES / 4; ++l)
            of_row = max(of_row, of_lane[row * (LANES / 4) + l]);
        const float now = max(max(of_row.x, of_row.y), max(of_row.z, of_row.w));
        const float kept = weight_of(largest, now);
        largest = now;
        total *= kept;
        for (int c = 0; c < COLUMNS(kWideValues); ++c) sums[c] *= kept;
        UNROLL for (int u = 0; u < kKeysEach; ++u) {
            const float w = weight_of(score[u], now);
            total += w;
            if (lane + u * LANES < TILE_K) weights[row * (TILE_K + 1) + lane + u * LANES] = w;
        }
        barrier();
        ADD_ROWS(sums, weights, row * (TILE_K + 1), values, kWideValues, lane, count, TILE_K)
    }
    ADD_LANES(sums, sum_of_lane, kWideValues, lane)
    barrier();
    of_lane[thread / 4][thread % 4] = total;
    barrier();
    vec4 totals = vec4(0.0);
    UNROLL for (int l = 0; l < LANES / 4; ++l) totals += of_lane[row * (LANES / 4) + l];
    total = total_of(totals);
    if (query >= QUERIES) return;
    const float factor = total == 0.0 ? 0.0 : 1.0 / total;
    STORE_ROW(out0, STORE_RESULT, s.batch, s.head, query, (pair * QUERIES + query) * DV, DV,
              kWideValues, sums, factor, lane)
    if (lane == 0) out1(pair * QUERIES + query, total == 0.0 ? 0.0 : largest + log(total));
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_Q; first < QUERIES;
             first += int(gl_NumWorkGroups.y) * TILE_Q) {
            attend(pair, first);
            barrier();
        }
}
