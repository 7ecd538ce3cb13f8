/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Board support for a Cortex-M4F or -M7 without an operating system, as on Arm's MPS2 boards
 * (AN386, AN500): startup code before main(), and semihosting (Arm, "Semihosting for AArch32 and
 * AArch64"), through which a debugger or QEMU provides files. */

#include "board.h"

extern uint32_t stack_top[], stack_limit[], data_begin[], data_end[], data_from[], bss_begin[],
    bss_end[];
int main(void);

static int semihost(int operation, const void* parameters) {
    register int r0 __asm__("r0") = operation;
    register const void* r1 __asm__("r1") = parameters;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

enum { kOpen = 1, kClose = 2, kWrite0 = 4, kWrite = 5, kRead = 6, kExitExtended = 0x20 };

static uint32_t length_of(const char* text) {
    uint32_t length = 0;
    while (text[length] != 0) ++length;
    return length;
}

static __attribute__((noreturn)) void leave(uint32_t code) {
    const uint32_t block[] = {0x20026, code}; /* ADP_Stopped_ApplicationExit */
    for (;;) semihost(kExitExtended, block);
}

static int open_file(const char* file, uint32_t mode) {
    const uint32_t block[] = {(uint32_t)file, mode, length_of(file)};
    return semihost(kOpen, block);
}

size_t board_read(const char* file, void* bytes, size_t most) {
    const int handle = open_file(file, 1); /* rb */
    if (handle < 0) return 0;
    const uint32_t block[] = {(uint32_t)handle, (uint32_t)bytes, most};
    const int left = semihost(kRead, block);
    const uint32_t close[] = {(uint32_t)handle};
    semihost(kClose, close);
    return left < 0 ? 0 : most - (size_t)left;
}

void board_write(const char* file, const void* bytes, size_t size) {
    const int handle = open_file(file, 5); /* wb */
    const uint32_t block[] = {(uint32_t)handle, (uint32_t)bytes, size};
    if (handle < 0 || semihost(kWrite, block) != 0) leave(1);
    const uint32_t close[] = {(uint32_t)handle};
    semihost(kClose, close);
}

void board_say(const char* text) {
    semihost(kWrite0, text);
}

/* SysTick counts down at 25 MHz; QEMU is configured to one nanosecond per instruction. */
static volatile uint32_t* const systick = (volatile uint32_t*)0xe000e010;

uint32_t board_begin(void) {
    return systick[2];
}
uint32_t board_instructions_since(uint32_t begin) {
    return ((begin - systick[2]) & 0xffffffu) * 40;
}

static const uint32_t kUnused = 0x5afe5afe;

size_t board_stack_bytes(void) {
    const uint32_t* at = stack_limit;
    while (at < stack_top && *at == kUnused) ++at;
    return (size_t)(stack_top - at) * 4;
}

void board_reset(void);
void board_reset(void) {
    *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* CPACR: enable the floating-point unit */
    __asm__ volatile("dsb\nisb");
    for (uint32_t *to = data_begin, *from = data_from; to < data_end;) *to++ = *from++;
    for (uint32_t* to = bss_begin; to < bss_end;) *to++ = 0;
    uint32_t* here;
    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (uint32_t* at = stack_limit; at < here - 16; ++at) *at = kUnused;
    systick[1] = 0xffffff;
    systick[2] = 0;
    systick[0] = 5; /* enabled, on the processor clock */
    leave((uint32_t)main());
}

static void fault(void) {
    board_say("a fault\n");
    leave(3);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, board_reset, fault, fault, fault, fault, fault};
