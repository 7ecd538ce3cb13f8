// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// y[t] = x[t] + f * y[t - 1] along lines, a workgroup for each: the line passes in blocks of THREADS, each
// scanned in shared memory as maps y -> sum + factor * y, which compose (Blelloch, "Prefix Sums and
// Their Applications", 1990, section 1.4).  The order of the additions depends on the line's extent
// alone: deterministic.  Bytes moved: each element of x and f is read once, of y written once.
//
// Code generation puts in front: THREADS, REVERSE, PREVIOUS (1: f is the factor of the element before), and
// the macros of lines.

shared float sums[THREADS];
shared float factors[THREADS];

void main() {
    const int lane = int(gl_LocalInvocationID.x);
    for (int line = int(gl_WorkGroupID.x); line < LINES; line += int(gl_NumWorkGroups.x)) {
        const int base = line_base(line);
        float carry = 0.0;
        for (int first = 0; first < EXTENT; first += THREADS) {
            const int j = first + lane;
            const int element = base + (REVERSE ? EXTENT - 1 - j : j) * STRIDE;
            // Behind the line's end: the map that changes nothing.
            float sum = 0.0, factor = 1.0;
            if (j < EXTENT) {
                sum = in0(element);
                // The first element has nothing before it; its factor may be anything.
                factor = 0.0;
                if (j > 0) factor = in1(element - PREVIOUS * (REVERSE ? -STRIDE : STRIDE));
            }
            sums[lane] = sum;
            factors[lane] = factor;
            barrier();
            for (int reach = 1; reach < THREADS; reach *= 2) {
                if (lane >= reach) {
                    sum += factor * sums[lane - reach];
                    factor *= factors[lane - reach];
                }
                barrier();
                sums[lane] = sum;
                factors[lane] = factor;
                barrier();
            }
            if (j < EXTENT) out0(element, sum + factor * carry);
            carry = sums[THREADS - 1] + factors[THREADS - 1] * carry;
            barrier();  // the block is written again
        }
    }
}
