// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records pipeline barriers and debug labels.

#include "device/vulkan/barrier.hpp"

#include <algorithm>

namespace hearth::gpu {

namespace {

// Widens synchronization2 flags that the older 32-bit ones cannot express; never drops any.

VkPipelineStageFlags old_stages(uint64_t stages, VkPipelineStageFlags if_empty) {
    constexpr uint64_t kTransferLike = VK_PIPELINE_STAGE_2_COPY_BIT |
                                       VK_PIPELINE_STAGE_2_RESOLVE_BIT |
                                       VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;
    constexpr uint64_t kVertexInput =
        VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT;
    auto flags = static_cast<VkPipelineStageFlags>(stages & 0xffffffffu);
    uint64_t wide = stages & ~uint64_t{0xffffffffu};
    if ((wide & kTransferLike) != 0) flags |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    if ((wide & kVertexInput) != 0) flags |= VK_PIPELINE_STAGE_VERTEX_INPUT_BIT;
    wide &= ~(kTransferLike | kVertexInput);
    if (wide != 0) flags |= VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    return flags != 0 ? flags : if_empty;
}

VkAccessFlags old_access(uint64_t access) {
    constexpr uint64_t kReads =
        VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    constexpr uint64_t kWrites = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    auto flags = static_cast<VkAccessFlags>(access & 0xffffffffu);
    const uint64_t wide = access & ~uint64_t{0xffffffffu};
    if ((wide & kReads) != 0) flags |= VK_ACCESS_SHADER_READ_BIT;
    if ((wide & kWrites) != 0) flags |= VK_ACCESS_SHADER_WRITE_BIT;
    if ((wide & ~(kReads | kWrites)) != 0)
        flags |= VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    return flags;
}

/// barrier  a memory, buffer or image barrier of synchronization2
template <class Barrier>
void set_scopes(Barrier& barrier, const Scope& before, const Scope& after) {
    barrier.srcStageMask = before.stages;
    barrier.srcAccessMask = before.access;
    barrier.dstStageMask = after.stages;
    barrier.dstAccessMask = after.access;
}

void record_new(const Device& device, VkCommandBuffer commands, Scope before, Scope after,
                std::span<const OwnershipTransfer> transfers) {
    VkMemoryBarrier2 memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    set_scopes(memory, before, after);
    VkBufferMemoryBarrier2 buffers[kMaxTransfers];
    for (size_t i = 0; i < transfers.size(); ++i) {
        const OwnershipTransfer& t = transfers[i];
        buffers[i] = {};
        buffers[i].sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2;
        set_scopes(buffers[i], t.before, t.after);
        buffers[i].srcQueueFamilyIndex = t.from_family;
        buffers[i].dstQueueFamilyIndex = t.to_family;
        buffers[i].buffer = t.buffer;
        buffers[i].offset = t.offset;
        buffers[i].size = t.bytes;
    }
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.memoryBarrierCount = (before.stages | after.stages) != 0 ? 1 : 0;
    dependency.pMemoryBarriers = &memory;
    dependency.bufferMemoryBarrierCount = static_cast<uint32_t>(transfers.size());
    dependency.pBufferMemoryBarriers = buffers;
    device.vk().CmdPipelineBarrier2(commands, &dependency);
}

void record_old(const Device& device, VkCommandBuffer commands, Scope before, Scope after,
                std::span<const OwnershipTransfer> transfers) {
    VkMemoryBarrier memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    memory.srcAccessMask = old_access(before.access);
    memory.dstAccessMask = old_access(after.access);
    VkBufferMemoryBarrier buffers[kMaxTransfers];
    Scope all_before = before, all_after = after;
    for (size_t i = 0; i < transfers.size(); ++i) {
        const OwnershipTransfer& t = transfers[i];
        buffers[i] = {};
        buffers[i].sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER;
        buffers[i].srcAccessMask = old_access(t.before.access);
        buffers[i].dstAccessMask = old_access(t.after.access);
        buffers[i].srcQueueFamilyIndex = t.from_family;
        buffers[i].dstQueueFamilyIndex = t.to_family;
        buffers[i].buffer = t.buffer;
        buffers[i].offset = t.offset;
        buffers[i].size = t.bytes;
        all_before |= t.before;
        all_after |= t.after;
    }
    device.vk().CmdPipelineBarrier(
        commands, old_stages(all_before.stages, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
        old_stages(all_after.stages, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT), 0,
        (before.stages | after.stages) != 0 ? 1 : 0, &memory,
        static_cast<uint32_t>(transfers.size()), buffers, 0, nullptr);
}

}  // namespace

void record_barrier(const Device& device, VkCommandBuffer commands, Scope before, Scope after,
                    std::span<const OwnershipTransfer> transfers) {
    // A dependency with an empty side orders nothing.
    if (before.stages == 0 || after.stages == 0) before = after = {};
    if (before.stages == 0 && transfers.empty()) return;
    HEARTH_ASSERT(transfers.size() <= kMaxTransfers);
    (device.vk().CmdPipelineBarrier2 != nullptr ? record_new : record_old)(device, commands, before,
                                                                           after, transfers);
}

void record_image_barrier(const Device& device, VkCommandBuffer commands,
                          const ImageBarrier& barrier) {
    const Scope &before = barrier.before, &after = barrier.after;
    if (barrier.old_layout == barrier.new_layout && barrier.from_family == barrier.to_family &&
        (before.stages == 0 || after.stages == 0))
        return;
    if (device.vk().CmdPipelineBarrier2 != nullptr) {
        VkImageMemoryBarrier2 image{};
        image.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
        set_scopes(image, before, after);
        image.oldLayout = barrier.old_layout;
        image.newLayout = barrier.new_layout;
        image.srcQueueFamilyIndex = barrier.from_family;
        image.dstQueueFamilyIndex = barrier.to_family;
        image.image = barrier.image;
        image.subresourceRange = barrier.range;
        VkDependencyInfo dependency{};
        dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
        dependency.imageMemoryBarrierCount = 1;
        dependency.pImageMemoryBarriers = &image;
        device.vk().CmdPipelineBarrier2(commands, &dependency);
        return;
    }
    VkImageMemoryBarrier image{};
    image.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    image.srcAccessMask = old_access(before.access);
    image.dstAccessMask = old_access(after.access);
    image.oldLayout = barrier.old_layout;
    image.newLayout = barrier.new_layout;
    image.srcQueueFamilyIndex = barrier.from_family;
    image.dstQueueFamilyIndex = barrier.to_family;
    image.image = barrier.image;
    image.subresourceRange = barrier.range;
    device.vk().CmdPipelineBarrier(commands,
                                   old_stages(before.stages, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT),
                                   old_stages(after.stages, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT),
                                   0, 0, nullptr, 0, nullptr, 1, &image);
}

void begin_label(const Device& device, VkCommandBuffer commands, const char* name) {
    if (!device.has_debug_utils()) return;
    VkDebugUtilsLabelEXT label{};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
    label.pLabelName = name;
    constexpr float kEmber[4] = {0.91f, 0.42f, 0.13f, 1.0f};
    std::copy(kEmber, kEmber + 4, label.color);
    device.vk().CmdBeginDebugUtilsLabelEXT(commands, &label);
}

void end_label(const Device& device, VkCommandBuffer commands) {
    if (device.has_debug_utils()) device.vk().CmdEndDebugUtilsLabelEXT(commands);
}

}  // namespace hearth::gpu
