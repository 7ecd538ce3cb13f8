// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Running sums or products of lines, a thread for each: for short lines, and where there are enough
// lines to fill a device.  See scan_long.comp for what code generation puts in front.

void main() {
    const int step = int(gl_NumWorkGroups.x) * 64;
    for (int line = int(gl_GlobalInvocationID.x); line < LINES; line += step) {
        const int base = line_base(line);
        T total = NEUTRAL;
        for (int j = 0; j < EXTENT; ++j) {
            const int element = base + (REVERSE ? EXTENT - 1 - j : j) * STRIDE;
            const T before = total;
            total = COMBINE(total, in0(element));
            out0(element, WRAP(EXCLUSIVE ? before : total));
        }
    }
}
