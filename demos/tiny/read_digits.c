/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Classifies digits with 8-bit weights: for each digit in the file "digits.bin" (65 bytes: a label,
 * and 64 pixels from 0 to 16) it writes ten logits to "scores.bin". */

#include "board.h"
#include "digits.h"

enum { kMostDigits = 40 };

static _Alignas(DIGITS_ALIGNMENT) unsigned char weights[DIGITS_WEIGHTS_BYTES],
    arena[DIGITS_ARENA_BYTES];
static unsigned char digits[kMostDigits * 65];
static float scores[kMostDigits * 10];

int main(void) {
    const hearth_c_memory memory = {weights,      sizeof weights, arena,
                                    sizeof arena, digits_cooked,  DIGITS_COOKED_BYTES};
    hearth_c_error error;
    if (digits_init(&memory, &error) != HEARTH_C_OK) {
        board_say(error.text);
        return 1;
    }
    const uint32_t count = (uint32_t)(board_read("digits.bin", digits, sizeof digits) / 65);
    if (count == 0) {
        board_say("digits.bin: expected digits of 65 bytes, found none\n");
        return 1;
    }
    uint32_t right = 0, instructions = 0;
    for (uint32_t i = 0; i < count; ++i) {
        float image[64];
        for (int p = 0; p < 64; ++p) image[p] = (float)digits[i * 65 + 1 + (uint32_t)p] / 16;
        const digits_read_tensors tensors = {.image = image, .scores = scores + i * 10};
        const uint32_t begin = board_begin();
        if (digits_read(&memory, &tensors, 1, &error) != HEARTH_C_OK) {
            board_say(error.text);
            return 1;
        }
        instructions += board_instructions_since(begin) / count;
        uint32_t best = 0;
        for (uint32_t d = 1; d < 10; ++d)
            if (scores[i * 10 + d] > scores[i * 10 + best]) best = d;
        right += best == digits[i * 65];
    }
    board_write("scores.bin", scores, count * 10 * sizeof(float));
    board_say_number("digits ", count);
    board_say_number("right ", right);
    board_say_number("instructions of a digit ", instructions);
    board_say_number("stack ", (uint32_t)board_stack_bytes());
    return 0;
}
