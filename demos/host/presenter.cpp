// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Presents finished pictures to a swapchain, or to a ring of images without one.

#include "presenter.hpp"

#include "image.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace hearth::demo {
namespace {

using standalone::check_vulkan;
using standalone::Device;
using standalone::VulkanApi;

class SwapchainPresenter final : public Presenter {
  public:
    SwapchainPresenter(Device& device, VkSurfaceKHR surface, const char* name)
        : device_(device), surface_(surface), name_(name) {}
    ~SwapchainPresenter() override {
        destroy_views();
        if (swapchain_) {
            device_.vk().DestroySwapchainKHR(device_.handle(), swapchain_, nullptr);
        }
        device_.vk().DestroySurfaceKHR(device_.instance().handle(), surface_, nullptr);
    }

    const char* name() const override { return name_; }
    VkFormat format() const override { return format_.format; }
    VkExtent2D extent() const override { return extent_; }
    std::span<const VkImage> images() const override { return images_; }
    std::span<const VkImageView> views() const override { return views_; }
    VkImageLayout present_layout() const override { return VK_IMAGE_LAYOUT_PRESENT_SRC_KHR; }
    bool can_copy() const override { return can_copy_; }
    bool is_outdated() const override { return is_outdated_; }

    Status choose_format() {
        const VulkanApi& vk = device_.vk();
        VkBool32 is_supported = VK_FALSE;
        HEARTH_TRY(check_vulkan(
            vk.GetPhysicalDeviceSurfaceSupportKHR(device_.physical_device(), device_.queue_family(),
                                                  surface_, &is_supported),
            "vkGetPhysicalDeviceSurfaceSupportKHR"));
        if (!is_supported) {
            return unsupported(std::string(device_.properties().deviceName) +
                               " cannot present to this surface");
        }
        uint32_t count = 0;
        HEARTH_TRY(check_vulkan(vk.GetPhysicalDeviceSurfaceFormatsKHR(device_.physical_device(),
                                                                      surface_, &count, nullptr),
                                "vkGetPhysicalDeviceSurfaceFormatsKHR"));
        std::vector<VkSurfaceFormatKHR> formats(count);
        HEARTH_TRY(check_vulkan(vk.GetPhysicalDeviceSurfaceFormatsKHR(
                                    device_.physical_device(), surface_, &count, formats.data()),
                                "vkGetPhysicalDeviceSurfaceFormatsKHR"));
        for (const VkFormat wanted : {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM}) {
            const auto found = std::ranges::find(formats, wanted, &VkSurfaceFormatKHR::format);
            if (found == formats.end()) continue;
            format_ = *found;
            return {};
        }
        return unsupported("the surface has no 8-bit linear format");
    }

    Status recreate(VkExtent2D extent) override {
        const VulkanApi& vk = device_.vk();
        VkSurfaceCapabilitiesKHR surface;
        HEARTH_TRY(check_vulkan(vk.GetPhysicalDeviceSurfaceCapabilitiesKHR(
                                    device_.physical_device(), surface_, &surface),
                                "vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
        if (surface.currentExtent.width != UINT32_MAX) extent = surface.currentExtent;
        if (extent.width == 0 || extent.height == 0) {  // minimized: nothing to draw to
            is_outdated_ = true;
            return {};
        }
        extent_.width =
            std::clamp(extent.width, surface.minImageExtent.width, surface.maxImageExtent.width);
        extent_.height =
            std::clamp(extent.height, surface.minImageExtent.height, surface.maxImageExtent.height);
        can_copy_ = (surface.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT) != 0;

        const VkSwapchainKHR old = swapchain_;
        VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
        info.surface = surface_;
        info.minImageCount = std::max(surface.minImageCount, 3u);
        if (surface.maxImageCount > 0) {
            info.minImageCount = std::min(info.minImageCount, surface.maxImageCount);
        }
        info.imageFormat = format_.format;
        info.imageColorSpace = format_.colorSpace;
        info.imageExtent = extent_;
        info.imageArrayLayers = 1;
        info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
        if (can_copy_) info.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        info.preTransform = surface.currentTransform;
        info.compositeAlpha =
            (surface.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR) != 0
                ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
        info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
        info.clipped = VK_TRUE;
        info.oldSwapchain = old;
        const VkResult result =
            vk.CreateSwapchainKHR(device_.handle(), &info, nullptr, &swapchain_);
        destroy_views();
        if (old) vk.DestroySwapchainKHR(device_.handle(), old, nullptr);
        if (result != VK_SUCCESS) swapchain_ = VK_NULL_HANDLE;
        HEARTH_TRY(check_vulkan(result, "vkCreateSwapchainKHR"));

        uint32_t count = 0;
        HEARTH_TRY(
            check_vulkan(vk.GetSwapchainImagesKHR(device_.handle(), swapchain_, &count, nullptr),
                         "vkGetSwapchainImagesKHR"));
        images_.resize(count);
        HEARTH_TRY(check_vulkan(
            vk.GetSwapchainImagesKHR(device_.handle(), swapchain_, &count, images_.data()),
            "vkGetSwapchainImagesKHR"));
        for (const VkImage image : images_) {
            HEARTH_ASSIGN(const VkImageView view, create_view(device_, image, format_.format));
            views_.push_back(view);
        }
        is_outdated_ = false;
        return {};
    }

    Result<std::optional<Acquired>> acquire(VkSemaphore semaphore) override {
        if (is_outdated_) return std::optional<Acquired>();
        uint32_t index = 0;
        const VkResult result = device_.vk().AcquireNextImageKHR(
            device_.handle(), swapchain_, UINT64_MAX, semaphore, VK_NULL_HANDLE, &index);
        if (result == VK_ERROR_OUT_OF_DATE_KHR) {
            is_outdated_ = true;
            return std::optional<Acquired>();
        }
        HEARTH_TRY(check_vulkan(result, "vkAcquireNextImageKHR"));
        return std::optional<Acquired>({.image_index = index, .uses_semaphores = true});
    }

    Status present(uint32_t image_index, VkSemaphore semaphore) override {
        VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
        info.waitSemaphoreCount = 1;
        info.pWaitSemaphores = &semaphore;
        info.swapchainCount = 1;
        info.pSwapchains = &swapchain_;
        info.pImageIndices = &image_index;
        const VkResult result = device_.vk().QueuePresentKHR(device_.queue(), &info);
        if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) {
            is_outdated_ = true;
            return {};
        }
        return check_vulkan(result, "vkQueuePresentKHR");
    }

  private:
    void destroy_views() {
        for (const VkImageView view : views_) {
            device_.vk().DestroyImageView(device_.handle(), view, nullptr);
        }
        views_.clear();
    }

    Device& device_;
    VkSurfaceKHR surface_;
    const char* name_;
    VkSurfaceFormatKHR format_{};
    VkExtent2D extent_{};
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    std::vector<VkImage> images_;
    std::vector<VkImageView> views_;
    bool can_copy_ = false;
    bool is_outdated_ = false;
};

class RingPresenter final : public Presenter {
  public:
    RingPresenter(Device& device, uint32_t image_count) : device_(device), images_(image_count) {}
    ~RingPresenter() override { destroy(); }

