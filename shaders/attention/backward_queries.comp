// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The gradient of attention with respect to the queries, from scores computed again.
// Dao et al., "FlashAttention", 2022, algorithm 4, without its sums over workgroups.
//
// in0..in2: queries, keys, values as in forward.comp; in3: cotangent g [B, HEADS, QUERIES, DV];
// in4: log of the sums [B, HEADS, QUERIES]; in5: sum of g times the result, of the same shape
// out0: [B, HEADS, QUERIES, D]

const int kWide = (D + 3) / 4, kWideValues = (DV + 3) / 4;

shared vec4 queries[TILE_Q * (kWide + 1)];
shared vec4 cotangents[TILE_Q * (kWideValues + 1)];
shared vec4 keys[TILE_K * (kWide + 1)];
shared vec4 values[TILE_K * (kWideValues + 1)];
shared float slopes[TILE_Q * (TILE_K + 1)];
shared vec4 sum_of_lane[THREADS];

#define QUERY_FOUR(b, h, i, column) in0_four_at(b, h, i, column)
#define KEY_FOUR(b, h, i, column) in1_four_at(b, h, i, column)
#define VALUE_FOUR(b, h, i, column) in2_four_at(b, h, i, column)
#define STORE_RESULT(b, h, i, column, four) out0_four_at(b, h, i, column, four)
#define COTANGENT_FOUR(b, h, i, column) in3_four_at(b, h, i, column)

void attend(int pair, int first_query) {
    const Sequence s = sequence_of(pair);
    const int key_head = s.head / (HEADS / KEY_HEADS);
    const int key_base = (s.batch * KEY_HEADS + key_head) * KEYS;
    const int thread = int(gl_LocalInvocationIndex);
    const int row = thread / LANES, lane = thread % LANES;
    const int query = first_query + row;
    const int query_at = pair * QUERIES + min(query, QUERIES - 1);
    FETCH_FOURS(next_queries, TILE_Q, D, in0, QUERY_FOUR, s.batch, s.head, pair * QUERIES,
                first_query, QUERIES)
    FETCH_FOURS(next_cotangents, TILE_Q, DV, in3, COTANGENT_FOUR, s.batch, s.head, pair * QUERIES,
                first_query, QUERIES)
    const float log_total = in4(query_at), common_part = in5(query_at);
    vec4 sums[COLUMNS(kWide)];
    for (int c = 0; c < COLUMNS(kWide); ++c) sums[c] = vec4(0.0);

    const int end = last_key(s, min(first_query + TILE_Q, QUERIES) - 1);
    const int begin = first_key(s, first_query) / TILE_K * TILE_K;
    for (int first = begin; first < end; first += TILE_K) {
        const int count = min(TILE_K, end - first);
        FETCH_FOURS(next_keys, TILE_K, D, in1, KEY_FOUR, s.batch, key_head, key_base, first, end)
        FETCH_FOURS(next_values, TILE_K, DV, in2, VALUE_FOUR, s.batch, key_head, key_base, first,
                    end)
        barrier();
        if (first == begin) {
            KEEP_FOURS(queries, next_queries, TILE_Q, D)
            KEEP_FOURS(cotangents, next_cotangents, TILE_Q, DV)
        }
        KEEP_FOURS(keys, next_keys, TILE_K, D)
        KEEP_FOURS(values, next_values, TILE_K, DV)
        barrier();
        for (int k = lane; k < TILE_K; k += LANES) {
            float of_score = 0.0;
            if (k < count) {
                vec4 product = vec4(0.0), of_weight = vec4(0.0);
                ADD_PRODUCT(product, queries, row * (kWide + 1), keys, k * (kWide + 1), kWide)
                ADD_PRODUCT(of_weight, cotangents, row * (kWideValues + 1), values,
                            k * (kWideValues + 1), kWideValues)
                float slope;
                const float score = score_of(s, query, first + k, total_of(product), slope);
                if (score != kHidden)
                    of_score = weight_of(score, log_total) * (total_of(of_weight) - common_part) *
                               slope * SCALE;
            }
            slopes[row * (TILE_K + 1) + k] = of_score;
        }
        barrier();
        ADD_ROWS(sums, slopes, row * (TILE_K + 1), keys, kWide, lane, count, TILE_K)
    }
    ADD_LANES(sums, sum_of_lane, kWide, lane)
    if (query < QUERIES)
        STORE_ROW(out0, STORE_RESULT, s.batch, s.head, query, query_at * D, D, kWide, sums, 1.0,
                  lane)
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_Q; first < QUERIES;
             first += int(gl_NumWorkGroups.y) * TILE_Q) {
            attend(pair, first);
            barrier();
        }
}
