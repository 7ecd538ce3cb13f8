// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Results of PyTorch in double, kept outside the repository: HEARTH_CASES names their folder.

#pragma once

#include <gradient_cases/gradient_cases.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace hearth::test {

/// The file at this path below HEARTH_CASES; nothing if the variable is not set or the file is not
/// there, and `why` tells which.
std::optional<std::filesystem::path> case_path(const std::string& path, std::string& why);

}  // namespace hearth::test
