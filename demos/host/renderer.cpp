// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws canvases, backdrops, effects, instanced meshes and the user interface with Vulkan.

#include "renderer.hpp"

#include "image.hpp"

#include <glm/geometric.hpp>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace hearth::demo {
namespace {

using standalone::check_vulkan;
using standalone::VulkanApi;

#include "canvas.frag.spv.h"
#include "canvas.vert.spv.h"
#include "instance.frag.spv.h"
#include "picture.frag.spv.h"
#include "sprite.vert.spv.h"

constexpr VkSampleCountFlagBits kSamples = VK_SAMPLE_COUNT_4_BIT;  // supported by every device
// Vertex attributes that every device has, less those of vertices.
constexpr uint32_t kMostInstanceAttributes = 16 - 2;

// User interface vertices are copied unchanged.
static_assert(sizeof(Vertex) == sizeof(ImDrawVert));
static_assert(offsetof(Vertex, uv) == offsetof(ImDrawVert, uv));
static_assert(offsetof(Vertex, rgba) == offsetof(ImDrawVert, col));
// Shaders read both in one attribute.
static_assert(offsetof(Vertex, uv) == offsetof(Vertex, position) + sizeof(glm::vec2));

struct PushConstants {
    float x_axis_and_offset[4];
    float y_axis[4];
};

Result<VkShaderModule> create_shader(standalone::Device& device, std::span<const uint32_t> words) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = words.size_bytes();
    info.pCode = words.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    HEARTH_TRY(
        check_vulkan(device.vk().CreateShaderModule(device.handle(), &info, nullptr, &shader),
                     "vkCreateShaderModule"));
    return shader;
}

}  // namespace

View View::pixels(VkExtent2D extent) {
    return {.center = {static_cast<float>(extent.width) * 0.5f,
                       static_cast<float>(extent.height) * 0.5f},
            .up = {0.0f, -1.0f}};
}

void RenderTargets::reset() {
    if (!device_) return;
    const VulkanApi& vk = device_->vk();
    for (auto& framebuffers : framebuffers_) {
        for (VkFramebuffer framebuffer : framebuffers)
            vk.DestroyFramebuffer(device_->handle(), framebuffer, nullptr);
        framebuffers.clear();
    }
    vk.DestroyImageView(device_->handle(), std::exchange(samples_view_, {}), nullptr);
    vk.DestroyImage(device_->handle(), std::exchange(samples_, {}), nullptr);
    vk.FreeMemory(device_->handle(), std::exchange(memory_, {}), nullptr);
    device_ = nullptr;
}

void Backdrop::reset() {
    if (!device_) return;
    const VulkanApi& vk = device_->vk();
    if (set_) vk.FreeDescriptorSets(device_->handle(), pool_, 1, &set_);
    vk.DestroyImageView(device_->handle(), std::exchange(view_, {}), nullptr);
    vk.DestroyImage(device_->handle(), std::exchange(image_, {}), nullptr);
    vk.FreeMemory(device_->handle(), std::exchange(memory_, {}), nullptr);
    set_ = VK_NULL_HANDLE;
    device_ = nullptr;
}

void Effect::reset() {
    if (!device_) return;
    for (const VkPipeline pipeline : std::exchange(pipelines_, {}))
        device_->vk().DestroyPipeline(device_->handle(), pipeline, nullptr);
    device_ = nullptr;
}

void InstancedMesh::reset() {
    if (!device_) return;
    for (const VkPipeline pipeline : std::exchange(pipelines_, {}))
        device_->vk().DestroyPipeline(device_->handle(), pipeline, nullptr);
    instances_.clear();
    device_ = nullptr;
}

