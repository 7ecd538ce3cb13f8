// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where reference cases lie.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

namespace hearth::reference_cases {

/// The places of this file or folder among the reference cases: those that the repository has
/// (tests/data/torch), then those of the folder that HEARTH_CASES names.  Neither need be there.
inline std::vector<std::filesystem::path> places_of(const std::filesystem::path& path) {
    std::vector<std::filesystem::path> found{std::filesystem::path(HEARTH_TORCH_DATA) / path};
    if (const char* root = std::getenv("HEARTH_CASES"); root != nullptr && *root != '\0')
        found.push_back(root / path);
    std::erase_if(found, [](const auto& p) { return !std::filesystem::exists(p); });
    return found;
}

/// The last of them, so that HEARTH_CASES is preferred; nothing if there is none.
inline std::optional<std::filesystem::path> place_of(const std::filesystem::path& path) {
    const std::vector<std::filesystem::path> found = places_of(path);
    if (found.empty()) return {};
    return found.back();
}

}  // namespace hearth::reference_cases
