// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Merges each two neighbouring sorted runs of RUN places to one.  Each thread finds the one place
// that it stores, by a binary search for how many elements of the first run come before it (merge
// path: Odeh et al., "Merge Path - Parallel Merging Made Simple", 2012).  Stable: of equal elements
// those of the first run come first.
// Bytes moved: about 16 * log2(RUN) for each element, most of them from caches.
//
// in0: values; in1: places within the line, in runs.  Code generation puts in front: RUN,
// THREADS, DESCENDING, order.glsl and the macros of lines.

void main() {
    const int step = int(gl_NumWorkGroups.x) * THREADS;
    for (int i = int(gl_GlobalInvocationID.x); i < in0_count; i += step) {
        const int line = i / (EXTENT * STRIDE) * STRIDE + i % STRIDE;
        const int base = line_base(line), j = i / STRIDE % EXTENT;
        // RUN may be half the range of an int.
        const int first = j / 2 / RUN * RUN * 2, k = j - first;
        const int count_a = min(RUN, EXTENT - first);
        const int count_b = min(RUN, EXTENT - first - count_a);
        int low = max(0, k - count_b), high = min(k, count_a);
        while (low < high) {
            const int middle = (low + high) / 2;
            const int a = int(in1_load(base + (first + middle) * STRIDE));
            const int b = int(in1_load(base + (first + count_a + k - 1 - middle) * STRIDE));
            if (value_precedes(in0_load(base + b * STRIDE), in0_load(base + a * STRIDE)))
                high = middle;
            else
                low = middle + 1;
        }
        const int rest = k - low;
        bool takes_a = rest >= count_b;
        if (low < count_a && rest < count_b) {
            const int a = int(in1_load(base + (first + low) * STRIDE));
            const int b = int(in1_load(base + (first + count_a + rest) * STRIDE));
            takes_a = !value_precedes(in0_load(base + b * STRIDE), in0_load(base + a * STRIDE));
        }
        const int from = takes_a ? first + low : first + count_a + rest;
        out0(i, in1_load(base + from * STRIDE));
    }
}
