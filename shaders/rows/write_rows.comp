// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes rows of out0, which lies where the old contents do: row i goes to place in1[i], or nowhere
// if that is outside.  A workgroup for each row first looks whether a later one is meant for the same
// place; the last one stays, whatever the order in which workgroups run.
// Bytes moved: the rows once in and once out; the indices M^2 / 2 times, mostly from a cache.
//
// Code generation puts in front: COUNT (places), WIDTH (elements of a row).

const uint kThreads = 64;
shared bool has_found[kThreads];

void main() {
    const int lane = int(gl_LocalInvocationID.x);
    for (int row = int(gl_WorkGroupID.x); row < in1_count; row += int(gl_NumWorkGroups.x)) {
        const int place = int(in1(row));
        bool found = false;
        for (int later = row + 1 + lane; later < in1_count; later += int(kThreads))
            found = found || int(in1(later)) == place;
        has_found[lane] = found;
        barrier();
        bool is_last = true;
        for (uint k = 0; k < kThreads; ++k) is_last = is_last && !has_found[k];
        if (is_last && place >= 0 && place < COUNT)
            for (int e = lane; e < WIDTH; e += int(kThreads))
                out0(place * WIDTH + e, in2(row * WIDTH + e));
        barrier();  // has_found is written again
    }
}
