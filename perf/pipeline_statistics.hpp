// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Driver statistics of pipelines: registers, stack, code size.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <standalone/device.hpp>

#include <string>
#include <vector>

namespace hearth::perf {

/// One pipeline of a program.
struct PipelineStatistics {
    std::string kernel;   ///< its name, or its index without debug utils
    std::string figures;  ///< "Register Count 40, Binary Size 2048, ..."; names from the driver
};

/// Builds the pipelines of `compiled` and queries their statistics. device: with
/// VK_KHR_pipeline_executable_properties (DeviceOptions::pipeline_statistics).
/// Errors: kUnsupported without it. Not thread-safe.
Result<std::vector<PipelineStatistics>> pipeline_statistics(standalone::Device& device,
                                                            const Compiled& compiled);

}  // namespace hearth::perf
