// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/autodiff/torch_cases.hpp"

#include <cstdlib>

namespace hearth::test {

std::optional<std::filesystem::path> case_path(const std::string& path, std::string& why) {
    const char* folder = std::getenv("HEARTH_CASES");
    if (folder == nullptr || *folder == '\0') {
        why = "HEARTH_CASES does not name the folder of reference cases";
        return std::nullopt;
    }
    const std::filesystem::path file = std::filesystem::path(folder) / path;
    if (std::filesystem::exists(file)) return file;
    why = file.string() + " is not there";
    return std::nullopt;
}

}  // namespace hearth::test
