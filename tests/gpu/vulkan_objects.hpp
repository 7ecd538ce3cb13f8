// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Vulkan objects of a host that several tests need.

#pragma once

#include <gtest/gtest.h>
#include <standalone/device.hpp>

#include <cstdint>

namespace hearth::test {

/// A 2D image with memory and a view of its own; failures are reported.
class OwnedImage {
  public:
    /// view_format  of the view; by default the image's
    OwnedImage(standalone::Device& device, VkFormat format, uint32_t width, uint32_t height,
               VkImageUsageFlags usage, VkImageAspectFlags aspect = VK_IMAGE_ASPECT_COLOR_BIT,
               VkFormat view_format = VK_FORMAT_UNDEFINED)
        : device_(device) {
        if (view_format == VK_FORMAT_UNDEFINED) view_format = format;
        const standalone::VulkanApi& vk = device.vk();
        VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = format;
        info.extent = {width, height, 1};
        info.mipLevels = info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = usage;
        // The view's format may have usages that the image's has not.
        if (view_format != format)
            info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
        EXPECT_EQ(vk.CreateImage(device.handle(), &info, nullptr, &image_), VK_SUCCESS);
        const Result<VkDeviceMemory> memory = device.allocate(image_);
        EXPECT_TRUE(memory.ok()) << memory.status().message();
        if (memory.ok()) memory_ = *memory;
        VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
        view.image = image_;
        view.viewType = VK_IMAGE_VIEW_TYPE_2D;
        view.format = view_format;
        view.subresourceRange = {aspect, 0, 1, 0, 1};
        EXPECT_EQ(vk.CreateImageView(device.handle(), &view, nullptr, &view_), VK_SUCCESS);
    }
    ~OwnedImage() {
        const standalone::VulkanApi& vk = device_.vk();
        vk.DestroyImageView(device_.handle(), view_, nullptr);
        vk.DestroyImage(device_.handle(), image_, nullptr);
        vk.FreeMemory(device_.handle(), memory_, nullptr);
    }
    OwnedImage(const OwnedImage&) = delete;
    OwnedImage& operator=(const OwnedImage&) = delete;

    VkImage image() const { return image_; }
    VkImageView view() const { return view_; }

  private:
    standalone::Device& device_;
    VkImage image_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

/// A timeline semaphore at 0; null after a reported failure.
inline VkSemaphore create_timeline_semaphore(const standalone::Device& device) {
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo create{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    create.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(device.vk().CreateSemaphore(device.handle(), &create, nullptr, &semaphore),
              VK_SUCCESS);
    return semaphore;
}

/// Makes what transfers wrote visible to the CPU.
inline void barrier_to_host(const standalone::VulkanApi& vk, VkCommandBuffer commands) {
    VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    memory.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    memory.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                          1, &memory, 0, nullptr, 0, nullptr);
}

}  // namespace hearth::test