Result<std::unique_ptr<Renderer>> Renderer::create(standalone::Device& device, VkFormat format,
                                                   const Atlas& atlas, uint32_t slots) {
    std::unique_ptr<Renderer> self(new Renderer);
    self->device_ = &device;
    self->format_ = format;
    HEARTH_TRY(self->create_atlas(atlas));
    for (size_t i = 0; i < kEdgesCount; ++i) {
        HEARTH_ASSIGN(self->render_passes_[i], self->create_render_pass(static_cast<Edges>(i)));
    }
    HEARTH_TRY(self->create_layouts());
    HEARTH_ASSIGN(self->atlas_set_, self->create_texture_set(self->atlas_view_));
    HEARTH_ASSIGN(self->shape_pipelines_, self->create_pipelines(canvas_vert_spv, canvas_frag_spv));
    HEARTH_ASSIGN(self->picture_pipelines_,
                  self->create_pipelines(canvas_vert_spv, picture_frag_spv));
    for (uint32_t i = 0; i < slots; ++i) {
        HEARTH_ASSIGN(auto vertices, standalone::Buffer::create(device, kVertices * sizeof(Vertex),
                                                                standalone::MemoryKind::kUpload,
                                                                VK_BUFFER_USAGE_VERTEX_BUFFER_BIT));
        HEARTH_ASSIGN(auto indices, standalone::Buffer::create(device, kIndices * sizeof(uint32_t),
                                                               standalone::MemoryKind::kUpload,
                                                               VK_BUFFER_USAGE_INDEX_BUFFER_BIT));
        self->slots_.push_back({std::move(vertices), std::move(indices)});
    }
    return self;
}

Renderer::~Renderer() {
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    for (size_t i = 0; i < kEdgesCount; ++i) {
        vk.DestroyPipeline(device, shape_pipelines_[i], nullptr);
        vk.DestroyPipeline(device, picture_pipelines_[i], nullptr);
        vk.DestroyRenderPass(device, render_passes_[i], nullptr);
    }
    vk.DestroyPipelineLayout(device, layout_, nullptr);
    vk.DestroyDescriptorPool(device, descriptor_pool_, nullptr);
    vk.DestroyDescriptorSetLayout(device, set_layout_, nullptr);
    vk.DestroySampler(device, sampler_, nullptr);
    vk.DestroyImageView(device, atlas_view_, nullptr);
    vk.DestroyImage(device, atlas_image_, nullptr);
    vk.FreeMemory(device, atlas_memory_, nullptr);
}

Status Renderer::create_atlas(const Atlas& atlas) {
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    const VkExtent2D extent{atlas.width, atlas.height};
    HEARTH_ASSIGN(atlas_image_,
                  create_image(*device_, VK_FORMAT_R8_UNORM, extent, VK_SAMPLE_COUNT_1_BIT,
                               VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT));
    HEARTH_ASSIGN(atlas_memory_, device_->allocate(atlas_image_));
    HEARTH_ASSIGN(atlas_view_, create_view(*device_, atlas_image_, VK_FORMAT_R8_UNORM));
    VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    sampler.magFilter = VK_FILTER_LINEAR;
    sampler.minFilter = VK_FILTER_LINEAR;
    sampler.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    sampler.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    HEARTH_TRY(
        check_vulkan(vk.CreateSampler(device, &sampler, nullptr, &sampler_), "vkCreateSampler"));

    HEARTH_ASSIGN(const auto staging,
                  standalone::Buffer::create(*device_, atlas.coverage.size_bytes(),
                                             standalone::MemoryKind::kUpload));
    std::memcpy(staging.data(), atlas.coverage.data(), atlas.coverage.size_bytes());
    HEARTH_TRY(device_->run([&](VkCommandBuffer cmd) {
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = atlas_image_;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vk.CmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1,
                              &barrier);
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {extent.width, extent.height, 1};
        vk.CmdCopyBufferToImage(cmd, staging.handle(), atlas_image_,
                                VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
        barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
        barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        barrier.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        vk.CmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0, nullptr, 0, nullptr, 1,
                              &barrier);
    }));

    return {};
}

