// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A game that renders to images of several formats and sizes: what a render pass drew goes into a
// network, and what the network returns into another render target, on which the next pass draws.

#include "gpu/image_formats.hpp"
#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hearth::test {
namespace {

using Color = std::array<float, 4>;

struct Rect {
    uint32_t x, y, width, height;
    bool contains(uint32_t column, uint32_t row) const {
        return column >= x && column < x + width && row >= y && row < y + height;
    }
};

/// A render target with a render pass that keeps or clears its contents and draws one rectangle.
class RenderTarget {
  public:
    RenderTarget(standalone::Device& device, const TexelFormat& format, uint32_t width,
                 uint32_t height, VkImageUsageFlags usage, VkAttachmentLoadOp load)
        : device_(device),
          image_(device, format.format, width, height,
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | usage),
          format_(format),
          width_(width),
          height_(height) {
        VkAttachmentDescription attachment{};
        attachment.format = format.format;
        attachment.samples = VK_SAMPLE_COUNT_1_BIT;
        attachment.loadOp = load;
        attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
        attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
        attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
        attachment.initialLayout = load == VK_ATTACHMENT_LOAD_OP_LOAD
                                       ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
                                       : VK_IMAGE_LAYOUT_UNDEFINED;
        attachment.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
        const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
        VkSubpassDescription subpass{};
        subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
        subpass.colorAttachmentCount = 1;
        subpass.pColorAttachments = &color;
        VkRenderPassCreateInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
        pass.attachmentCount = pass.subpassCount = 1;
        pass.pAttachments = &attachment;
        pass.pSubpasses = &subpass;
        const standalone::VulkanApi& vk = device.vk();
        EXPECT_EQ(vk.CreateRenderPass(device.handle(), &pass, nullptr, &pass_), VK_SUCCESS);
        const VkImageView view = image_.view();
        VkFramebufferCreateInfo frame{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
        frame.renderPass = pass_;
        frame.attachmentCount = 1;
        frame.pAttachments = &view;
        frame.width = width;
        frame.height = height;
        frame.layers = 1;
        EXPECT_EQ(vk.CreateFramebuffer(device.handle(), &frame, nullptr, &frame_), VK_SUCCESS);
    }
    ~RenderTarget() {
        const standalone::VulkanApi& vk = device_.vk();
        vk.DestroyFramebuffer(device_.handle(), frame_, nullptr);
        vk.DestroyRenderPass(device_.handle(), pass_, nullptr);
    }
    RenderTarget(const RenderTarget&) = delete;
    RenderTarget& operator=(const RenderTarget&) = delete;

    /// Clears to `background`, if the pass clears, and draws `rect` in `color`.
    void draw(VkCommandBuffer commands, const Color& background, const Rect& rect,
              const Color& color) const {
        const standalone::VulkanApi& vk = device_.vk();
        VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
        begin.renderPass = pass_;
        begin.framebuffer = frame_;
        begin.renderArea.extent = {width_, height_};
        VkClearValue clear{};
        std::copy(background.begin(), background.end(), clear.color.float32);
        begin.clearValueCount = 1;
        begin.pClearValues = &clear;
        vk.CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
        VkClearAttachment attachment{VK_IMAGE_ASPECT_COLOR_BIT, 0, {}};
        std::copy(color.begin(), color.end(), attachment.clearValue.color.float32);
        const VkClearRect area{{{static_cast<int32_t>(rect.x), static_cast<int32_t>(rect.y)},
                                {rect.width, rect.height}},
                               0,
                               1};
        vk.CmdClearAttachments(commands, 1, &attachment, 1, &area);
        vk.CmdEndRenderPass(commands);
    }

    /// A conversion of the whole image between two passes.
    hearth_image_conversion_info conversion(VkCommandBuffer commands, VkImageLayout before) const {
        hearth_image_conversion_info info = hearth_image_conversion_info_default();
        info.command_buffer = commands;
        info.image = image_.image();
        info.view = image_.view();
        info.image_width = width_;
        info.image_height = height_;
        info.image_layout_before = static_cast<uint32_t>(before);
        info.image_layout_after = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
        const hearth_sync_scope attachment = hearth_make_sync_scope(
            VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
            VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT);
        info.image_acquire_scope = info.image_release_scope = attachment;
        return info;
    }
    void copy_to(VkCommandBuffer commands, const standalone::Buffer& bytes) const {
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
        barrier.oldLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
        barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image_.image();
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        const standalone::VulkanApi& vk = device_.vk();
        vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1,
                              &barrier);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {width_, height_, 1};
        vk.CmdCopyImageToBuffer(commands, image_.image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                bytes.handle(), 1, &copy);
        barrier_to_host(vk, commands);
    }
    const TexelFormat& format() const { return format_; }
    uint32_t width() const { return width_; }
    uint32_t height() const { return height_; }

