// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// y[t] = x[t] + f * y[t - 1] along lines, a thread for each: for short lines, and where there are
// enough lines to fill a device.  See recurrence_long.comp for what code generation puts in front.

void main() {
    const int step = int(gl_NumWorkGroups.x) * 64;
    for (int line = int(gl_GlobalInvocationID.x); line < LINES; line += step) {
        const int base = line_base(line);
        float y = 0.0, before = 0.0;
        for (int j = 0; j < EXTENT; ++j) {
            const int element = base + (REVERSE ? EXTENT - 1 - j : j) * STRIDE;
            const float factor = in1(element);
            // At the start there is nothing to multiply, not even if the factor is infinite.
            const float x = in0(element);
            y = j == 0 ? x : x + (PREVIOUS == 1 ? before : factor) * y;
            before = factor;
            out0(element, y);
        }
    }
}
