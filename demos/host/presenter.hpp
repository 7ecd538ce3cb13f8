// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Destination of finished pictures: a swapchain (of a window or a headless surface), or a ring of
// images if there is nothing to present to. The frame loop treats them alike.

#pragma once

#include <standalone/device.hpp>

#include <memory>
#include <optional>
#include <span>

namespace hearth::demo {

class Presenter {
  public:
    virtual ~Presenter() = default;
    Presenter(const Presenter&) = delete;
    Presenter& operator=(const Presenter&) = delete;

    /// "swapchain of a window", for reports.
    virtual const char* name() const = 0;
    virtual VkFormat format() const = 0;
    virtual VkExtent2D extent() const = 0;
    virtual std::span<const VkImage> images() const = 0;
    virtual std::span<const VkImageView> views() const = 0;
    /// Required image layout for presenting.
    virtual VkImageLayout present_layout() const = 0;
    /// True if images can be copied from (for screenshots).
    virtual bool can_copy() const = 0;

    /// Index of the next image; nullopt if the target must be recreated first. The device may write
    /// the image once `semaphore` is signalled; `uses_semaphores` is false if the presenter does
    /// not use it.
    struct Acquired {
        uint32_t image_index = 0;
        bool uses_semaphores = false;
    };
    virtual Result<std::optional<Acquired>> acquire(VkSemaphore semaphore) = 0;
    /// Presents the image once `semaphore` is signalled.
    virtual Status present(uint32_t image_index, VkSemaphore semaphore) = 0;
    /// True after the size changed or acquire() found the images outdated.
    virtual bool is_outdated() const = 0;
    /// Recreates the images with the given size (a hint: surfaces may require theirs). The device
    /// must be idle.
    virtual Status recreate(VkExtent2D extent) = 0;

  protected:
    Presenter() = default;
};

/// Presents to `surface`; destroys it at the end.
Result<std::unique_ptr<Presenter>> create_swapchain_presenter(standalone::Device& device,
                                                              VkSurfaceKHR surface,
                                                              VkExtent2D extent, const char* name);

/// Presents nowhere: cycles through a few images.
Result<std::unique_ptr<Presenter>> create_ring_presenter(standalone::Device& device,
                                                         VkExtent2D extent, uint32_t image_count);

}  // namespace hearth::demo
