// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the kernels of attention share: tiles in shared memory, and the score of one query and key.
//
// Constants from the record: THREADS of a workgroup, UNROLL (empty where drivers had better not),
// UNROLL_ROWS and ROLLED (where so, hints not to unroll; elsewhere to unroll, and nothing), HEADS,
// KEY_HEADS, D (width of queries and keys), DV (of values), TILE_Q, TILE_K, LANES (threads for each
// row), SCALE, SOFTCAP (0: none), CAUSAL, LEFT, RIGHT (window, -1: open), PAST; HAS_MASK with
// MASK_AT(b, h, i, j), MASK_IS_BOOL; HAS_LENGTHS with LENGTH_AT(b).
// QUERIES and KEYS are the extents of the sequences.

// Reading `rows` rows of a head's matrix of `width` columns, from `first` on and as zeros from `end` on,
// into `tile` as vectors, zeros beyond the width; rows lie a vector apart more than they are long, in
// different banks.  FETCH_FOURS sends the loads on their way, into `held`, which it declares; KEEP_FOURS
// waits for them.  four(batch, head, row, column) gives elements from `column` on where the width is a
// multiple of four, else source(base * width), ... one each.
#define FOURS_EACH(rows, width) (((rows) * (((width) + 3) / 4) + THREADS - 1) / THREADS)
#define FETCH_FOURS(held, rows, width, source, four, batch, head, base, first, end)                \
    vec4 held[FOURS_EACH(rows, width)];                                                            \
    UNROLL for (int u = 0; u < FOURS_EACH(rows, width); ++u) {                                     \
        const int n = int(gl_LocalInvocationIndex) + u * THREADS;                                  \
        const int i = (first) + n / (((width) + 3) / 4), column = n % (((width) + 3) / 4) * 4;     \
        held[u] = vec4(0.0);                                                                       \
        if (n < (rows) * (((width) + 3) / 4) && i < (end)) {                                       \
            if ((width) % 4 == 0)                                                                  \
                held[u] = four(batch, head, i, column);                                            \
            else                                                                                   \
                for (int j = 0; j < min(4, (width) - column); ++j)                                 \
                    held[u][j] = source(((base) + i) * (width) + column + j);                      \
        }                                                                                          \
    }
#define KEEP_FOURS(tile, held, rows, width)                                                        \
    UNROLL for (int u = 0; u < FOURS_EACH(rows, width); ++u) {                                     \
        const int n = int(gl_LocalInvocationIndex) + u * THREADS;                                  \
        if (n < (rows) * (((width) + 3) / 4))                                                      \
            tile[n / (((width) + 3) / 4) * (((width) + 3) / 4 + 1) + n % (((width) + 3) / 4)] =    \
                held[u];                                                                           \
    }

// product += the inner product of two rows that begin at `a_first` and `b_first`, by components.
#define ADD_PRODUCT(product, a, a_first, b, b_first, vectors)                                      \
    ROLLED for (int d = 0; d < (vectors); ++d) product += a[(a_first) + d] * b[(b_first) + d];

float total_of(vec4 product) {
    return product.x + product.y + (product.z + product.w);
}

// How the invocations of a row share sums of rows of `vectors` vectors: each has some columns, over
// every kSumLanes-th of the rows that are summed.
#define COLUMN_LANES(vectors) (LANES < (vectors) ? LANES : (vectors))
#define SUM_LANES(vectors) (LANES / COLUMN_LANES(vectors))
#define COLUMNS(vectors) (((vectors) + COLUMN_LANES(vectors) - 1) / COLUMN_LANES(vectors))

// sums += the invocation's share of the sum of weights[first_weight + k] times row k of `tile`, for
// k < count.  A weight of zero adds nothing, whatever the row holds.  Some rows are read before the
// first is waited for.
#define ADD_ROWS(sums, weights, first_weight, tile, vectors, lane, count, most)                    \
    for (int k = (lane) / COLUMN_LANES(vectors); k < (count); k += SUM_LANES(vectors) * 8)         \
        UNROLL_ROWS for (int u = 0; u < 8; ++u) {                                                  \
            const int at = min(k + u * SUM_LANES(vectors), (most) - 1);                            \
            const float w = k + u * SUM_LANES(vectors) < (most) &&                                 \
                                    (lane) / COLUMN_LANES(vectors) < SUM_LANES(vectors)            \
                                ? weights[(first_weight) + at]                                     \
                                : 0.0;                                                             \
            for (int c = 0; c < COLUMNS(vectors); ++c) {                                           \
                const int column = min((lane) % COLUMN_LANES(vectors) + c * COLUMN_LANES(vectors), \
                                       (vectors) - 1);                                             \
                const vec4 four = tile[at * ((vectors) + 1) + column];                             \
                sums[c] += w == 0.0 ? vec4(0.0) : w * four;                                        \
            }                                                                                      \
        }

// Adds up what the invocations of a row have of each column, in order, if there are several; scratch:
// a vector for each invocation.  All invocations call.
#define ADD_LANES(sums, scratch, vectors, lane)                                                    \
    if (SUM_LANES(vectors) > 1) {                                                                  \
        const int thread = int(gl_LocalInvocationIndex);                                           \
        barrier();                                                                                 \
        scratch[thread] = sums[0];                                                                 \
        barrier();                                                                                 \
        ROLLED for (int l = 1; l < SUM_LANES(vectors); ++l)                                        \
            sums[0] += scratch[thread - (lane) + (lane) % COLUMN_LANES(vectors) +                  \
                               l * COLUMN_LANES(vectors)];                                         \
    }

// Stores row `row` of a head's matrix of `width` columns, from element `first` on: sums times `factor`;
// four(batch, head, row, column, v) stores four at once.
#define STORE_ROW(store, four, batch, head, row, first, width, vectors, sums, factor, lane)        \
    if ((lane) < COLUMN_LANES(vectors))                                                            \
        for (int c = 0; c < COLUMNS(vectors); ++c) {                                               \
            const int column = 4 * ((lane) + c * COLUMN_LANES(vectors));                           \
            if ((width) % 4 == 0) {                                                                \
                if (column < (width)) four(batch, head, row, column, (factor) * sums[c]);          \
            } else {                                                                               \
                for (int j = 0; j < min(4, (width) - column); ++j)                                 \
                    store((first) + column + j, (factor) * sums[c][j]);                            \
            }                                                                                      \
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
