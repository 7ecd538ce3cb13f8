// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The one way to complete a kernel's text with a constant.

#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace hearth {

/// "#define NAME value" and a line's end.
inline std::string define(std::string_view name, std::string_view value) {
    return "#define " + std::string(name) + " " + std::string(value) + "\n";
}
template <std::integral T>
std::string define(std::string_view name, T value) {
    return define(name, std::to_string(value));
}

}  // namespace hearth
