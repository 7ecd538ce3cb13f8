// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Places of the elements of each run of RUN elements of a line, sorted: a workgroup for each run,
// a bitonic network (Batcher, "Sorting Networks and their Applications", 1968) in shared memory.
// Bytes moved: each element is read once, each place written once.
//
// Code generation puts in front: T, RUN (a power of two), THREADS, DESCENDING, order.glsl and the
// macros of lines.

shared T keys[RUN];
shared int places[RUN];

// Places beyond the line's end come last.
bool precedes(T a, int place_a, T b, int place_b) {
    if (place_a >= EXTENT || place_b >= EXTENT) return place_a < place_b;
    if (value_precedes(a, b)) return true;
    if (value_precedes(b, a)) return false;
    return place_a < place_b;
}

void main() {
    const int lane = int(gl_LocalInvocationID.x);
    const int runs = (EXTENT + RUN - 1) / RUN;
    for (int work = int(gl_WorkGroupID.x); work < LINES * runs; work += int(gl_NumWorkGroups.x)) {
        const int base = line_base(work / runs), first = work % runs * RUN;
        for (int i = lane; i < RUN; i += THREADS) {
            places[i] = first + i;
            keys[i] = T(0);
            if (first + i < EXTENT) keys[i] = in0(base + (first + i) * STRIDE);
        }
        barrier();
        for (int width = 2; width <= RUN; width *= 2) {
            for (int reach = width / 2; reach > 0; reach /= 2) {
                for (int pair = lane; pair < RUN / 2; pair += THREADS) {
                    const int a = pair / reach * 2 * reach + pair % reach, b = a + reach;
                    const bool rises = (a & width) == 0;
                    if (precedes(keys[a], places[a], keys[b], places[b]) != rises) {
                        const T key = keys[a];
                        const int place = places[a];
                        keys[a] = keys[b];
                        places[a] = places[b];
                        keys[b] = key;
                        places[b] = place;
                    }
                }
                barrier();
            }
        }
        for (int i = lane; i < RUN; i += THREADS)
            if (first + i < EXTENT) out0(base + (first + i) * STRIDE, places[i]);
        barrier();  // the run is read in again
    }
}