Result<VkRenderPass> Renderer::create_render_pass(Edges edges) {
    // Smooth edges are drawn into samples and resolved into the picture, plain ones into the picture.
    const bool is_smooth = edges == Edges::kSmooth;
    std::array<VkAttachmentDescription, 2> attachments{};
    VkAttachmentDescription& drawn = attachments[0];
    drawn.format = format_;
    drawn.samples = is_smooth ? kSamples : VK_SAMPLE_COUNT_1_BIT;
    drawn.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    drawn.storeOp = is_smooth ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE;
    drawn.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    drawn.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    VkAttachmentDescription& picture = attachments[1];
    picture.format = format_;
    picture.samples = VK_SAMPLE_COUNT_1_BIT;
    picture.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    picture.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    picture.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    picture.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference resolve{1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    if (is_smooth) subpass.pResolveAttachments = &resolve;
    // All frames in flight share the sample image, and a presented image is free only once the
    // acquire semaphore, waited for at this stage, is signalled.
    VkSubpassDependency before{};
    before.srcSubpass = VK_SUBPASS_EXTERNAL;
    before.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    before.dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    before.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    before.dstAccessMask =
        VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = is_smooth ? 2 : 1;
    info.pAttachments = attachments.data();
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    info.dependencyCount = 1;
    info.pDependencies = &before;
    VkRenderPass pass = VK_NULL_HANDLE;
    HEARTH_TRY(
        check_vulkan(device_->vk().CreateRenderPass(device_->handle(), &info, nullptr, &pass),
                     "vkCreateRenderPass"));
    return pass;
}

Status Renderer::create_layouts() {
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    VkDescriptorSetLayoutBinding binding{};
    binding.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT;
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = 1;
    set.pBindings = &binding;
    HEARTH_TRY(check_vulkan(vk.CreateDescriptorSetLayout(device, &set, nullptr, &set_layout_),
                            "vkCreateDescriptorSetLayout"));
    constexpr uint32_t kMaxTextures = 8;
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, kMaxTextures};
    VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
    pool.maxSets = kMaxTextures;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    HEARTH_TRY(check_vulkan(vk.CreateDescriptorPool(device, &pool, nullptr, &descriptor_pool_),
                            "vkCreateDescriptorPool"));
    static_assert(sizeof(PushConstants) == Effect::kFirstConstant);
    const VkPushConstantRange ranges[] = {
        {VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(PushConstants)},
        {VK_SHADER_STAGE_FRAGMENT_BIT, Effect::kFirstConstant, Effect::kMostConstantBytes}};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = static_cast<uint32_t>(std::size(ranges));
    layout.pPushConstantRanges = ranges;
    return check_vulkan(vk.CreatePipelineLayout(device, &layout, nullptr, &layout_),
                        "vkCreatePipelineLayout");
}

