// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Embeds the fonts.

#include <pictures/font.hpp>

#if defined(HEARTH_FONT_REGULAR) && defined(HEARTH_FONT_BOLD)

// COFF names its constant section differently, and the Windows assembler has no section stack.
#if defined(_WIN32)
#define HEARTH_ENTER_CONSTANTS ".section .rdata,\"dr\"\n"
#define HEARTH_LEAVE_CONSTANTS ".text\n"
#else
#define HEARTH_ENTER_CONSTANTS ".pushsection .rodata\n"
#define HEARTH_LEAVE_CONSTANTS ".popsection\n"
#endif

// The assembler includes the files, which avoids generated sources of several megabytes.
#define HEARTH_EMBED(symbol, path)                                                         \
    __asm__(HEARTH_ENTER_CONSTANTS ".balign 16\n" #symbol                                  \
                                   "_begin:\n"                                             \
                                   ".incbin \"" path "\"\n" #symbol                        \
                                   "_end:\n"                                               \
                                   ".byte 0\n" HEARTH_LEAVE_CONSTANTS);                    \
    extern "C" __attribute__((visibility("hidden"))) const unsigned char symbol##_begin[]; \
    extern "C" __attribute__((visibility("hidden"))) const unsigned char symbol##_end[]

HEARTH_EMBED(hearth_font_regular, HEARTH_FONT_REGULAR);
HEARTH_EMBED(hearth_font_bold, HEARTH_FONT_BOLD);

namespace hearth::pictures {

std::span<const unsigned char> regular_font() {
    return {hearth_font_regular_begin, hearth_font_regular_end};
}
std::span<const unsigned char> bold_font() {
    return {hearth_font_bold_begin, hearth_font_bold_end};
}

}  // namespace hearth::pictures

#else

namespace hearth::pictures {

std::span<const unsigned char> regular_font() {
    return {};
}
std::span<const unsigned char> bold_font() {
    return {};
}

}  // namespace hearth::pictures

#endif
