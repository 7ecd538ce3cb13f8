// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shared by the modes of `hearth verify`.

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
    bool symbolic_batch = false;
    std::vector<std::string> bounds;           ///< see ModelOptions
    std::vector<std::string> constant_inputs;  ///< names of inputs; "all"
    bool gradients = false;
    bool cooked = false;
    double timeout_s = 600;  ///< for one case; 0: none
    ReportOptions report;
    std::vector<std::string> folders;
};

/// `path` as shown in reports: relative to the parent of `root`.
std::string label_for(const std::filesystem::path& path, const std::filesystem::path& root);

/// hearth verify --gradients: checks every file of PyTorch gradients in the folders (or named
/// individually).  Returns true if nothing failed.
bool verify_gradients(const VerifyOptions& options);

}  // namespace hearth::tool
