// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shared by the modes of `hearth verify`.

#pragma once

#include "report.hpp"

#include <hearth/compile.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

struct VerifyOptions {
    std::string device = "both";
    std::optional<double> relative;
    std::optional<double> absolute;
    int device_index = -1;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    bool symbolic_batch = false;
    std::vector<std::string> bounds;           ///< see ModelOptions
    std::vector<std::string> constant_inputs;  ///< names of inputs; "all"
    bool gradients = false;
    bool cooked = false;
    double timeout_s = 600;  ///< for one case; 0: none
    ReportOptions report;
    std::vector<std::string> folders;
};

/// The cases of a mode: folders with a model.onnx, or files of gradients.
struct VerifyMode {
    std::function<std::vector<std::filesystem::path>(const std::filesystem::path& root)> find;
    std::string none_found;  ///< the failure of a root without cases
    /// Opens the devices in the process that runs the cases; returns the function that runs one.
    std::function<std::function<std::vector<DeviceOutcome>(const std::filesystem::path& path)>()>
        start;
};

/// hearth verify --gradients: PyTorch's gradients, in .json files in the folders or named
/// individually.
VerifyMode gradients_mode(const VerifyOptions& options);

}  // namespace hearth::tool
