// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth {

/// Converts a caller's path, UTF-8 on Windows and bytes elsewhere.  The std::string constructor of
/// fs::path would assume Windows' code page.
inline std::filesystem::path path_of(std::string_view text) {
#if defined(_WIN32)
    return std::u8string(text.begin(), text.end());
#else
    return text;
#endif
}

}  // namespace hearth