  private:
    standalone::Device& device_;
    OwnedImage image_;
    TexelFormat format_;
    uint32_t width_, height_;
    VkRenderPass pass_ = VK_NULL_HANDLE;
    VkFramebuffer frame_ = VK_NULL_HANDLE;
};

class RenderTargets : public RuntimeTest {
  protected:
    std::vector<TexelFormat> formats_with(VkFormatFeatureFlags wanted) {
        std::vector<TexelFormat> found;
        for (const TexelFormat& f : all_texel_formats()) {
            VkFormatProperties properties;
            instance().vk().GetPhysicalDeviceFormatProperties(device().physical_device(), f.format,
                                                              &properties);
            if ((properties.optimalTilingFeatures & wanted) == wanted && !f.is_integer())
                found.push_back(f);
        }
        return found;
    }
};

TEST_F(RenderTargets, OfEachFormatGoIntoANetworkAndItsOutputIntoOthersBetweenPasses) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<TexelFormat> sources =
        formats_with(VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT);
    std::vector<TexelFormat> targets =
        formats_with(VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT);
    // Those that can be written on this host.
    std::erase_if(targets, [&](const TexelFormat& f) {
        return !ImageConverter::create(rig->context, HEARTH_TENSOR_TO_IMAGE,
                                       static_cast<uint32_t>(f.format), 1)
                    .ok();
    });
    ASSERT_GE(sources.size(), 10u);
    ASSERT_GE(targets.size(), 4u);
    const hearth_sync_scope kernel =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    const size_t count = std::max(sources.size(), targets.size());
    for (size_t i = 0; i < count && !HasFailure(); ++i) {
        const auto size = static_cast<uint32_t>(i % 20);
        const RenderTarget source(device(), sources[i % sources.size()], 33 + 7 * size, 5 + size,
                                  VK_IMAGE_USAGE_SAMPLED_BIT, VK_ATTACHMENT_LOAD_OP_CLEAR);
        const RenderTarget target(device(), targets[i % targets.size()], 96 - 3 * size, 2 + size,
                                  VK_IMAGE_USAGE_STORAGE_BIT, VK_ATTACHMENT_LOAD_OP_LOAD);
        SCOPED_TRACE(testing::Message()
                     << "VkFormat " << source.format().format << " to " << target.format().format);
        const auto converter = [&](hearth_image_conversion_direction direction, VkFormat format) {
            auto made =
                ImageConverter::create(rig->context, direction, static_cast<uint32_t>(format), 1);
            EXPECT_TRUE(made.ok()) << made.status().message();
            return std::move(made).value();
        };
        ImageConverter reader = converter(HEARTH_IMAGE_TO_TENSOR, source.format().format);
        ImageConverter writer = converter(HEARTH_TENSOR_TO_IMAGE, target.format().format);
        const auto bytes = standalone::Buffer::create(
            device(), size_t{target.width()} * target.height() * target.format().bytes(),
            standalone::MemoryKind::kReadback);
        ASSERT_TRUE(bytes.ok());
        rig->set_x(std::vector<float>(kWidth, -1.0f));
        // The left half of the first picture in one color, the right half in another; a bar over
        // the top of the second.
        const Color left = {0.25f, 0.5f, 0.75f, 1}, right = {0.875f, 0.125f, 0.375f, 1};
        const Color white = {1, 1, 1, 1};
        const Rect half = {source.width() / 2, 0, source.width() - source.width() / 2,
                           source.height()};
        const Rect bar = {0, 0, target.width(), 1};
        rig->frame([&](VkCommandBuffer commands) {
            source.draw(commands, left, half, right);
            hearth_image_conversion_info in =
                source.conversion(commands, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
            in.tensor = rig->bind(0, rig->x(), kWidth * sizeof(float));
            in.tensor.release_scope = kernel;
            in.tensor_width = kWidth;
            in.tensor_height = 1;
            in.channels = 1;
            EXPECT_TRUE(reader.record(in).ok()) << hearth_image_converter_error(reader.handle());
            std::array<hearth_tensor_binding, 2> bounds;
            hearth_record_info act = rig->act_info(commands, 1, bounds);
            bounds[1].release_scope = kernel;
            EXPECT_TRUE(rig->session.record(act).ok()) << rig->session.error();
            hearth_image_conversion_info out =
                target.conversion(commands, VK_IMAGE_LAYOUT_UNDEFINED);
            out.tensor = rig->bind(0, rig->y(), kWidth * sizeof(float));
            out.tensor.release_scope =
                hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
            out.tensor_width = kWidth;
            out.tensor_height = 1;
            out.channels = 1;
            const uint32_t gray[] = {0, 0, 0, HEARTH_SWIZZLE_ONE};
            std::copy(std::begin(gray), std::end(gray), out.swizzle);
            EXPECT_TRUE(writer.record(out).ok()) << hearth_image_converter_error(writer.handle());
            target.draw(commands, {}, bar, white);
            target.copy_to(commands, *bytes);
        });
        const std::vector<float> y = rig->get_y(1);
        std::vector<float> x(kWidth);
        std::memcpy(x.data(), rig->x().data(), kWidth * sizeof(float));
        ASSERT_EQ(y, TestReference().act(x));
        for (uint32_t column = 0; column < kWidth; ++column) {
            const auto from = static_cast<uint32_t>((static_cast<float>(column) + 0.5f) *
                                                    static_cast<float>(source.width()) / kWidth);
            const double color = half.contains(from, 0) ? right[0] : left[0];
            const TexelFormat& f = source.format();
            const size_t red = f.channels.find('r');
            const double expected = red == std::string::npos ? 0 : color;
            const int width = red == std::string::npos ? 32 : f.bits[red];
            // Twice: in the render pass, and when it is sampled.
            ASSERT_NEAR(x[column], expected, 2 * f.stored(expected, width, 'r').second + 4e-3)
                << "column " << column;
        }
        const TexelFormat& f = target.format();
        for (uint32_t row = 0; row < target.height(); ++row)
            for (uint32_t column = 0; column < target.width(); ++column) {
                const size_t texel = size_t{row} * target.width() + column;
                const Texel found =
                    f.decode(static_cast<const std::byte*>(bytes->data()) + texel * f.bytes());
                const auto from =
                    static_cast<uint32_t>((static_cast<float>(column) + 0.5f) * kWidth /
                                          static_cast<float>(target.width()));
                const double value = row == 0 ? 1.0 : double{y[from]};
                for (size_t k = 0; k < f.channels.size(); ++k) {
                    if (f.channels[k] == 'a') continue;
                    const auto [expected, tolerance] = f.stored(value, f.bits[k], f.channels[k]);
                    ASSERT_NEAR(found[TexelFormat::place(f.channels[k])], expected, tolerance)
                        << "row " << row << " column " << column;
                }
            }
    }
}

}  // namespace
}  // namespace hearth::test
