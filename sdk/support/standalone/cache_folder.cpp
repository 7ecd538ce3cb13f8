// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the user's cache folder.

#include "cache_folder.hpp"

#include <cstdlib>
#include <system_error>

namespace hearth::standalone {

namespace {

std::filesystem::path environment(const char* name) {
#if defined(_WIN32)
    const wchar_t* const value = _wgetenv(std::filesystem::path(name).c_str());
#else
    const char* const value = std::getenv(name);
#endif
    return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

/// The user's cache folder; empty if unknown.
std::filesystem::path base_folder() {
    if (const std::filesystem::path cache = environment("XDG_CACHE_HOME"); !cache.empty())
        return cache;
#if defined(_WIN32)
    return environment("LOCALAPPDATA");
#else
    const std::filesystem::path home = environment("HOME");
    return home.empty() ? home : home / ".cache";
#endif
}

}  // namespace

Result<std::filesystem::path> cache_folder(const char* name) {
    std::filesystem::path base = base_folder();
    if (base.empty()) base = std::filesystem::temp_directory_path();
    const std::filesystem::path folder = base / "hearth" / name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return not_found("cannot make the folder " + folder.string() + ": " + error.message());
    return folder;
}

}  // namespace hearth::standalone
