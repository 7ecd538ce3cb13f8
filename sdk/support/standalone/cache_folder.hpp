// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where tools keep what they would otherwise make anew in each run.

#pragma once

#include <hearth/status.hpp>

#include <filesystem>

namespace hearth::standalone {

/// $XDG_CACHE_HOME/hearth/NAME or ~/.cache/hearth/NAME (Windows: %LOCALAPPDATA%\hearth\NAME), which is made if it
/// is missing; without a home a folder for temporary files.
/// Errors: kNotFound if it cannot be made.
Result<std::filesystem::path> cache_folder(const char* name);

}  // namespace hearth::standalone
