// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning files for the tool's commands.

#pragma once

#include <hearth/compile.hpp>

#include <standalone/device.hpp>

#include <string>

namespace hearth::tool {

/// The value of CompileOptions::driver_id for this device.
std::string driver_text(const standalone::Device& device);

/// Sets the options' driver, and their tuning to the contents of `path` if it is not empty.
Status add_tuning(CompileOptions& options, const std::string& path,
                  const standalone::Device& device);

}  // namespace hearth::tool
