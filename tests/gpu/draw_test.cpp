// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth between a game's draws: what the game bound for graphics stays bound, and its vertex
// shader reads what a network wrote, from the buffer where it lies.

#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"
#include "shaders/tensor_points_frag.h"
#include "shaders/tensor_points_vert.h"

#include <algorithm>
#include <functional>

namespace hearth::test {
namespace {

constexpr uint32_t kPoints = 2 * kWidth;  // of two rows
constexpr VkFormat kFormat = VK_FORMAT_R32_SFLOAT;

/// A row of pixels that points are drawn into.
class Target {
  public:
    Target(standalone::Device& device, VkRenderPass pass)
        : device_(device),
          image_(device, kFormat, kPoints, 1,
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT) {
        const standalone::VulkanApi& vk = device.vk();
        const VkImageView view = image_.view();
        VkFramebufferCreateInfo frame{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
        frame.renderPass = pass;
        frame.attachmentCount = 1;
        frame.pAttachments = &view;
        frame.width = kPoints;
        frame.height = frame.layers = 1;
        EXPECT_EQ(vk.CreateFramebuffer(device.handle(), &frame, nullptr, &frame_), VK_SUCCESS);
        auto pixels =
            standalone::Buffer::create(device, kPoints * 4, standalone::MemoryKind::kReadback);
        EXPECT_TRUE(pixels.ok()) << pixels.status().message();
        if (pixels.ok()) pixels_ = std::move(*pixels);
    }
    ~Target() { device_.vk().DestroyFramebuffer(device_.handle(), frame_, nullptr); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    /// Draws the points with whatever is bound, and copies them to where the CPU reads them.
    /// inside  records before the pass ends.
    void draw(
        VkCommandBuffer commands, VkRenderPass pass,
        const std::function<void()>& inside = [] {}) const {
        const standalone::VulkanApi& vk = device_.vk();
        VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
        begin.renderPass = pass;
        begin.framebuffer = frame_;
        begin.renderArea.extent = {kPoints, 1};
        const VkClearValue clear{};
        begin.clearValueCount = 1;
        begin.pClearValues = &clear;
        vk.CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
        vk.CmdDraw(commands, kPoints, 1, 0, 0);
        inside();
        vk.CmdEndRenderPass(commands);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {kPoints, 1, 1};
        vk.CmdCopyImageToBuffer(commands, image_.image(), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                pixels_.handle(), 1, &copy);
    }
    std::vector<float> pixels() const {
        const std::span<float> values = pixels_.as<float>();
        return {values.begin(), values.end()};
    }

  private:
    standalone::Device& device_;
    OwnedImage image_;
    VkFramebuffer frame_ = VK_NULL_HANDLE;
    standalone::Buffer pixels_;
};

/// The game's graphics: a pipeline whose vertex shader reads a storage buffer.
class Points {
  public:
    explicit Points(standalone::Device& device) : device_(device) {
        const standalone::VulkanApi& vk = device.vk();
        const VkDevice handle = device.handle();
        VkAttachmentDescription attachment{};
        attachment.format = kFormat;
        attachment.samples = VK_SAMPLE_COUNT_1_BIT;
        attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
        attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
        attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
        attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
        attachment.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        const VkAttachmentReference colour{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
        VkSubpassDescription subpass{};
        subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
        subpass.colorAttachmentCount = 1;
        subpass.pColorAttachments = &colour;
        VkSubpassDependency copied{};
        copied.dstSubpass = VK_SUBPASS_EXTERNAL;
        copied.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
        copied.dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
        copied.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
        copied.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
        VkRenderPassCreateInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
        pass.attachmentCount = pass.subpassCount = pass.dependencyCount = 1;
        pass.pAttachments = &attachment;
        pass.pSubpasses = &subpass;
        pass.pDependencies = &copied;
        EXPECT_EQ(vk.CreateRenderPass(handle, &pass, nullptr, &pass_), VK_SUCCESS);

        const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                   VK_SHADER_STAGE_VERTEX_BIT, nullptr};
        VkDescriptorSetLayoutCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
        sets.bindingCount = 1;
        sets.pBindings = &binding;
        EXPECT_EQ(vk.CreateDescriptorSetLayout(handle, &sets, nullptr, &set_layout_), VK_SUCCESS);
        VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
        layout.setLayoutCount = 1;
        layout.pSetLayouts = &set_layout_;
        EXPECT_EQ(vk.CreatePipelineLayout(handle, &layout, nullptr, &layout_), VK_SUCCESS);
        const VkDescriptorPoolSize one{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
        VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
        pool.maxSets = pool.poolSizeCount = 1;
        pool.pPoolSizes = &one;
        EXPECT_EQ(vk.CreateDescriptorPool(handle, &pool, nullptr, &pool_), VK_SUCCESS);
        VkDescriptorSetAllocateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        set.descriptorPool = pool_;
        set.descriptorSetCount = 1;
        set.pSetLayouts = &set_layout_;
        EXPECT_EQ(vk.AllocateDescriptorSets(handle, &set, &set_), VK_SUCCESS);
        make_pipeline();
    }
    ~Points() {
        const standalone::VulkanApi& vk = device_.vk();
        const VkDevice handle = device_.handle();
        vk.DestroyPipeline(handle, pipeline_, nullptr);
        vk.DestroyDescriptorPool(handle, pool_, nullptr);
        vk.DestroyPipelineLayout(handle, layout_, nullptr);
        vk.DestroyDescriptorSetLayout(handle, set_layout_, nullptr);
        vk.DestroyRenderPass(handle, pass_, nullptr);
    }
    Points(const Points&) = delete;
    Points& operator=(const Points&) = delete;

    VkRenderPass pass() const { return pass_; }

    /// The buffer's elements are the colours.
    void bind(VkCommandBuffer commands, const standalone::Buffer& tensor) const {
        const standalone::VulkanApi& vk = device_.vk();
        const VkDescriptorBufferInfo buffer{tensor.handle(), 0, kPoints * 4};
        VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        write.dstSet = set_;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &buffer;
        vk.UpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
        vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
        vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set_, 0,
                                 nullptr);
        const VkViewport viewport{0, 0, static_cast<float>(kPoints), 1, 0, 1};
        const VkRect2D scissor{{0, 0}, {kPoints, 1}};
        vk.CmdSetViewport(commands, 0, 1, &viewport);
        vk.CmdSetScissor(commands, 0, 1, &scissor);
    }

  private:
    VkShaderModule module_of(std::span<const uint32_t> words) const {
        VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
        info.codeSize = words.size_bytes();
        info.pCode = words.data();
        VkShaderModule module = VK_NULL_HANDLE;
        EXPECT_EQ(device_.vk().CreateShaderModule(device_.handle(), &info, nullptr, &module),
                  VK_SUCCESS);
        return module;
    }
    void make_pipeline() {
        const standalone::VulkanApi& vk = device_.vk();
        const VkSpecializationMapEntry entry{0, 0, sizeof kPoints};
        const VkSpecializationInfo points{1, &entry, sizeof kPoints, &kPoints};
        std::array<VkPipelineShaderStageCreateInfo, 2> stages{};
        for (VkPipelineShaderStageCreateInfo& stage : stages) {
            stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
            stage.pName = "main";
        }
        stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
        stages[0].module = module_of(tensor_points_vert);
        stages[0].pSpecializationInfo = &points;
        stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
        stages[1].module = module_of(tensor_points_frag);
        const VkPipelineVertexInputStateCreateInfo vertices{
            VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
        VkPipelineInputAssemblyStateCreateInfo assembly{
            VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
        assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
        VkPipelineViewportStateCreateInfo view{
            VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
        view.viewportCount = view.scissorCount = 1;
        VkPipelineRasterizationStateCreateInfo raster{
            VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
        raster.lineWidth = 1;
        VkPipelineMultisampleStateCreateInfo samples{
            VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
        samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
        VkPipelineColorBlendAttachmentState red{};
        red.colorWriteMask = VK_COLOR_COMPONENT_R_BIT;
        VkPipelineColorBlendStateCreateInfo blend{
            VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
        blend.attachmentCount = 1;
        blend.pAttachments = &red;
        const std::array dynamics{VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
        VkPipelineDynamicStateCreateInfo dynamic{
            VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
        dynamic.dynamicStateCount = static_cast<uint32_t>(dynamics.size());
        dynamic.pDynamicStates = dynamics.data();
        VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
        info.stageCount = static_cast<uint32_t>(stages.size());
        info.pStages = stages.data();
        info.pVertexInputState = &vertices;
        info.pInputAssemblyState = &assembly;
        info.pViewportState = &view;
        info.pRasterizationState = &raster;
        info.pMultisampleState = &samples;
        info.pColorBlendState = &blend;
        info.pDynamicState = &dynamic;
        info.layout = layout_;
        info.renderPass = pass_;
        EXPECT_EQ(vk.CreateGraphicsPipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr,
                                             &pipeline_),
                  VK_SUCCESS);
        for (const VkPipelineShaderStageCreateInfo& stage : stages)
            vk.DestroyShaderModule(device_.handle(), stage.module, nullptr);
    }

    standalone::Device& device_;
    VkRenderPass pass_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

class Draw : public RuntimeTest {};

TEST_F(Draw, WhatTheGameBoundForGraphicsStaysBoundAndItsShaderReadsWhatTheNetworkWrote) {
    if (!device().has_graphics()) GTEST_SKIP() << "the device cannot draw";
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const Points points(device());
    const Target before(device(), points.pass()), after(device(), points.pass());
    const std::vector<float> x = test_values(kPoints, 1), old = test_values(kPoints, 2);
    rig->set_x(x);
    std::copy(old.begin(), old.end(), rig->y().as<float>().begin());
    const float rate = 0.25f;
    rig->frame([&](VkCommandBuffer commands) {
        points.bind(commands, rig->y());
        before.draw(commands, points.pass());
        // A network may write only when the first draw has read.
        VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
        device().vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT,
                                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
                                         nullptr, 0, nullptr);
        std::array<hearth_tensor_binding, 3> bounds;
        ASSERT_TRUE(rig->session.record(rig->learn_info(commands, 2, rate, bounds)).ok());
        barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
        device().vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                         VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, 0, 1, &barrier, 0,
                                         nullptr, 0, nullptr);
        after.draw(commands, points.pass());
    });
    const std::vector<float> written = rig->get_y(2);
    TestReference reference;
    EXPECT_EQ(written, reference.learn(x, rate));
    EXPECT_EQ(before.pixels(), old);
    EXPECT_EQ(after.pixels(), written);
}

/// Vulkan does not tell anybody the state of a command buffer, so Hearth cannot refuse these.
TEST_F(Draw, ARecordingInsideARenderPassOrOutsideOfRecordingIsToldByTheLayers) {
    if (test_setting("HEARTH_TEST_VALIDATION") == "off") GTEST_SKIP() << "no validation layers";
    if (!device().has_graphics()) GTEST_SKIP() << "the device cannot draw";
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const Points points(device());
    const Target target(device(), points.pass());
    const auto act = [&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 2, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), HEARTH_OK);
    };
    const auto told = [&](std::string_view rule) {
        const auto messages = take_messages();
        return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
            return message.text.find(rule) != std::string::npos;
        });
    };
    rig->drop([&](VkCommandBuffer commands) {
        points.bind(commands, rig->y());
        target.draw(commands, points.pass(), [&] { act(commands); });
    });
    EXPECT_TRUE(told("VUID-vkCmdDispatch-renderpass"));
    VkCommandBuffer ended = VK_NULL_HANDLE;
    rig->drop([&](VkCommandBuffer commands) { ended = commands; });
    act(ended);
    EXPECT_TRUE(told("VUID-vkCmdDispatch-commandBuffer-recording"));
}

}  // namespace
}  // namespace hearth::test
