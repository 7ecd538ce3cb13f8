// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The gradient of attention with respect to the queries, from scores computed again.
// Dao et al., "FlashAttention", 2022, algorithm 4, without its sums over workgroups.
//
// in0..in2: queries, keys, values as in forward.comp; in3: cotangent g [B, HEADS, QUERIES, DV];
// in4: log of the sums [B, HEADS, QUERIES]; in5: sum of g times the result, of the same shape
// out0: [B, HEADS, QUERIES, D]

const int kColumns = (D + LANES - 1) / LANES;

shared float queries[TILE_Q * (D + 1)];
shared float cotangents[TILE_Q * (DV + 1)];
shared float keys[TILE_K * (D + 1)];
shared float values[TILE_K * (DV + 1)];
shared float slopes[TILE_Q * (TILE_K + 1)];

void attend(int pair, int first_query) {
    const Sequence s = sequence_of(pair);
    const int key_base = (s.batch * KEY_HEADS + s.head / (HEADS / KEY_HEADS)) * KEYS;
    const int thread = int(gl_LocalInvocationIndex);
    const int row = thread / LANES, lane = thread % LANES;
    const int query = first_query + row;
    const int query_at = pair * QUERIES + min(query, QUERIES - 1);
    LOAD_ROWS(queries, TILE_Q, D, in0, pair * QUERIES, first_query, QUERIES);
    LOAD_ROWS(cotangents, TILE_Q, DV, in3, pair * QUERIES, first_query, QUERIES);
    const float log_total = in4(query_at), common_part = in5(query_at);
    float sums[kColumns];
    for (int c = 0; c < kColumns; ++c) sums[c] = 0.0;

    const int last_query = min(first_query + TILE_Q, QUERIES) - 1;
    const int end = last_key(s, last_query);
    for (int first = first_key(s, first_query) / TILE_K * TILE_K; first < end; first += TILE_K) {
        barrier();
        LOAD_ROWS(keys, TILE_K, D, in1, key_base, first, KEYS);
        LOAD_ROWS(values, TILE_K, DV, in2, key_base, first, KEYS);
        barrier();
        for (int k = lane; k < TILE_K; k += LANES) {
            float product = 0.0, of_weight = 0.0, slope;
            for (int d = 0; d < D; ++d)
                product += queries[row * (D + 1) + d] * keys[k * (D + 1) + d];
            for (int d = 0; d < DV; ++d)
                of_weight += cotangents[row * (DV + 1) + d] * values[k * (DV + 1) + d];
            const float score = score_of(s, query, first + k, product, slope);
            slopes[row * (TILE_K + 1) + k] =
                score == kHidden
                    ? 0.0
                    : weight_of(score, log_total) * (of_weight - common_part) * slope * SCALE;
        }
        barrier();
        for (int k = 0; k < TILE_K; ++k) {
            const float w = slopes[row * (TILE_K + 1) + k];
            for (int c = 0; c < kColumns; ++c)
                if (lane + c * LANES < D && w != 0.0)
                    sums[c] += w * keys[k * (D + 1) + lane + c * LANES];
        }
    }
    barrier();
    if (query >= QUERIES) return;
    for (int c = 0; c < kColumns; ++c)
        if (lane + c * LANES < D) out0(query_at * D + lane + c * LANES, sums[c]);
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_Q; first < QUERIES;
             first += int(gl_NumWorkGroups.y) * TILE_Q)
            attend(pair, first);
}
