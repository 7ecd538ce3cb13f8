// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Carries the states of SEQUENCES sequences through STEPS steps of a GRU, within one workgroup.  A step is
// two phases: SLICES threads share each unit's three products with the state before, then one
// thread for each unit works out the gates.  States and sums lie in shared memory.
//
// What compiler/ops/kernels/gru_walk.cpp puts in front, or a fused network where the walk is one of its stages, reads
// and writes the operands: each macro is statements, within names that are in scope here.

{
    for (int e = tid; e < UNITS; e += THREADS) {
        const int j = e % HIDDEN, r = e / HIDDEN * STEPS;
        const int row = min(first + r, last_row), window = row / STEPS;
        const int reset_r = r, reset_row = row;
        float state = 0.0;
        bool is_reset = false;
        { READ_START }
        { READ_RESET }
        PUT_SHARED(STATE + e, is_reset ? 0.0 : state);
    }
#if HELD == 1
    // Each thread keeps the weights that it multiplies by in registers.
    vec3 held[EACH];
    UNROLL for (int k = 0; k < EACH; ++k) {
        const int e = min(tid, TASKS - 1), column = e / UNITS * EACH + k;
        held[k] = vec3(0);
        UNROLL for (int gate = 0; gate < 3; ++gate) {
            const int line = gate * HIDDEN + e % HIDDEN;
            float weight = 0.0;
            if (column < HIDDEN) { READ_WEIGHT }
            held[k][gate] = weight;
        }
    }
#endif
    barrier();
    for (int step = 0; step < STEPS; ++step) {
        for (int e = tid; e < TASKS; e += THREADS) {
            const int unit = e % UNITS, from = unit / HIDDEN * HIDDEN, begin = e / UNITS * EACH;
            vec3 sum = vec3(0);
#if HELD == 1
            UNROLL for (int k = 0; k < EACH; ++k)
                sum += held[k] * SHARED(STATE + from + min(begin + k, HIDDEN - 1));
#else
            for (int column = begin; column < min(begin + EACH, HIDDEN); ++column) {
                vec3 lines = vec3(0);
                for (int gate = 0; gate < 3; ++gate) {
                    const int line = gate * HIDDEN + e % HIDDEN;
                    float weight = 0.0;
                    { READ_WEIGHT }
                    lines[gate] = weight;
                }
                sum += lines * SHARED(STATE + from + column);
            }
#endif
            for (int gate = 0; gate < 3; ++gate)
                PUT_SHARED(SUMS + (e / UNITS * 3 + gate) * UNITS + unit, sum[gate]);
        }
        barrier();
        for (int e = tid; e < UNITS; e += THREADS) {
            const int j = e % HIDDEN, r = e / HIDDEN * STEPS + step;
            const int row = min(first + r, last_row);
            vec3 x = vec3(0), y = vec3(0);
            { READ_FROM_X }
            { READ_BIAS }
            for (int slice = 0; slice < SLICES; ++slice)
                for (int gate = 0; gate < 3; ++gate)
                    y[gate] += SHARED(SUMS + (slice * 3 + gate) * UNITS + e);
            const float before = SHARED(STATE + e);
            const float reset = 1.0 / (1.0 + exp(-(x[0] + y[0])));
            const float update = 1.0 / (1.0 + exp(-(x[1] + y[1])));
            const float candidate = hearth_tanh(x[2] + reset * y[2]);
            const float h = candidate + update * (before - candidate);
            const vec4 gates = vec4(reset, update, candidate, y[2]);
            { STORE }
            const int reset_r = r + 1, reset_row = min(row + 1, last_row);
            bool is_reset = false;
            if (step + 1 < STEPS) { READ_RESET }
            PUT_SHARED(STATE + e, is_reset ? 0.0 : h);
        }
        barrier();
    }
}
