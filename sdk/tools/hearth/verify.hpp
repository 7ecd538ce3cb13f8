// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the kinds of `hearth verify` share.

#pragma once

#include "report.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

struct VerifyOptions {
    std::string device = "both";
    std::optional<double> relative;
    std::optional<double> absolute;
    int device_index = -1;
    bool symbolic_rows = false;
    bool gradients = false;
    bool cooked = false;
    double timeout_s = 600;  ///< for one case; 0: none
    ReportOptions report;
    std::vector<std::string> folders;
};

/// `path` as reports name it: with the last part of `root`.
std::string label_for(const std::filesystem::path& path, const std::filesystem::path& root);

/// hearth verify --gradients: every file of PyTorch's gradients in the folders (or each that is
/// named itself).  Whether nothing failed.
bool verify_gradients(const VerifyOptions& options);

}  // namespace hearth::tool