    const char* name() const override { return "ring of images"; }
    VkFormat format() const override { return kFormat; }
    VkExtent2D extent() const override { return extent_; }
    std::span<const VkImage> images() const override { return images_; }
    std::span<const VkImageView> views() const override { return views_; }
    VkImageLayout present_layout() const override { return VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL; }
    bool can_copy() const override { return true; }
    bool is_outdated() const override { return false; }

    Status recreate(VkExtent2D extent) override {
        destroy();
        extent_ = extent;
        for (VkImage& image : images_) {
            HEARTH_ASSIGN(image, create_image(device_, kFormat, extent, VK_SAMPLE_COUNT_1_BIT,
                                              VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                  VK_IMAGE_USAGE_TRANSFER_SRC_BIT));
            HEARTH_ASSIGN(const VkDeviceMemory memory, device_.allocate(image));
            memories_.push_back(memory);
            HEARTH_ASSIGN(const VkImageView view, create_view(device_, image, kFormat));
            views_.push_back(view);
        }
        return {};
    }

    Result<std::optional<Acquired>> acquire(VkSemaphore) override {
        const auto count = static_cast<uint32_t>(images_.size());
        return std::optional<Acquired>({.image_index = next_++ % count});
    }

    Status present(uint32_t, VkSemaphore) override { return {}; }

  private:
    static constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

    void destroy() {
        const VulkanApi& vk = device_.vk();
        for (const VkImageView view : views_) vk.DestroyImageView(device_.handle(), view, nullptr);
        for (VkImage& image : images_) {
            vk.DestroyImage(device_.handle(), std::exchange(image, VK_NULL_HANDLE), nullptr);
        }
        for (const VkDeviceMemory memory : memories_) {
            vk.FreeMemory(device_.handle(), memory, nullptr);
        }
        views_.clear();
        memories_.clear();
    }

    Device& device_;
    VkExtent2D extent_{};
    std::vector<VkImage> images_;
    std::vector<VkDeviceMemory> memories_;
    std::vector<VkImageView> views_;
    uint32_t next_ = 0;
};

}  // namespace

Result<std::unique_ptr<Presenter>> create_swapchain_presenter(Device& device, VkSurfaceKHR surface,
                                                              VkExtent2D extent, const char* name) {
    auto presenter = std::make_unique<SwapchainPresenter>(device, surface, name);
    HEARTH_TRY(presenter->choose_format());
    HEARTH_TRY(presenter->recreate(extent));
    return std::unique_ptr<Presenter>(std::move(presenter));
}

Result<std::unique_ptr<Presenter>> create_ring_presenter(Device& device, VkExtent2D extent,
                                                         uint32_t image_count) {
    auto presenter = std::make_unique<RingPresenter>(device, image_count);
    HEARTH_TRY(presenter->recreate(extent));
    return std::unique_ptr<Presenter>(std::move(presenter));
}

}  // namespace hearth::demo
