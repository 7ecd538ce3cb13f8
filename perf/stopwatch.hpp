// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures GPU time with timestamp queries.

#pragma once

#include <hearth/status.hpp>

#include <standalone/device.hpp>

#include <cstdint>
#include <vector>

namespace hearth::perf {

/// Timestamps within one command buffer.
class Stopwatch {
  public:
    explicit Stopwatch(standalone::Device& device) : device_(device), vk_(device.vk()) {}
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    /// count: maximum number of timestamps in a command buffer.
    Status create(uint32_t count);

    /// Starts a command buffer's timestamps; call before the first of them.
    void reset(VkCommandBuffer commands);
    /// Writes the next timestamp: when everything recorded so far has finished.
    void stamp(VkCommandBuffer commands);

    /// Returns the microseconds between consecutive timestamps, once the command buffer has
    /// finished.
    Result<std::vector<double>> intervals_us() const;

  private:
    standalone::Device& device_;
    const standalone::VulkanApi& vk_;
    VkQueryPool queries_ = VK_NULL_HANDLE;
    uint32_t count_ = 0, stamped_ = 0;
};

}  // namespace hearth::perf
