// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Folders for data that tools cache between runs.

#pragma once

#include <hearth/status.hpp>

#include <filesystem>

namespace hearth::standalone {

/// Returns $XDG_CACHE_HOME/hearth/NAME or ~/.cache/hearth/NAME (Windows:
/// %LOCALAPPDATA%\hearth\NAME), created if missing; without a home directory a folder of
/// this user among the temporary files.
/// Errors: kNotFound if it cannot be created; kInvalidArgument if others can write the latter.
Result<std::filesystem::path> cache_folder(const char* name);

}  // namespace hearth::standalone
