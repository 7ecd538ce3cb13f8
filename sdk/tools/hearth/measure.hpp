// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GPU times of programs and their commands, and the roofline bound.

#pragma once

#include <standalone/device.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::tool {

struct CommandTime {
    std::string label;  ///< what it computes
    std::string kind;   ///< kernel, copy or fill
    double us = 0;      ///< median, with timestamps around each command: an upper bound
    double flops = 0;   ///< estimates at the batch size that was run
    double bytes = 0;
};

struct Measured {
    double total_us = 0;  ///< median of whole recordings, without timestamps in between
    double min_us = 0;
    double max_us = 0;
    uint32_t samples = 0;
    std::vector<CommandTime> commands;
    std::string device_target;
};

struct MeasureOptions {
    std::string entry;
    int64_t batch_size = 1;
    uint32_t samples = 50;
    double max_s = 10;  ///< no run begins after so much GPU time, once there are three
    const char* device_target = nullptr;  ///< of a package; null: the best for the device
    bool wants_commands = true;           ///< also measure each command
};

/// Times an entry of a program or package (serialized), with bindings in device memory filled with
/// a small constant.  Errors: kUnsupported for a queue without timestamps.
Result<Measured> measure(standalone::Device& device, std::span<const std::byte> bytes,
                         const MeasureOptions& options);

/// Peak rates reached by Hearth's own kernels: memory bandwidth of reading and writing a large
/// tensor, and f32 multiply-adds in registers.
struct Roof {
    double bytes_per_s = 0;
    double flops_per_s = 0;
    /// Lower bound of the time of a kernel with this much work.
    double min_us(double flops, double bytes) const;
};
Result<Roof> measure_roof(standalone::Device& device);

}  // namespace hearth::tool
