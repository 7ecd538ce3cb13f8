// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executors (hearth/executor.hpp) on devices: a Vulkan device, or this machine's CPU.

#pragma once

#include <hearth/executor.hpp>

#include <standalone/device.hpp>

#include <memory>
#include <string>

namespace hearth::native {

/// Compiles loaded graphs for `device`, which must outlive it. name: "gpu" or "cpu".  options: all
/// but the device and the batch size.
Result<std::unique_ptr<Executor>> make_device_executor(standalone::Device& device, std::string name,
                                                       CompileOptions options = {});

}  // namespace hearth::native
