// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Running sums or products of lines, a workgroup for each: the line passes in blocks of THREADS, each
// scanned in shared memory (Hillis and Steele, "Data Parallel Algorithms", 1986), and carries what
// came before.  The order of the additions depends on the line's extent alone: deterministic.
// Bytes moved: each element is read once and written once.
//
// Code generation puts in front: THREADS, T, COMBINE(a, b), NEUTRAL, REVERSE, EXCLUSIVE, WRAP(x), and the
// macros of lines.

shared T block[THREADS];

void main() {
    const int lane = int(gl_LocalInvocationID.x);
    for (int line = int(gl_WorkGroupID.x); line < LINES; line += int(gl_NumWorkGroups.x)) {
        const int base = line_base(line);
        T carry = NEUTRAL;
        for (int first = 0; first < EXTENT; first += THREADS) {
            const int j = first + lane;
            const int element = base + (REVERSE ? EXTENT - 1 - j : j) * STRIDE;
            T mine = NEUTRAL;
            if (j < EXTENT) mine = in0(element);
            block[lane] = mine;
            barrier();
            for (int reach = 1; reach < THREADS; reach *= 2) {
                if (lane >= reach) mine = COMBINE(block[lane - reach], mine);
                barrier();
                block[lane] = mine;
                barrier();
            }
            if (j < EXTENT) {
                T before = NEUTRAL;
                if (lane > 0) before = block[lane - 1];
                T result = EXCLUSIVE ? before : mine;
                out0(element, WRAP(COMBINE(carry, result)));
            }
            carry = COMBINE(carry, block[THREADS - 1]);
            barrier();  // the block is written again
        }
    }
}
