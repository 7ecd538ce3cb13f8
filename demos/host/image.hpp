// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates 2D images and views with one mip level and layer.

#pragma once

#include <standalone/device.hpp>

namespace hearth::demo {

/// An image without memory.
inline Result<VkImage> create_image(const standalone::Device& device, VkFormat format,
                                    VkExtent2D extent, VkSampleCountFlagBits samples,
                                    VkImageUsageFlags usage) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {extent.width, extent.height, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = samples;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = usage;
    VkImage image = VK_NULL_HANDLE;
    HEARTH_TRY(standalone::check_vulkan(
        device.vk().CreateImage(device.handle(), &info, nullptr, &image), "vkCreateImage"));
    return image;
}

inline Result<VkImageView> create_view(const standalone::Device& device, VkImage image,
                                       VkFormat format) {
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    info.image = image;
    info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    info.format = format;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageView view = VK_NULL_HANDLE;
    HEARTH_TRY(standalone::check_vulkan(
        device.vk().CreateImageView(device.handle(), &info, nullptr, &view), "vkCreateImageView"));
    return view;
}

}  // namespace hearth::demo
