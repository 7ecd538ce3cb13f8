// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Greedy suppression of boxes that overlap a better one: a workgroup for each batch element and
// class.  Each round finds the best box left and drops those that overlap it too much.
// Bytes moved: about 20 * boxes for each box that is kept.
//
// in0: boxes [B, N, 4]; in1: scores [B, C, N].  Code generation puts in front: COUNT (most boxes to
// keep), THREADS, WORDS (32 * THREADS boxes each), OVERLAP, HAS_SCORE, SCORE and CENTERED.

shared float best_score[THREADS];
shared int best_box[THREADS];
shared uint dropped[WORDS * THREADS];  // each thread has words of its own

/// low and high corners
vec4 corners(int batch, int box) {
    const int at = (batch * in0_dim1 + box) * 4;
    const vec4 raw = vec4(in0_load(at), in0_load(at + 1), in0_load(at + 2), in0_load(at + 3));
    if (CENTERED) return vec4(raw.xy - raw.zw * 0.5, raw.xy + raw.zw * 0.5);
    return vec4(min(raw.xy, raw.zw), max(raw.xy, raw.zw));
}

float area(vec4 box) { return (box.z - box.x) * (box.w - box.y); }

bool overlaps(vec4 a, vec4 b) {
    const vec2 size = max(min(a.zw, b.zw) - max(a.xy, b.xy), vec2(0.0));
    const float common_area = size.x * size.y;
    const float all = area(a) + area(b) - common_area;
    return all > 0.0 && common_area / all > OVERLAP;
}

void main() {
    const int lane = int(gl_LocalInvocationID.x), boxes = in0_dim1, classes = in1_dim1;
    const int lines = in1_dim0 * classes;
    for (int line = int(gl_WorkGroupID.x); line < lines; line += int(gl_NumWorkGroups.x)) {
        const int batch = line / classes;
        for (int word = 0; word < WORDS; ++word) dropped[word * THREADS + lane] = 0u;
        bool is_open = true;
        for (int kept = 0; kept < COUNT; ++kept) {
            float score = 0.0;
            int best = -1;
            for (int box = lane, turn = 0; is_open && box < boxes; box += THREADS, ++turn) {
                if ((dropped[turn / 32 * THREADS + lane] >> uint(turn % 32) & 1u) != 0u) continue;
                const float mine = in1_load(line * boxes + box);
                if (HAS_SCORE && !(mine > SCORE)) continue;
                if (best < 0 || mine > score) {
                    score = mine;
                    best = box;
                }
            }
            best_score[lane] = score;
            best_box[lane] = best;
            barrier();
            for (int width = 128; width > 0; width /= 2) {
                if (lane < width) {
                    const int other = best_box[lane + width], own = best_box[lane];
                    const float a = best_score[lane], b = best_score[lane + width];
                    if (other >= 0 && (own < 0 || b > a || (b == a && other < own))) {
                        best_score[lane] = b;
                        best_box[lane] = other;
                    }
                }
                barrier();
            }
            const int winner = best_box[0];
            is_open = winner >= 0;
            if (lane == 0) out0(line * COUNT + kept, winner);
            if (is_open) {
                const vec4 chosen = corners(batch, winner);
                for (int box = lane, turn = 0; box < boxes; box += THREADS, ++turn)
                    if (box == winner || overlaps(corners(batch, box), chosen))
                        dropped[turn / 32 * THREADS + lane] |= 1u << uint(turn % 32);
            }
            barrier();  // what was best is found anew
        }
    }
}
