// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A network's output is written into the images of a swapchain, whose window is resized while frames
// are in flight.  Needs an X server: xvfb-run swapchain_test.

#define VK_USE_PLATFORM_XCB_KHR
#include "gpu/image_formats.hpp"
#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

#include <vulkan/vulkan_xcb.h>
#include <xcb/xcb.h>

#include <array>
#include <cstdlib>
#include <optional>

namespace hearth::test {
namespace {

class Window {
  public:
    Window(uint16_t width, uint16_t height)
        : connection_(xcb_connect(nullptr, nullptr)), extent_{width, height} {
        if (xcb_connection_has_error(connection_) != 0) return;
        const xcb_screen_t* const screen =
            xcb_setup_roots_iterator(xcb_get_setup(connection_)).data;
        window_ = xcb_generate_id(connection_);
        const uint32_t events[] = {XCB_EVENT_MASK_STRUCTURE_NOTIFY};
        xcb_create_window(connection_, XCB_COPY_FROM_PARENT, window_, screen->root, 0, 0, width,
                          height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
                          XCB_CW_EVENT_MASK, events);
        xcb_map_window(connection_, window_);
        xcb_flush(connection_);
    }
    ~Window() { xcb_disconnect(connection_); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    bool is_open() const { return window_ != 0; }
    VkExtent2D extent() const { return extent_; }

    void resize(uint32_t width, uint32_t height) {
        const uint32_t size[] = {width, height};
        xcb_configure_window(connection_, window_,
                             XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
        xcb_flush(connection_);
        for (bool is_resized = false; !is_resized;) {
            xcb_generic_event_t* const event = xcb_wait_for_event(connection_);
            ASSERT_NE(event, nullptr);
            const auto* const change = reinterpret_cast<xcb_configure_notify_event_t*>(event);
            is_resized = (event->response_type & 0x7f) == XCB_CONFIGURE_NOTIFY &&
                         change->width == width && change->height == height;
            std::free(event);
        }
        extent_ = {width, height};
    }

    VkSurfaceKHR create_surface(const standalone::Instance& instance) const {
        VkXcbSurfaceCreateInfoKHR info{VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR};
        info.connection = connection_;
        info.window = window_;
        const auto create = reinterpret_cast<PFN_vkCreateXcbSurfaceKHR>(
            instance.vk().GetInstanceProcAddr(instance.handle(), "vkCreateXcbSurfaceKHR"));
        VkSurfaceKHR surface = VK_NULL_HANDLE;
        EXPECT_EQ(create(instance.handle(), &info, nullptr, &surface), VK_SUCCESS);
        return surface;
    }

  private:
    xcb_connection_t* connection_;
    xcb_window_t window_ = 0;
    VkExtent2D extent_;
};

struct Formats {
    VkFormat swapchain;
    VkFormat view;     ///< through which the converter writes
    VkFormat content;  ///< of the views through which a game would draw

    bool is_mutable() const { return swapchain != view || swapchain != content; }
};

VkSemaphore create_semaphore(const standalone::Device& device) {
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(device.vk().CreateSemaphore(device.handle(), &info, nullptr, &semaphore), VK_SUCCESS);
    return semaphore;
}

/// A swapchain whose images are written through views of `view_format`.
/// content  the format of the views that the game draws to
class Swapchain {
  public:
    struct Image {
        VkImage image = VK_NULL_HANDLE;
        VkImageView view = VK_NULL_HANDLE;
        VkSemaphore drawn = VK_NULL_HANDLE;
    };

    Swapchain(standalone::Device& device, VkSurfaceKHR surface, const Formats& formats)
        : device_(device), surface_(surface), formats_(formats) {}
    ~Swapchain() {
        destroy_images();
        device_.vk().DestroySwapchainKHR(device_.handle(), swapchain_, nullptr);
    }
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;

    /// With the window's size.  No frame is in flight.
    void recreate() {
        const standalone::VulkanApi& vk = device_.vk();
        VkSurfaceCapabilitiesKHR surface;
        ASSERT_EQ(vk.GetPhysicalDeviceSurfaceCapabilitiesKHR(device_.physical_device(), surface_,
                                                             &surface),
                  VK_SUCCESS);
        extent_ = surface.currentExtent;
        VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
        const std::array formats = {formats_.swapchain, formats_.view, formats_.content};
        VkImageFormatListCreateInfo list{VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO};
        list.viewFormatCount = formats.size();
        list.pViewFormats = formats.data();
        if (formats_.is_mutable()) {
            info.flags = VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR;
            info.pNext = &list;
        }
        info.surface = surface_;
        info.minImageCount = surface.minImageCount;
        info.imageFormat = formats_.swapchain;
        info.imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
        info.imageExtent = extent_;
        info.imageArrayLayers = 1;
        info.imageUsage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        info.preTransform = surface.currentTransform;
        info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
        info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
        info.oldSwapchain = swapchain_;
        VkSwapchainKHR made = VK_NULL_HANDLE;
        ASSERT_EQ(vk.CreateSwapchainKHR(device_.handle(), &info, nullptr, &made), VK_SUCCESS);
        destroy_images();
        vk.DestroySwapchainKHR(device_.handle(), swapchain_, nullptr);
        swapchain_ = made;
        uint32_t count = 0;
        vk.GetSwapchainImagesKHR(device_.handle(), swapchain_, &count, nullptr);
        std::vector<VkImage> handles(count);
        vk.GetSwapchainImagesKHR(device_.handle(), swapchain_, &count, handles.data());
        for (const VkImage handle : handles) {
            Image image{handle, VK_NULL_HANDLE, create_semaphore(device_)};
            VkImageViewUsageCreateInfo usage{VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO};
            usage.usage = VK_IMAGE_USAGE_STORAGE_BIT;
            VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
            view.pNext = &usage;
            view.image = handle;
            view.viewType = VK_IMAGE_VIEW_TYPE_2D;
            view.format = formats_.view;
            view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
            EXPECT_EQ(vk.CreateImageView(device_.handle(), &view, nullptr, &image.view),
                      VK_SUCCESS);
            images_.push_back(image);
        }
        ++generation_;
    }

    /// nullopt: the swapchain no longer fits the window.
    std::optional<uint32_t> acquire(VkSemaphore semaphore) const {
        uint32_t index = 0;
        const VkResult result = device_.vk().AcquireNextImageKHR(
            device_.handle(), swapchain_, UINT64_MAX, semaphore, VK_NULL_HANDLE, &index);
        if (result == VK_ERROR_OUT_OF_DATE_KHR) return std::nullopt;
        EXPECT_TRUE(result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) << result;
        return index;
    }
    /// False: as above, after this image.
    bool present(uint32_t index) const {
        VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
        info.waitSemaphoreCount = info.swapchainCount = 1;
        info.pWaitSemaphores = &images_[index].drawn;
        info.pSwapchains = &swapchain_;
        info.pImageIndices = &index;
        const VkResult result = device_.vk().QueuePresentKHR(device_.queue(), &info);
        EXPECT_TRUE(result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR ||
                    result == VK_ERROR_OUT_OF_DATE_KHR)
            << result;
        return result == VK_SUCCESS;
    }
    const Image& image(uint32_t index) const { return images_[index]; }
    VkExtent2D extent() const { return extent_; }
    int generation() const { return generation_; }

  private:
    void destroy_images() {
        const standalone::VulkanApi& vk = device_.vk();
        for (const Image& image : images_) {
            vk.DestroyImageView(device_.handle(), image.view, nullptr);
            vk.DestroySemaphore(device_.handle(), image.drawn, nullptr);
        }
        images_.clear();
    }

    standalone::Device& device_;
    VkSurfaceKHR surface_;
    Formats formats_;
    VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
    std::vector<Image> images_;
    VkExtent2D extent_{};
    int generation_ = 0;
};

/// A frame in flight, and what it must have drawn.
struct FrameSlot {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VkSemaphore acquired = VK_NULL_HANDLE;
    standalone::Buffer pixels;
    uint64_t frame_number = 0;  ///< 0: nothing is in flight
    VkExtent2D extent{};
    float scale = 0;
};

class Swapchains : public testing::TestWithParam<Formats> {
  protected:
    static constexpr uint32_t kRows = 8, kMaxPixels = 400 * 300;

    // An X server without clients starts anew.
    static void SetUpTestSuite() {
        static xcb_connection_t* const stays = xcb_connect(nullptr, nullptr);
        (void)stays;
    }

    void SetUp() override {
        window_.emplace(uint16_t{200}, uint16_t{120});
        if (!window_->is_open()) GTEST_SKIP() << "no X server: run it under xvfb-run";
        auto instance = make_test_instance({"VK_KHR_surface", "VK_KHR_xcb_surface"});
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(*instance);
        standalone::DeviceOptions options = test_device_options();
        options.extensions = {"VK_KHR_swapchain"};
        if (GetParam().is_mutable())
            options.extensions.insert(
                options.extensions.end(),
                {"VK_KHR_image_format_list", "VK_KHR_swapchain_mutable_format"});
        auto device = standalone::Device::create(*instance_, options);
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::move(*device);
        surface_ = window_->create_surface(*instance_);
        VkBool32 is_supported = VK_FALSE;
        VkSurfaceCapabilitiesKHR surface;
        vk().GetPhysicalDeviceSurfaceSupportKHR(device_->physical_device(), device_->queue_family(),
                                                surface_, &is_supported);
        vk().GetPhysicalDeviceSurfaceCapabilitiesKHR(device_->physical_device(), surface_,
                                                     &surface);
        if (is_supported == VK_FALSE ||
            (surface.supportedUsageFlags & VK_IMAGE_USAGE_STORAGE_BIT) == 0)
            GTEST_SKIP() << "images of this surface cannot be stored to";
        for (FrameSlot& slot : slots_) create(slot);
    }
    void TearDown() override {
        if (!device_) return;
        for (FrameSlot& slot : slots_) {
            vk().DestroyCommandPool(device_->handle(), slot.pool, nullptr);
            vk().DestroyFence(device_->handle(), slot.fence, nullptr);
            vk().DestroySemaphore(device_->handle(), slot.acquired, nullptr);
            slot.pixels.reset();
        }
        vk().DestroySurfaceKHR(instance_->handle(), surface_, nullptr);
        device_.reset();
        for (const standalone::ValidationMessage& message : instance_->messages().take())
            ADD_FAILURE() << "validation: " << message.text;
    }

    void create(FrameSlot& slot) {
        VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        pool.queueFamilyIndex = device_->queue_family();
        ASSERT_EQ(vk().CreateCommandPool(device_->handle(), &pool, nullptr, &slot.pool),
                  VK_SUCCESS);
        VkCommandBufferAllocateInfo buffers{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        buffers.commandPool = slot.pool;
        buffers.commandBufferCount = 1;
        ASSERT_EQ(vk().AllocateCommandBuffers(device_->handle(), &buffers, &slot.commands),
                  VK_SUCCESS);
        const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        ASSERT_EQ(vk().CreateFence(device_->handle(), &fence, nullptr, &slot.fence), VK_SUCCESS);
        slot.acquired = create_semaphore(*device_);
        auto pixels =
            standalone::Buffer::create(*device_, kMaxPixels * 4, standalone::MemoryKind::kReadback);
        ASSERT_TRUE(pixels.ok());
        slot.pixels = std::move(*pixels);
    }

    /// Waits for the slot's frame and compares its picture.
    void finish(FrameSlot& slot, const std::vector<float>& picture) {
        if (slot.frame_number == 0) return;
        ASSERT_EQ(vk().WaitForFences(device_->handle(), 1, &slot.fence, VK_TRUE, UINT64_MAX),
                  VK_SUCCESS);
        ASSERT_EQ(vk().ResetFences(device_->handle(), 1, &slot.fence), VK_SUCCESS);
        completed_ = std::max(completed_, slot.frame_number);
        slot.frame_number = 0;
        const std::vector<TexelFormat> all = all_texel_formats();
        const TexelFormat& f = *std::find_if(all.begin(), all.end(), [&](const TexelFormat& each) {
            return each.format == GetParam().content;
        });
        const auto [width, height] = slot.extent;
        for (uint32_t y = 0; y < height; ++y)
            for (uint32_t x = 0; x < width; ++x) {
                const Texel found =
                    f.decode(slot.pixels.as<std::byte>().data() + (size_t{y} * width + x) * 4);
                const uint32_t row = static_cast<uint32_t>((static_cast<float>(y) + 0.5f) * kRows /
                                                           static_cast<float>(height));
                const uint32_t column = static_cast<uint32_t>((static_cast<float>(x) + 0.5f) *
                                                              kWidth / static_cast<float>(width));
                const double value = double{picture[row * kWidth + column]} * double{slot.scale};
                const Texel expected = {value, 0, 1 - value, 1};
                for (size_t c = 0; c < 4; ++c) {
                    const auto [v, tolerance] = f.stored(expected[c], 8, c == 3 ? 'a' : 'r');
                    ASSERT_NEAR(found[c], v, tolerance)
                        << width << " x " << height << " at " << x << ", " << y << ", " << c;
                }
            }
        ++compared_;
    }

    const standalone::VulkanApi& vk() const { return device_->vk(); }

    std::optional<Window> window_;
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    VkSurfaceKHR surface_ = VK_NULL_HANDLE;
    std::array<FrameSlot, 2> slots_;
    uint64_t completed_ = 0;
    int compared_ = 0;
};

TEST_P(Swapchains, OfAWindowThatIsResizedAreWrittenFromATensorInEachFrame) {
    const VkFormat view_format = GetParam().view;
    const auto rig = Rig::create(*device_);
    ASSERT_TRUE(rig);
    const bool is_srgb = GetParam().content == VK_FORMAT_B8G8R8A8_SRGB;
    auto writer = ImageConverter::create(rig->context, HEARTH_TENSOR_TO_IMAGE,
                                         static_cast<uint32_t>(view_format), 2);
    if (!writer.ok() && (device_->enabled_features() &
                         HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT) == 0)
        GTEST_SKIP() << writer.status().message();
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    const std::vector<float> x = test_values(kRows * kWidth, 5);
    rig->set_x(x);
    const std::vector<float> picture = TestReference().act(x);
    const uint64_t picture_bytes = kRows * kWidth * sizeof(float);
    const hearth_sync_scope kernel =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    const auto record = [&](FrameSlot& slot, const Swapchain::Image& image, VkExtent2D extent) {
        hearth_image_conversion_info info = hearth_image_conversion_info_default();
        info.command_buffer = slot.commands;
        info.image = image.image;
        info.view = image.view;
        info.image_width = extent.width;
        info.image_height = extent.height;
        info.image_layout_before = VK_IMAGE_LAYOUT_UNDEFINED;
        info.image_layout_after = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        // The submission waits for the image at this stage.
        info.image_acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0);
        info.image_release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        info.tensor = rig->bind(0, rig->y(), picture_bytes);
        info.tensor_width = kWidth;
        info.tensor_height = kRows;
        info.channels = 1;
        // Red: the picture.  Blue: 1 - the picture.
        const uint32_t swizzle[] = {0, HEARTH_SWIZZLE_ZERO, 0, HEARTH_SWIZZLE_ONE};
        const float scale[] = {slot.scale, 1, -slot.scale, 1}, bias[] = {0, 0, 1, 0};
        std::copy(std::begin(swizzle), std::end(swizzle), info.swizzle);
        std::copy(std::begin(scale), std::end(scale), info.scale);
        std::copy(std::begin(bias), std::end(bias), info.bias);
        if (view_format == VK_FORMAT_R8G8B8A8_UNORM) {  // the image is BGRA
            std::swap(info.scale[0], info.scale[2]);
            std::swap(info.bias[0], info.bias[2]);
        }
        info.flags = is_srgb ? HEARTH_CONVERSION_SRGB : 0u;
        ASSERT_TRUE(writer->record(info).ok()) << hearth_image_converter_error(writer->handle());
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {extent.width, extent.height, 1};
        vk().CmdCopyImageToBuffer(slot.commands, image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                  slot.pixels.handle(), 1, &copy);
        barrier_to_host(vk(), slot.commands);
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        barrier.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image.image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vk().CmdPipelineBarrier(slot.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, nullptr, 0, nullptr, 1,
                                &barrier);
    };

    Swapchain swapchain(*device_, surface_, GetParam());
    swapchain.recreate();
    bool fits = true;
    int discarded = 0;
    constexpr uint64_t kFrames = 24;
    const uint64_t first = rig->serial() + 1;
    rig->finish();
    completed_ = rig->serial();
    for (uint64_t frame = 0; frame < kFrames && !HasFatalFailure(); ++frame) {
        if (frame == 6) window_->resize(161, 99);
        if (frame == 12) window_->resize(400, 300);
        if (frame == 18) window_->resize(64, 31);
        if (!fits) {
            for (FrameSlot& each : slots_) finish(each, picture);
            vk().QueueWaitIdle(device_->queue());
            swapchain.recreate();
            fits = true;
        }
        FrameSlot& slot = slots_[frame % slots_.size()];
        finish(slot, picture);
        const uint64_t number = first + frame;
        ASSERT_TRUE(rig->context.begin_frame(number, completed_).ok()) << rig->context.error();
        VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        vk().ResetCommandPool(device_->handle(), slot.pool, 0);
        vk().BeginCommandBuffer(slot.commands, &begin);
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info act = rig->act_info(slot.commands, kRows, bounds);
        bounds[1].acquire_scope = bounds[1].release_scope = kernel;  // the conversions read it
        ASSERT_TRUE(rig->session.record(act).ok()) << rig->session.error();
        const std::optional<uint32_t> index = swapchain.acquire(slot.acquired);
        if (!index) {  // the command buffer is never submitted
            vk().EndCommandBuffer(slot.commands);
            ASSERT_TRUE(rig->context.discard_frame(number).ok());
            fits = false;
            ++discarded;
            continue;
        }
        slot.extent = swapchain.extent();
        slot.scale = 0.25f + static_cast<float>(frame) / 32;
        record(slot, swapchain.image(*index), slot.extent);
        vk().EndCommandBuffer(slot.commands);
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.waitSemaphoreCount = submit.commandBufferCount = submit.signalSemaphoreCount = 1;
        submit.pWaitSemaphores = &slot.acquired;
        submit.pWaitDstStageMask = &stage;
        submit.pCommandBuffers = &slot.commands;
        submit.pSignalSemaphores = &swapchain.image(*index).drawn;
        ASSERT_EQ(vk().QueueSubmit(device_->queue(), 1, &submit, slot.fence), VK_SUCCESS);
        slot.frame_number = number;
        // Not every driver tells; a game hears of it from the window system, too.
        const auto [width, height] = window_->extent();
        fits =
            swapchain.present(*index) && width == slot.extent.width && height == slot.extent.height;
    }
    for (FrameSlot& each : slots_) finish(each, picture);
    vk().QueueWaitIdle(device_->queue());
    EXPECT_EQ(swapchain.generation(), 4);
    EXPECT_EQ(compared_ + discarded, static_cast<int>(kFrames));
    ASSERT_TRUE(rig->context.begin_frame(first + kFrames, first + kFrames - 1).ok());
    *writer = ImageConverter();  // before its context
}

INSTANTIATE_TEST_SUITE_P(Formats, Swapchains,
                         testing::Values(Formats{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM,
                                                 VK_FORMAT_B8G8R8A8_UNORM},
                                         Formats{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM,
                                                 VK_FORMAT_B8G8R8A8_SRGB},
                                         Formats{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM,
                                                 VK_FORMAT_B8G8R8A8_UNORM}),
                         [](const testing::TestParamInfo<Formats>& test) {
                             return "Format" + std::to_string(test.param.swapchain) + "Written" +
                                    std::to_string(test.param.view) + "As" +
                                    std::to_string(test.param.content);
                         });

}  // namespace
}  // namespace hearth::test
