// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The gradients of attention with respect to keys and values: as backward_queries.comp, but a
// workgroup keeps a tile of keys and walks over the queries of all heads that share them, in order.
//
// in0..in5: as in backward_queries.comp
// out0: [B, KEY_HEADS, KEYS, D], out1: [B, KEY_HEADS, KEYS, DV]

const int kWide = (D + 3) / 4, kWideValues = (DV + 3) / 4;
const int kHeadsEach = HEADS / KEY_HEADS;

shared vec4 queries[TILE_Q * (kWide + 1)];
shared vec4 cotangents[TILE_Q * (kWideValues + 1)];
shared vec4 keys[TILE_K * (kWide + 1)];
shared vec4 values[TILE_K * (kWideValues + 1)];
shared float weights[TILE_K * (TILE_Q + 1)];
shared float slopes[TILE_K * (TILE_Q + 1)];
shared vec4 sum_of_lane[THREADS];

#define QUERY_FOUR(b, h, i, column) in0_four_at(b, h, i, column)
#define KEY_FOUR(b, h, i, column) in1_four_at(b, h, i, column)
#define VALUE_FOUR(b, h, i, column) in2_four_at(b, h, i, column)
#define STORE_KEY(b, h, i, column, four) out0_four_at(b, h, i, column, four)
#define STORE_VALUE(b, h, i, column, four) out1_four_at(b, h, i, column, four)
#define COTANGENT_FOUR(b, h, i, column) in3_four_at(b, h, i, column)

void attend(int key_pair, int first_key_of_tile) {
    const int batch = key_pair / KEY_HEADS, key_head = key_pair % KEY_HEADS;
    const int first_head = key_head * kHeadsEach;
    const int thread = int(gl_LocalInvocationIndex);
    const int row = thread / LANES, lane = thread % LANES;
    const int key = first_key_of_tile + row;
    FETCH_FOURS(next_keys, TILE_K, D, in1, KEY_FOUR, batch, key_head, key_pair * KEYS,
                first_key_of_tile, KEYS)
    FETCH_FOURS(next_values, TILE_K, DV, in2, VALUE_FOUR, batch, key_head, key_pair * KEYS,
                first_key_of_tile, KEYS)
    bool is_first = true;
    vec4 to_key[COLUMNS(kWide)], to_value[COLUMNS(kWideValues)];
    for (int c = 0; c < COLUMNS(kWide); ++c) to_key[c] = vec4(0.0);
    for (int c = 0; c < COLUMNS(kWideValues); ++c) to_value[c] = vec4(0.0);

    for (int head = first_head; head < first_head + kHeadsEach; ++head) {
        const int pair = batch * HEADS + head;
        const Sequence s = sequence_of(pair);
        for (int first = 0; first < QUERIES; first += TILE_Q) {
            const int count = min(TILE_Q, QUERIES - first);
            // Windows move with the query: neither end of the tile may see these keys.
            if (last_key(s, first + count - 1) <= first_key_of_tile ||
                first_key(s, first) >= first_key_of_tile + TILE_K)
                continue;
            FETCH_FOURS(next_queries, TILE_Q, D, in0, QUERY_FOUR, batch, head, pair * QUERIES,
                        first, QUERIES)
            FETCH_FOURS(next_cotangents, TILE_Q, DV, in3, COTANGENT_FOUR, batch, head,
                        pair * QUERIES, first, QUERIES)
            barrier();
            if (is_first) {
                KEEP_FOURS(keys, next_keys, TILE_K, D)
                KEEP_FOURS(values, next_values, TILE_K, DV)
            }
            is_first = false;
            KEEP_FOURS(queries, next_queries, TILE_Q, D)
            KEEP_FOURS(cotangents, next_cotangents, TILE_Q, DV)
            barrier();
            for (int q = lane; q < TILE_Q; q += LANES) {
                float w = 0.0, of_score = 0.0;
                if (q < count) {
                    const int query_at = pair * QUERIES + first + q;
                    const float log_total = in4(query_at), common_part = in5(query_at);
                    vec4 product = vec4(0.0), of_weight = vec4(0.0);
                    ADD_PRODUCT(product, queries, q * (kWide + 1), keys, row * (kWide + 1), kWide)
                    ADD_PRODUCT(of_weight, cotangents, q * (kWideValues + 1), values,
                                row * (kWideValues + 1), kWideValues)
                    float slope;
                    const float score = score_of(s, first + q, key, total_of(product), slope);
                    w = weight_of(score, log_total);
                    if (score != kHidden)
                        of_score = w * (total_of(of_weight) - common_part) * slope * SCALE;
                }
                weights[row * (TILE_Q + 1) + q] = w;
                slopes[row * (TILE_Q + 1) + q] = of_score;
            }
            barrier();
            ADD_ROWS(to_key, slopes, row * (TILE_Q + 1), queries, kWide, lane, count, TILE_Q)
            ADD_ROWS(to_value, weights, row * (TILE_Q + 1), cotangents, kWideValues, lane, count,
                     TILE_Q)
        }
    }
    ADD_LANES(to_key, sum_of_lane, kWide, lane)
    ADD_LANES(to_value, sum_of_lane, kWideValues, lane)
    if (key >= KEYS) return;
    STORE_ROW(out0, STORE_KEY, batch, key_head, key, (key_pair * KEYS + key) * D, D, kWide, to_key,
              1.0, lane)
    STORE_ROW(out1, STORE_VALUE, batch, key_head, key, (key_pair * KEYS + key) * DV, DV,
              kWideValues, to_value, 1.0, lane)
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < KEY_PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_K; first < KEYS;
             first += int(gl_NumWorkGroups.y) * TILE_K) {
            attend(pair, first);
            barrier();
        }
}
