/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Board interface of the demo programs: board_cortex_m.c, or board_host.c for the reference. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Reads a whole file of the debugger's machine. Returns the number of bytes read. */
size_t board_read(const char* file, void* bytes, size_t most);
void board_write(const char* file, const void* bytes, size_t size);
void board_say(const char* text);

/* Instructions executed so far; call at most 600 million instructions apart. */
uint32_t board_begin(void);
uint32_t board_instructions_since(uint32_t begin);
/* Returns the maximum stack size used so far, or 0 if unknown. */
size_t board_stack_bytes(void);

/* Prints a line of text and a number. */
static inline void board_say_number(const char* text, uint32_t number) {
    char line[80], digits[12];
    size_t at = 0, count = 0;
    while (text[at] != 0 && at < 60) {
        line[at] = text[at];
        ++at;
    }
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0) line[at++] = digits[--count];
    line[at++] = '\n';
    line[at] = 0;
    board_say(line);
}
