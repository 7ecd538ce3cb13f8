// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the kernels of attention share: tiles in shared memory, and the score of one query and key.
//
// Constants from the record: THREADS of a workgroup, UNROLL (empty where drivers had better not),
// HEADS, KEY_HEADS, D (width of queries and keys), DV (of values), TILE_Q, TILE_K, LANES (threads for
// each row), SCALE, SOFTCAP (0: none), CAUSAL, LEFT, RIGHT (window, -1: open), PAST; HAS_MASK with
// MASK_AT(b, h, i, j), MASK_IS_BOOL; HAS_LENGTHS with LENGTH_AT(b).
// QUERIES and KEYS are the extents of the sequences.

// Reads `rows` rows from `first` on, as zeros from `end` on, of the matrix of `width` columns whose
// elements are source(base * width), ..., into `tile`, whose rows lie one element apart more than
// they are long, in different banks.  All loads are on their way before the first is waited for.
#define LOAD_ROWS(tile, rows, width, source, base, first, end)                                     \
    {                                                                                              \
        const int kEach = ((rows) * (width) + THREADS - 1) / THREADS;                              \
        float held[kEach];                                                                         \
        UNROLL for (int u = 0; u < kEach; ++u) {                                                   \
            const int n = int(gl_LocalInvocationIndex) + u * THREADS;                              \
            const int i = (first) + n / (width);                                                   \
            const bool inside = n < (rows) * (width) && i < (end);                                 \
            held[u] = inside ? source(((base) + i) * (width) + n % (width)) : 0.0;                 \
        }                                                                                          \
        UNROLL for (int u = 0; u < kEach; ++u) {                                                   \
            const int n = int(gl_LocalInvocationIndex) + u * THREADS;                              \
            if (n < (rows) * (width)) tile[n / (width) * ((width) + 1) + n % (width)] = held[u];   \
        }                                                                                          \
    }

// The same as vectors, zeros beyond the width, of the matrix of a head: four(batch, head, row, column)
// gives elements from `column` on, where the width is a multiple of four.  Rows lie a vector apart more
// than they are long.
#define LOAD_FOURS(tile, rows, width, source, four, batch, head, base, first, end)                 \
    {                                                                                              \
        const int kVectors = ((width) + 3) / 4;                                                    \
        const int kEach = ((rows) * kVectors + THREADS - 1) / THREADS;                             \
        vec4 held[kEach];                                                                          \
        UNROLL for (int u = 0; u < kEach; ++u) {                                                   \
            const int n = int(gl_LocalInvocationIndex) + u * THREADS;                              \
            const int i = (first) + n / kVectors, column = n % kVectors * 4;                       \
            held[u] = vec4(0.0);                                                                   \
            if (n < (rows) * kVectors && i < (end)) {                                              \
                if ((width) % 4 == 0)                                                              \
                    held[u] = four(batch, head, i, column);                                        \
                else                                                                               \
                    for (int j = 0; j < min(4, (width) - column); ++j)                             \
                        held[u][j] = source(((base) + i) * (width) + column + j);                  \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int u = 0; u < kEach; ++u) {                                                   \
            const int n = int(gl_LocalInvocationIndex) + u * THREADS;                              \
            if (n < (rows) * kVectors)                                                             \
                tile[n / kVectors * (kVectors + 1) + n % kVectors] = held[u];                      \
        }                                                                                          \
    }

// The score, -inf, of a key that is not to be seen.
#define kHidden uintBitsToFloat(0xff800000u)

struct Sequence {
    int batch, head;
    int keys;    // how many there are
    int offset;  // position of query 0 among the keys
};

Sequence sequence_of(int pair) {
    Sequence s;
    s.batch = pair / HEADS;
    s.head = pair % HEADS;
    s.keys = KEYS;
    s.offset = PAST;
#if HAS_LENGTHS
    s.keys = min(LENGTH_AT(s.batch), KEYS);
    s.offset = LENGTH_AT(s.batch) - QUERIES;
#endif
    return s;
}

// The first key that query i may see, and the one after the last.
int first_key(Sequence s, int i) {
    return LEFT < 0 ? 0 : max(i + s.offset - LEFT, 0);
}
int last_key(Sequence s, int i) {
    int last = s.keys;
    if (CAUSAL != 0) last = min(last, i + s.offset + 1);
    if (RIGHT >= 0) last = min(last, i + s.offset + RIGHT + 1);
    return last;
}

// The score of query i and key j from their inner product; kHidden where the key is not to be seen.
// slope: derivative of the score with respect to the scaled product.
float score_of(Sequence s, int i, int j, float product, out float slope) {
    float score = product * SCALE;
    slope = 1.0;
    if (i >= QUERIES || j < first_key(s, i) || j >= last_key(s, i)) return kHidden;
    if (SOFTCAP > 0.0) {
        float t = hearth_tanh(score / SOFTCAP);
        score = SOFTCAP * t;
        slope = 1.0 - t * t;
    }
#if HAS_MASK
#if MASK_IS_BOOL
    if (MASK_AT(s.batch, s.head, i, j) == 0) return kHidden;
#else
    score += MASK_AT(s.batch, s.head, i, j);
#endif
#endif
    return score;
}

// exp(score - log_total), 0 where nothing is to be seen.
float weight_of(float score, float log_total) {
    return score == kHidden ? 0.0 : exp(score - log_total);
}
