// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Output of programs for terminals: it may quote files, which must not control them.

#pragma once

#include <hearth/status.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace hearth::programs {

/// Prints to a stream; control characters but line breaks become '?'.
template <class... T>
void print_to(std::FILE* stream, fmt::format_string<T...> format, T&&... arguments) {
    std::string text = fmt::format(format, std::forward<T>(arguments)...);
    replace_control_characters(text.data(), text.size(), /*keep_lines=*/true);
    std::fwrite(text.data(), 1, text.size(), stream);
}
template <class... T>
void print(fmt::format_string<T...> format, T&&... arguments) {
    print_to(stdout, format, std::forward<T>(arguments)...);
}

}  // namespace hearth::programs
