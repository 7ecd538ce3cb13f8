/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* A policy that learns online: it balances an inverted pendulum, badly at first, and in each step
 * learns from the action that a teacher would have taken (DAgger: Ross, Gordon and Bagnell, 2011).
 * It saves its brain to "policy.brain". */

#include "board.h"
#include "policy.h"

enum { kSteps = 1500, kReport = 500, kMemory = 128, kBatch = 16 };

static _Alignas(POLICY_ALIGNMENT) unsigned char weights[POLICY_WEIGHTS_BYTES],
    arena[POLICY_ARENA_BYTES];
static _Alignas(16) unsigned char brain[POLICY_BRAIN_BYTES];
static float seen_of[kMemory][2], shown_of[kMemory];

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t count) {
    random_state = random_state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
    return (random_state >> 16) % count;
}
static float random_push(void) {
    return ((float)random_below(2001) - 1000) / 1000;
}

typedef struct pendulum {
    float angle, speed;
} pendulum;

/* Advances by 1/50 s. The sine is a series, so that results do not depend on a math library. */
static pendulum move(pendulum p, float torque) {
    const float x2 = p.angle * p.angle;
    const float sine = p.angle * (1 - x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42)));
    p.speed += 0.02f * (9.81f * sine + torque - 0.2f * p.speed);
    p.angle += 0.02f * p.speed;
    return p;
}
static float teacher(pendulum p) {
    const float torque = -24 * p.angle - 6 * p.speed;
    return torque > 12 ? 12 : torque < -12 ? -12 : torque;
}

int main(void) {
    const hearth_c_memory memory = {weights,      sizeof weights, arena,
                                    sizeof arena, policy_cooked,  POLICY_COOKED_BYTES};
    hearth_c_error error;
    hearth_c_result result = policy_init(&memory, &error);
    pendulum p = {0.3f, 0};
    uint32_t falls = 0, act_instructions = 0, learn_instructions = 0;
    for (uint32_t step = 0; step < kSteps && result == HEARTH_C_OK; ++step) {
        const float seen[2] = {p.angle, p.speed / 4};
        float torque = 0;
        const policy_act_tensors act = {.seen = seen, .torque = &torque};
        uint32_t begin = board_begin();
        result = policy_act(&memory, &act, 1, &error);
        act_instructions = board_instructions_since(begin);

        const uint32_t place = step % kMemory;
        seen_of[place][0] = seen[0];
        seen_of[place][1] = seen[1];
        shown_of[place] = teacher(p) / 12;
        if (step >= kBatch && result == HEARTH_C_OK) {
            float batch[kBatch][2], shown[kBatch], loss;
            for (uint32_t i = 0; i < kBatch; ++i) {
                const uint32_t from = random_below(step < kMemory ? step + 1 : kMemory);
                batch[i][0] = seen_of[from][0];
                batch[i][1] = seen_of[from][1];
                shown[i] = shown_of[from];
            }
            const policy_learn_tensors learn = {
                .seen = &batch[0][0], .shown = shown, .loss = &loss};
            begin = board_begin();
            result = policy_learn(&memory, &learn, kBatch, &error);
            learn_instructions = board_instructions_since(begin);
        }

        p = move(p, 12 * torque + (step % 50 == 0 ? 8 * random_push() : 0));
        if (p.angle > 1 || p.angle < -1) {
            ++falls;
            p = (pendulum){0.3f * random_push(), 0};
        }
        if ((step + 1) % kReport != 0) continue;
        board_say_number("falls in ten seconds ", falls);
        falls = 0;
    }
    if (result == HEARTH_C_OK) result = policy_save(&memory, brain, sizeof brain, &error);
    if (result != HEARTH_C_OK) {
        board_say(error.text);
        return 1;
    }
    board_write("policy.brain", brain, sizeof brain);
    board_say_number("instructions of acting ", act_instructions);
    board_say_number("instructions of a step of learning ", learn_instructions);
    board_say_number("stack ", (uint32_t)board_stack_bytes());
    return 0;
}
