// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Backpropagation through the steps of gru_forward.glsl, from the last to the first.  A step is two
// phases: one thread for each unit works out the cotangents of what the gates' activations see, then
// SLICES threads share each unit's product with the transposed weights, which is what comes back to
// the state before.  LAST_STEP is -1 where somebody asks what comes back to the first states, else 0.

{
#if HELD == 1
    float held[EACH];
    UNROLL for (int k = 0; k < EACH; ++k) {
        const int e = min(tid, TASKS - 1), column = e % HIDDEN, line = e / UNITS * EACH + k;
        float weight = 0.0;
        if (line < 3 * HIDDEN) { READ_WEIGHT }
        held[k] = weight;
    }
#endif
    for (int step = STEPS - 1; step >= LAST_STEP; --step) {
        for (int e = tid; e < UNITS; e += THREADS) {
            const int j = e % HIDDEN, r = e / HIDDEN * STEPS + max(step, 0);
            const int row = min(first + r, last_row), window = row / STEPS;
            // What the step behind this one gives to the state that it began with.
            float back = 0.0;
            if (step < STEPS - 1) {
                const int reset_r = step < 0 ? r : r + 1;
                const int reset_row = step < 0 ? row : min(row + 1, last_row);
                bool is_reset = false;
                { READ_RESET }
                back = SHARED(DIRECT + e);
                for (int slice = 0; slice < SLICES; ++slice)
                    back += SHARED(SUMS + slice * UNITS + e);
                if (is_reset) back = 0.0;
            }
            if (step < 0) {
                STORE_START
            } else {
                float g = 0.0, before = 0.0;
                vec4 gates = vec4(0);
                { READ_COTANGENT }
                { READ_BEFORE }
                { READ_GATES }
                const float reset = gates[0], update = gates[1], candidate = gates[2];
                g += back;
                const float to_candidate = g * (1.0 - update) * (1.0 - candidate * candidate);
                const float to_update = g * (before - candidate) * update * (1.0 - update);
                const float to_reset = to_candidate * gates[3] * reset * (1.0 - reset);
                const vec3 to_x = vec3(to_reset, to_update, to_candidate);
                const vec3 to_hidden = vec3(to_reset, to_update, to_candidate * reset);
                { STORE }
                PUT_SHARED(DIRECT + e, g * update);
                for (int gate = 0; gate < 3; ++gate)
                    PUT_SHARED(LINES + (e / HIDDEN * 3 + gate) * HIDDEN + j, to_hidden[gate]);
            }
        }
        barrier();
        if (step == LAST_STEP) break;
        for (int e = tid; e < TASKS; e += THREADS) {
            const int unit = e % UNITS, from = unit / HIDDEN * 3 * HIDDEN, begin = e / UNITS * EACH;
            float sum = 0.0;
#if HELD == 1
            UNROLL for (int k = 0; k < EACH; ++k)
                sum += held[k] * SHARED(LINES + from + min(begin + k, 3 * HIDDEN - 1));
#else
            const int column = e % HIDDEN;
            for (int line = begin; line < min(begin + EACH, 3 * HIDDEN); ++line) {
                float weight = 0.0;
                { READ_WEIGHT }
                sum += weight * SHARED(LINES + from + line);
            }
#endif
            PUT_SHARED(SUMS + e, sum);
        }
        barrier();
    }
}