Result<VkDescriptorSet> Renderer::create_texture_set(VkImageView view) {
    const VulkanApi& vk = device_->vk();
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = descriptor_pool_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout_;
    VkDescriptorSet set = VK_NULL_HANDLE;
    HEARTH_TRY(check_vulkan(vk.AllocateDescriptorSets(device_->handle(), &allocate, &set),
                            "vkAllocateDescriptorSets"));
    const VkDescriptorImageInfo content{sampler_, view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = &content;
    vk.UpdateDescriptorSets(device_->handle(), 1, &write, 0, nullptr);
    return set;
}

Result<Pipelines> Renderer::create_pipelines(std::span<const uint32_t> vertex_words,
                                             std::span<const uint32_t> fragment_words,
                                             uint32_t instance_bytes) {
    const VulkanApi& vk = device_->vk();
    HEARTH_ASSIGN(const VkShaderModule vertex_shader, create_shader(*device_, vertex_words));
    HEARTH_ASSIGN(const VkShaderModule fragment_shader, create_shader(*device_, fragment_words));
    Pipelines pipelines{};
    const Status created =
        create_pipelines(pipelines, vertex_shader, fragment_shader, instance_bytes);
    vk.DestroyShaderModule(device_->handle(), vertex_shader, nullptr);
    vk.DestroyShaderModule(device_->handle(), fragment_shader, nullptr);
    HEARTH_TRY(created);
    return pipelines;
}

Status Renderer::create_pipelines(Pipelines& pipelines, VkShaderModule vertex_shader,
                                  VkShaderModule fragment_shader, uint32_t instance_bytes) {
    const VulkanApi& vk = device_->vk();
    std::array<VkPipelineShaderStageCreateInfo, 2> stages{};
    for (VkPipelineShaderStageCreateInfo& stage : stages) {
        stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        stage.pName = "main";
    }
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = vertex_shader;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = fragment_shader;

    const VkVertexInputBindingDescription strides[] = {
        {0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX},
        {1, instance_bytes, VK_VERTEX_INPUT_RATE_INSTANCE}};
    std::vector<VkVertexInputAttributeDescription> attributes = {
        {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(Vertex, position)},  // and uv
        {1, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(Vertex, rgba)}};
    for (uint32_t at = 0; at < instance_bytes; at += sizeof(float[4]))
        attributes.push_back(
            {static_cast<uint32_t>(attributes.size()), 1, VK_FORMAT_R32G32B32A32_SFLOAT, at});
    VkPipelineVertexInputStateCreateInfo vertices{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    vertices.vertexBindingDescriptionCount = instance_bytes > 0 ? 2 : 1;
    vertices.pVertexBindingDescriptions = strides;
    vertices.vertexAttributeDescriptionCount = static_cast<uint32_t>(attributes.size());
    vertices.pVertexAttributeDescriptions = attributes.data();
    VkPipelineInputAssemblyStateCreateInfo assembly{
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkPipelineViewportStateCreateInfo viewport{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = 1;
    viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.cullMode = VK_CULL_MODE_NONE;
    raster.lineWidth = 1.0f;
    VkPipelineMultisampleStateCreateInfo multisample{
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    VkPipelineColorBlendAttachmentState blend{};
    blend.blendEnable = VK_TRUE;
    blend.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    blend.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blend.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blend.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                           VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    VkPipelineColorBlendStateCreateInfo blending{
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1;
    blending.pAttachments = &blend;
    const VkDynamicState dynamics[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    dynamic.dynamicStateCount = static_cast<uint32_t>(std::size(dynamics));
    dynamic.pDynamicStates = dynamics;

    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = static_cast<uint32_t>(stages.size());
    info.pStages = stages.data();
    info.pVertexInputState = &vertices;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &multisample;
    info.pColorBlendState = &blending;
    info.pDynamicState = &dynamic;
    info.layout = layout_;
    for (size_t i = 0; i < kEdgesCount; ++i) {
        multisample.rasterizationSamples =
            static_cast<Edges>(i) == Edges::kSmooth ? kSamples : VK_SAMPLE_COUNT_1_BIT;
        info.renderPass = render_passes_[i];
        HEARTH_TRY(check_vulkan(vk.CreateGraphicsPipelines(device_->handle(), VK_NULL_HANDLE, 1,
                                                           &info, nullptr, &pipelines[i]),
                                "vkCreateGraphicsPipelines"));
    }
    return {};
}

Status Renderer::create_targets(RenderTargets& targets, VkExtent2D extent,
                                std::span<const VkImageView> views) {
    targets.reset();
    targets.device_ = device_;
    targets.extent_ = extent;
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    HEARTH_ASSIGN(targets.samples_, create_image(*device_, format_, extent, kSamples,
                                                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                     VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT));
    HEARTH_ASSIGN(targets.memory_, device_->allocate(targets.samples_));
    HEARTH_ASSIGN(targets.samples_view_, create_view(*device_, targets.samples_, format_));
    for (const VkImageView picture : views)
        for (size_t i = 0; i < kEdgesCount; ++i) {
            const bool is_smooth = static_cast<Edges>(i) == Edges::kSmooth;
            const VkImageView attachments[] = {is_smooth ? targets.samples_view_ : picture,
                                               picture};
            VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
            info.renderPass = render_passes_[i];
            info.attachmentCount = is_smooth ? 2 : 1;
            info.pAttachments = attachments;
            info.width = extent.width;
            info.height = extent.height;
            info.layers = 1;
            VkFramebuffer framebuffer = VK_NULL_HANDLE;
            HEARTH_TRY(check_vulkan(vk.CreateFramebuffer(device, &info, nullptr, &framebuffer),
                                    "vkCreateFramebuffer"));
            targets.framebuffers_[i].push_back(framebuffer);
        }
    return {};
}

Result<StaticMesh> Renderer::upload(const Canvas& canvas) {
    StaticMesh mesh;
    mesh.index_count = static_cast<uint32_t>(canvas.indices().size());
    HEARTH_ASSIGN(mesh.vertices,
                  standalone::Buffer::create(*device_, canvas.vertices().size_bytes(),
                                             standalone::MemoryKind::kDevice,
                                             VK_BUFFER_USAGE_VERTEX_BUFFER_BIT));
    HEARTH_ASSIGN(mesh.indices, standalone::Buffer::create(*device_, canvas.indices().size_bytes(),
                                                           standalone::MemoryKind::kDevice,
                                                           VK_BUFFER_USAGE_INDEX_BUFFER_BIT));
    const VkDeviceSize vertex_bytes = canvas.vertices().size_bytes();
    const VkDeviceSize index_bytes = canvas.indices().size_bytes();
    HEARTH_ASSIGN(const auto staging,
                  standalone::Buffer::create(*device_, vertex_bytes + index_bytes,
                                             standalone::MemoryKind::kUpload));
    std::byte* const bytes = static_cast<std::byte*>(staging.data());
    std::memcpy(bytes, canvas.vertices().data(), vertex_bytes);
    std::memcpy(bytes + vertex_bytes, canvas.indices().data(), index_bytes);
    HEARTH_TRY(device_->run([&](VkCommandBuffer cmd) {
        const VkBufferCopy vertices{0, 0, vertex_bytes};
        const VkBufferCopy indices{vertex_bytes, 0, index_bytes};
        device_->vk().CmdCopyBuffer(cmd, staging.handle(), mesh.vertices.handle(), 1, &vertices);
        device_->vk().CmdCopyBuffer(cmd, staging.handle(), mesh.indices.handle(), 1, &indices);
    }));
    return mesh;
}

void Renderer::begin(VkCommandBuffer cmd, uint32_t slot, const RenderTargets& targets,
                     uint32_t image_index, Color background, Edges edges) {
    const VulkanApi& vk = device_->vk();
    cmd_ = cmd;
    slot_ = slot;
    edges_ = edges;
    extent_ = targets.extent_;
    ++picture_;
    used_vertices_ = 0;
    used_indices_ = 0;
    too_many_instances_.clear();

    std::array<VkClearValue, 2> clear{};
    clear[0].color = {{background.r, background.g, background.b, 1.0f}};
    VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    info.renderPass = render_passes_[static_cast<size_t>(edges)];
    info.framebuffer = targets.framebuffers_[static_cast<size_t>(edges)][image_index];
    info.renderArea.extent = extent_;
    info.clearValueCount = edges == Edges::kSmooth ? 2 : 1;
    info.pClearValues = clear.data();
    vk.CmdBeginRenderPass(cmd, &info, VK_SUBPASS_CONTENTS_INLINE);
    bind(shape_pipelines_, atlas_set_);
    const VkViewport viewport{
        0.0f, 0.0f, static_cast<float>(extent_.width), static_cast<float>(extent_.height),
        0.0f, 1.0f};
    vk.CmdSetViewport(cmd, 0, 1, &viewport);
    const VkRect2D everything{{0, 0}, extent_};
    vk.CmdSetScissor(cmd, 0, 1, &everything);
}

void Renderer::bind(const Pipelines& pipelines, VkDescriptorSet set) {
    device_->vk().CmdBindPipeline(cmd_, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                  pipelines[static_cast<size_t>(edges_)]);
    device_->vk().CmdBindDescriptorSets(cmd_, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set,
                                        0, nullptr);
}

void Renderer::set_view(const View& view) {
    // Clip space has x pointing right and y pointing down.
    const glm::vec2 x =
        view.right * (2.0f / (static_cast<float>(extent_.width) * view.units_per_pixel));
    const glm::vec2 y =
        view.up * (-2.0f / (static_cast<float>(extent_.height) * view.units_per_pixel));
    const PushConstants constants{{x.x, y.x, -glm::dot(x, view.center), -glm::dot(y, view.center)},
                                  {x.y, y.y, 0.0f, 0.0f}};
    device_->vk().CmdPushConstants(cmd_, layout_, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(constants),
                                   &constants);
}

void Renderer::draw_range(VkBuffer vertices, VkBuffer indices, uint32_t first_index,
                          uint32_t index_count, int32_t vertex_offset, uint32_t instance_count) {
    const VulkanApi& vk = device_->vk();
    const VkDeviceSize offset = 0;
    vk.CmdBindVertexBuffers(cmd_, 0, 1, &vertices, &offset);
    vk.CmdBindIndexBuffer(cmd_, indices, 0, VK_INDEX_TYPE_UINT32);
    vk.CmdDrawIndexed(cmd_, index_count, instance_count, first_index, vertex_offset, 0);
}

void Renderer::draw(const StaticMesh& mesh, const View& view) {
    set_view(view);
    draw_range(mesh.vertices.handle(), mesh.indices.handle(), 0, mesh.index_count, 0);
}

Renderer::Room Renderer::take_room(size_t vertex_count, size_t index_count) {
    const size_t vertex = used_vertices_, index = used_indices_;
    used_vertices_ += vertex_count;
    used_indices_ += index_count;
    if (used_vertices_ > kVertices || used_indices_ > kIndices) return {};
    const Slot& slot = slots_[slot_];
    return {slot.vertices.as<Vertex>().subspan(vertex, vertex_count),
            slot.indices.as<uint32_t>().subspan(index, index_count), static_cast<int32_t>(vertex),
            static_cast<uint32_t>(index)};
}

void Renderer::draw(const Canvas& canvas, const View& view) {
    const Room room = take_room(canvas.vertices().size(), canvas.indices().size());
    if (!room) return;
    std::ranges::copy(canvas.vertices(), room.vertices.begin());
    std::ranges::copy(canvas.indices(), room.indices.begin());
    set_view(view);
    draw_range(slots_[slot_].vertices.handle(), slots_[slot_].indices.handle(), room.first_index,
               static_cast<uint32_t>(room.indices.size()), room.vertex_offset);
}

void Renderer::draw_rectangle(glm::vec2 from, glm::vec2 to) {
    constexpr uint32_t kOrder[] = {0, 1, 2, 0, 2, 3};
    constexpr glm::vec2 kUv[] = {{0.0f, 0.0f}, {1.0f, 0.0f}, {1.0f, 1.0f}, {0.0f, 1.0f}};
    const Room room = take_room(std::size(kUv), std::size(kOrder));
    if (!room) return;
    for (size_t i = 0; i < std::size(kUv); ++i)
        room.vertices[i] = {from + (to - from) * kUv[i], kUv[i], ~0u};
    std::ranges::copy(kOrder, room.indices.begin());
    draw_range(slots_[slot_].vertices.handle(), slots_[slot_].indices.handle(), room.first_index,
               static_cast<uint32_t>(room.indices.size()), room.vertex_offset);
}

Status Renderer::create_effect(Effect& effect, std::span<const uint32_t> fragment_shader) {
    effect.reset();
    HEARTH_ASSIGN(effect.pipelines_, create_pipelines(canvas_vert_spv, fragment_shader));
    effect.device_ = device_;
    return {};
}

void Renderer::draw(const Effect& effect, glm::vec2 from, glm::vec2 to,
                    std::span<const std::byte> constants) {
    bind(effect.pipelines_, atlas_set_);
    set_view(View::pixels(extent_));
    device_->vk().CmdPushConstants(cmd_, layout_, VK_SHADER_STAGE_FRAGMENT_BIT,
                                   Effect::kFirstConstant, static_cast<uint32_t>(constants.size()),
                                   constants.data());
    draw_rectangle(from, to);
    bind(shape_pipelines_, atlas_set_);
}

void Renderer::draw(const Backdrop& backdrop) {
    bind(picture_pipelines_, backdrop.set_);
    set_view(View::pixels(extent_));
    draw_rectangle({0.0f, 0.0f},
                   {static_cast<float>(extent_.width), static_cast<float>(extent_.height)});
    bind(shape_pipelines_, atlas_set_);
}

Status Renderer::create_instanced_mesh(InstancedMesh& instanced, const Canvas& mesh,
                                       const InstancedMeshInfo& info) {
    instanced.reset();
    constexpr uint32_t kAttributeBytes = sizeof(float[4]);
    const uint32_t attribute_count = info.instance_bytes / kAttributeBytes;
    if (info.instance_bytes % kAttributeBytes != 0 || attribute_count == 0 ||
        attribute_count > kMostInstanceAttributes)
        return invalid_argument(std::string(info.name) + ": instances of " +
                                std::to_string(info.instance_bytes) +
                                " bytes; expected a multiple of 16, at most " +
                                std::to_string(kMostInstanceAttributes * kAttributeBytes));
    if (info.capacity == 0)
        return invalid_argument(std::string(info.name) + ": the capacity is 0 instances");
    instanced.device_ = device_;
    instanced.name_ = info.name;
    instanced.instance_bytes_ = info.instance_bytes;
    instanced.capacity_ = info.capacity;
    std::span<const uint32_t> vertex_shader = info.vertex_shader;
    if (vertex_shader.empty()) vertex_shader = sprite_vert_spv;
    HEARTH_ASSIGN(instanced.mesh_, upload(mesh));
    for (size_t i = 0; i < slots_.size(); ++i) {
        HEARTH_ASSIGN(auto buffer,
                      standalone::Buffer::create(
                          *device_, VkDeviceSize{info.capacity} * info.instance_bytes,
                          standalone::MemoryKind::kUpload, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT));
        instanced.instances_.push_back(std::move(buffer));
    }
    HEARTH_ASSIGN(instanced.pipelines_,
                  create_pipelines(vertex_shader, instance_frag_spv, info.instance_bytes));
    return {};
}

void Renderer::draw(InstancedMesh& mesh, std::span<const std::byte> instances, const View& view) {
    const size_t first = std::exchange(mesh.picture_, picture_) == picture_ ? mesh.used_ : 0;
    const size_t count = instances.size() / mesh.instance_bytes_;
    mesh.used_ = first + count;
    if (mesh.used_ > mesh.capacity_) {
        too_many_instances_ = "picture: " + std::to_string(mesh.used_) + " instances of '" +
                              mesh.name_ + "' exceed its capacity of " +
                              std::to_string(mesh.capacity_) +
                              "; raise InstancedMeshInfo::capacity";
        return;
    }
    if (count == 0) return;
    const standalone::Buffer& buffer = mesh.instances_[slot_];
    const VkDeviceSize offset = first * mesh.instance_bytes_;
    std::ranges::copy(instances, buffer.as<std::byte>().subspan(offset).begin());
    bind(mesh.pipelines_, atlas_set_);
    set_view(view);
    const VkBuffer handle = buffer.handle();
    device_->vk().CmdBindVertexBuffers(cmd_, 1, 1, &handle, &offset);
    draw_range(mesh.mesh_.vertices.handle(), mesh.mesh_.indices.handle(), 0, mesh.mesh_.index_count,
               0, static_cast<uint32_t>(count));
    bind(shape_pipelines_, atlas_set_);
}

Status Renderer::bake(Backdrop& backdrop, const StaticMesh& mesh, const View& view,
                      VkExtent2D extent, Color background) {
    backdrop.reset();
    backdrop.device_ = device_;
    backdrop.pool_ = descriptor_pool_;
    backdrop.extent_ = extent;
    const VulkanApi& vk = device_->vk();
    HEARTH_ASSIGN(backdrop.image_,
                  create_image(*device_, format_, extent, VK_SAMPLE_COUNT_1_BIT,
                               VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT));
    HEARTH_ASSIGN(backdrop.memory_, device_->allocate(backdrop.image_));
    HEARTH_ASSIGN(backdrop.view_, create_view(*device_, backdrop.image_, format_));
    HEARTH_ASSIGN(backdrop.set_, create_texture_set(backdrop.view_));

    RenderTargets targets;
    HEARTH_TRY(create_targets(targets, extent, {&backdrop.view_, 1}));
    Status drawn;
    HEARTH_TRY(device_->run([&](VkCommandBuffer cmd) {
        begin(cmd, 0, targets, 0, background);
        draw(mesh, view);
        drawn = end();
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
        barrier.oldLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
        barrier.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = backdrop.image_;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vk.CmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                              VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0, nullptr, 0, nullptr, 1,
                              &barrier);
    }));
    return drawn;
}

void Renderer::draw(const ImDrawData& ui) {
    const VulkanApi& vk = device_->vk();
    const Slot& slot = slots_[slot_];
    set_view(View::pixels(extent_));
    for (int n = 0; n < ui.CmdListsCount; ++n) {
        const ImDrawList& list = *ui.CmdLists[n];
        const Room room = take_room(static_cast<size_t>(list.VtxBuffer.Size),
                                    static_cast<size_t>(list.IdxBuffer.Size));
        if (!room) continue;
        std::memcpy(room.vertices.data(), list.VtxBuffer.Data, room.vertices.size_bytes());
        std::copy_n(list.IdxBuffer.Data, room.indices.size(), room.indices.begin());
        for (const ImDrawCmd& command : list.CmdBuffer) {
            const auto edge = [](float x, uint32_t limit) {
                return static_cast<int32_t>(std::clamp(x, 0.0f, static_cast<float>(limit)));
            };
            const int32_t left = edge(command.ClipRect.x, extent_.width);
            const int32_t top = edge(command.ClipRect.y, extent_.height);
            const int32_t right = edge(command.ClipRect.z, extent_.width);
            const int32_t bottom = edge(command.ClipRect.w, extent_.height);
            if (right <= left || bottom <= top) continue;
            const VkRect2D clip{
                {left, top},
                {static_cast<uint32_t>(right - left), static_cast<uint32_t>(bottom - top)}};
            vk.CmdSetScissor(cmd_, 0, 1, &clip);
            draw_range(slot.vertices.handle(), slot.indices.handle(),
                       room.first_index + command.IdxOffset, command.ElemCount,
                       room.vertex_offset + static_cast<int32_t>(command.VtxOffset));
        }
    }
    const VkRect2D everything{{0, 0}, extent_};
    vk.CmdSetScissor(cmd_, 0, 1, &everything);
}

Status Renderer::end() {
    device_->vk().CmdEndRenderPass(cmd_);
    if (!too_many_instances_.empty()) return out_of_range(too_many_instances_);
    if (used_vertices_ <= kVertices && used_indices_ <= kIndices) return {};
    return out_of_range("picture: its canvases and panels have " + std::to_string(used_vertices_) +
                        " vertices and " + std::to_string(used_indices_) +
                        " indices, and the buffers hold " + std::to_string(kVertices) + " and " +
                        std::to_string(kIndices) +
                        "; raise Renderer::kVertices and kIndices, or draw what repeats as an "
                        "InstancedMesh");
}

}  // namespace hearth::demo
