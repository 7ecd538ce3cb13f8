// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth {

/// A path as callers write it: UTF-8 on Windows, bytes elsewhere.  The constructor from std::string takes Windows' code
/// page for its encoding.
inline std::filesystem::path path_of(std::string_view text) {
#if defined(_WIN32)
    return std::u8string(text.begin(), text.end());
#else
    return text;
#endif
}

}  // namespace hearth
