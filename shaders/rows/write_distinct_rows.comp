// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes rows of out0, which lies where the old contents do: row i goes to place in1[i], or nowhere
// if that is outside.  No two rows are meant for one place, so a thread for each element is enough.
// Bytes moved: the rows once in and once out; an index for each element, mostly from a cache.
//
// Code generation puts in front: COUNT (places), WIDTH (elements of a row).

void main() {
    const int step = int(gl_NumWorkGroups.x) * 256;
    for (int e = int(gl_GlobalInvocationID.x); e < in2_count; e += step) {
        const int place = in1(e / WIDTH);
        if (place >= 0 && place < COUNT) out0(place * WIDTH + e % WIDTH, in2(e));
    }
}
