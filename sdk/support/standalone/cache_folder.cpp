// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the user's cache folder.

#include "cache_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

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

/// A folder of this user alone among the temporary files, which everybody may write: libraries are
/// loaded from the cache.
Result<std::filesystem::path> temporary_folder() {
    const std::filesystem::path all = std::filesystem::temp_directory_path();
#if defined(_WIN32)
    return all;  // of the user
#else
    const std::filesystem::path own = all / ("hearth-" + std::to_string(geteuid()));
    (void)mkdir(own.c_str(), 0700);
    struct stat status;
    if (lstat(own.c_str(), &status) != 0)
        return not_found("cannot make the folder " + own.string());
    if (S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0)
        return own;
    return invalid_argument(own.string() +
                            " is not a folder that this user alone can write; remove it, or set "
                            "XDG_CACHE_HOME");
#endif
}

}  // namespace

Result<std::filesystem::path> cache_folder(const char* name) {
    std::filesystem::path base = base_folder();
    if (base.empty()) {
        HEARTH_ASSIGN(base, temporary_folder());
    }
    const std::filesystem::path folder = base / "hearth" / name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return not_found("cannot make the folder " + folder.string() + ": " + error.message());
    return folder;
}

}  // namespace hearth::standalone
