// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <pictures/font.hpp>

#if defined(HEARTH_FONT_REGULAR) && defined(HEARTH_FONT_BOLD)

// The assembler reads the files: no generated source of several megabytes.
#define HEARTH_EMBED(symbol, path)                                                         \
    __asm__(                                                                               \
        ".pushsection .rodata\n"                                                           \
        ".balign 16\n" #symbol                                                             \
        "_begin:\n"                                                                        \
        ".incbin \"" path "\"\n" #symbol                                                   \
        "_end:\n"                                                                          \
        ".byte 0\n"                                                                        \
        ".popsection\n");                                                                  \
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
