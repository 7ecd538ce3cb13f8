// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hand-written kernels (shaders/), for comparison with compiled ones.

#pragma once

#include <hearth/status.hpp>

#include <standalone/device.hpp>

#include <cstdint>
#include <span>

namespace hearth::perf {

/// Arguments of such a kernel.
struct Push {
    VkDeviceAddress from, to;
    uint32_t count;
    float factor;
};

/// One kernel with Push as its only argument.
class Probe {
  public:
    explicit Probe(standalone::Device& device) : device_(device), vk_(device.vk()) {}
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    Status build(std::span<const uint32_t> spirv);

    void record(VkCommandBuffer commands, const Push& push, uint32_t groups) const;

  private:
    standalone::Device& device_;
    const standalone::VulkanApi& vk_;
    VkShaderModule module_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace hearth::perf
