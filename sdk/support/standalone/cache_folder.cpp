// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "cache_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace hearth::standalone {

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

Result<std::filesystem::path> cache_folder(const char* name) {
    const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
    const std::filesystem::path base = !cache.empty()  ? std::filesystem::path(cache)
                                       : !home.empty() ? std::filesystem::path(home) / ".cache"
                                                       : std::filesystem::temp_directory_path();
    const std::filesystem::path folder = base / "hearth" / name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return not_found("cannot make the folder " + folder.string() + ": " + error.message());
    return folder;
}

}  // namespace hearth::standalone
