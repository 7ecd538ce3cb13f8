// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning files as the tool's commands take them.

#pragma once

#include <hearth/compile.hpp>

#include <standalone/device.hpp>

#include <string>

namespace hearth::tool {

/// What CompileOptions::driver is for this device.
std::string driver_text(const standalone::Device& device);

/// Fills in the options' driver, and their tuning with the contents of `path`, if it is not empty.
Status add_tuning(CompileOptions& options, const std::string& path,
                  const standalone::Device& device);

}  // namespace hearth::tool
