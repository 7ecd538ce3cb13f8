// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Driver statistics of pipelines: registers, stack, code size.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/hearth.h>
#include <hearth/status.hpp>

#include <standalone/device.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hearth::perf {

/// One pipeline of a program.
struct PipelineStatistics {
    std::string kernel;      ///< its name, or its index without debug utils
    double compile_s = 0;    ///< CPU time of this process while the driver built it
    std::string error = {};  ///< why there is no pipeline
    std::vector<std::pair<std::string, double>> figures = {};  ///< names from the driver
};

/// "Register Count 40, Binary Size 2048, ..."
std::string text_of(const PipelineStatistics& pipeline);

/// While it lives, the statistics of all pipelines of workloads are kept.  One at a time.
class PipelineCapture {
  public:
    /// device: with VK_KHR_pipeline_executable_properties (DeviceOptions::pipeline_statistics);
    /// without it there are no figures.
    explicit PipelineCapture(standalone::Device& device);
    ~PipelineCapture();
    PipelineCapture(const PipelineCapture&) = delete;
    PipelineCapture& operator=(const PipelineCapture&) = delete;

    /// What a workload asks instead of the driver; null while nothing is captured.
    static hearth_get_device_proc get_device_proc_addr();
    /// Those since the last call.
    std::vector<PipelineStatistics> take();
    /// SPIR-V of the modules since the last call.
    std::vector<std::vector<uint32_t>> take_modules();
};

/// Builds the pipelines of `compiled` and queries their statistics.
/// Errors: kUnsupported without VK_KHR_pipeline_executable_properties. Not thread-safe.
Result<std::vector<PipelineStatistics>> pipeline_statistics(standalone::Device& device,
                                                            const Compiled& compiled);

}  // namespace hearth::perf
