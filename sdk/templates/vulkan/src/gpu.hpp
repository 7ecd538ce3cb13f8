// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game's own Vulkan device, with one queue that is waited for: what a renderer already has.

#pragma once

#include <hearth/hearth_runtime.hpp>

#include <vulkan/vulkan.h>

#include <functional>

class Gpu {
  public:
    /// Opens the first device that Hearth can use, a discrete GPU before others.
    static hearth::Result<Gpu> open();
    Gpu(Gpu&& other) noexcept;
    Gpu& operator=(Gpu&&) = delete;
    ~Gpu();

    const char* name() const { return properties_.deviceName; }
    /// Describes the device for hearth::Context::create.
    hearth_context_create_info context_info() const;
    /// Records, submits and waits; a game submits its frame's commands instead.
    hearth::Status run(const std::function<hearth::Status(VkCommandBuffer)>& record);

  private:
    Gpu() = default;
    hearth::Status pick_physical_device();
    hearth::Status create_device();

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_{};
    hearth_requirements requirements_ = hearth_requirements_default();
    VkDevice device_ = VK_NULL_HANDLE;
    uint32_t queue_family_ = 0;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};
