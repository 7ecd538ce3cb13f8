// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The gradients of attention with respect to keys and values: as backward_queries.comp, but a
// workgroup keeps a tile of keys and walks over the queries of all heads that share them, in order.
//
// in0..in5: as in backward_queries.comp
// out0: [B, KEY_HEADS, KEYS, D], out1: [B, KEY_HEADS, KEYS, DV]

const int kKeyColumns = (D + LANES - 1) / LANES;
const int kValueColumns = (DV + LANES - 1) / LANES;
const int kHeadsEach = HEADS / KEY_HEADS;

shared float queries[TILE_Q * (D + 1)];
shared float cotangents[TILE_Q * (DV + 1)];
shared float keys[TILE_K * (D + 1)];
shared float values[TILE_K * (DV + 1)];
shared float weights[TILE_K * (TILE_Q + 1)];
shared float slopes[TILE_K * (TILE_Q + 1)];

void attend(int key_pair, int first_key_of_tile) {
    const int batch = key_pair / KEY_HEADS, first_head = key_pair % KEY_HEADS * kHeadsEach;
    const int thread = int(gl_LocalInvocationIndex);
    const int row = thread / LANES, lane = thread % LANES;
    const int key = first_key_of_tile + row;
    barrier();
    LOAD_ROWS(keys, TILE_K, D, in1, key_pair * KEYS, first_key_of_tile, KEYS);
    LOAD_ROWS(values, TILE_K, DV, in2, key_pair * KEYS, first_key_of_tile, KEYS);
    float to_key[kKeyColumns], to_value[kValueColumns];
    for (int c = 0; c < kKeyColumns; ++c) to_key[c] = 0.0;
    for (int c = 0; c < kValueColumns; ++c) to_value[c] = 0.0;

    for (int head = first_head; head < first_head + kHeadsEach; ++head) {
        const int pair = batch * HEADS + head;
        const Sequence s = sequence_of(pair);
        for (int first = 0; first < QUERIES; first += TILE_Q) {
            const int last = min(first + TILE_Q, QUERIES) - 1;
            // Windows move with the query: neither end of the tile may see these keys.
            if (last_key(s, last) <= first_key_of_tile ||
                first_key(s, first) >= first_key_of_tile + TILE_K)
                continue;
            barrier();
            LOAD_ROWS(queries, TILE_Q, D, in0, pair * QUERIES, first, QUERIES);
            LOAD_ROWS(cotangents, TILE_Q, DV, in3, pair * QUERIES, first, QUERIES);
            barrier();
            for (int q = lane; q < TILE_Q; q += LANES) {
                float product = 0.0, of_weight = 0.0, slope;
                for (int d = 0; d < D; ++d)
                    product += queries[q * (D + 1) + d] * keys[row * (D + 1) + d];
                for (int d = 0; d < DV; ++d)
                    of_weight += cotangents[q * (DV + 1) + d] * values[row * (DV + 1) + d];
                const float score = score_of(s, first + q, key, product, slope);
                const int query_at = pair * QUERIES + min(first + q, QUERIES - 1);
                const float w = weight_of(score, in4(query_at));
                weights[row * (TILE_Q + 1) + q] = w;
                slopes[row * (TILE_Q + 1) + q] =
                    score == kHidden ? 0.0 : w * (of_weight - in5(query_at)) * slope * SCALE;
            }
            barrier();
            for (int q = 0; q < TILE_Q; ++q) {
                const float w = weights[row * (TILE_Q + 1) + q];
                const float slope = slopes[row * (TILE_Q + 1) + q];
                for (int c = 0; c < kKeyColumns; ++c)
                    if (lane + c * LANES < D && slope != 0.0)
                        to_key[c] += slope * queries[q * (D + 1) + lane + c * LANES];
                for (int c = 0; c < kValueColumns; ++c)
                    if (lane + c * LANES < DV && w != 0.0)
                        to_value[c] += w * cotangents[q * (DV + 1) + lane + c * LANES];
            }
        }
    }
    if (key >= KEYS) return;
    for (int c = 0; c < kKeyColumns; ++c)
        if (lane + c * LANES < D)
            out0((key_pair * KEYS + key) * D + lane + c * LANES, to_key[c]);
    for (int c = 0; c < kValueColumns; ++c)
        if (lane + c * LANES < DV)
            out1((key_pair * KEYS + key) * DV + lane + c * LANES, to_value[c]);
}

void main() {
    for (int pair = int(gl_WorkGroupID.x); pair < KEY_PAIRS; pair += int(gl_NumWorkGroups.x))
        for (int first = int(gl_WorkGroupID.y) * TILE_K; first < KEYS;
             first += int(gl_NumWorkGroups.y) * TILE_K)
            attend(pair, first);
}
