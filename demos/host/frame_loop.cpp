// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "frame_loop.hpp"

#include "png.hpp"

#include <cmath>
#include <utility>

namespace hearth::demo {
namespace {

using standalone::check_vulkan;
using standalone::VulkanApi;

void transition(const VulkanApi& vk, VkCommandBuffer cmd, VkImage image, VkImageLayout from,
                VkImageLayout to, VkPipelineStageFlags before, VkAccessFlags written,
                VkPipelineStageFlags after, VkAccessFlags read) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = written;
    barrier.dstAccessMask = read;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vk.CmdPipelineBarrier(cmd, before, after, 0, 0, nullptr, 0, nullptr, 1, &barrier);
}

}  // namespace

Result<std::unique_ptr<FrameLoop>> FrameLoop::create(standalone::Device& device,
                                                     uint32_t span_count) {
    std::unique_ptr<FrameLoop> self(new FrameLoop);
    self->device_ = &device;
    self->span_count_ = device.timestamp_valid_bits() > 0 ? span_count : 0;
    const VulkanApi& vk = device.vk();
    for (Slot& slot : self->slots_) {
        VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        pool.queueFamilyIndex = device.queue_family();
        HEARTH_TRY(check_vulkan(vk.CreateCommandPool(device.handle(), &pool, nullptr, &slot.pool),
                                "vkCreateCommandPool"));
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = slot.pool;
        allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        allocate.commandBufferCount = 1;
        HEARTH_TRY(check_vulkan(vk.AllocateCommandBuffers(device.handle(), &allocate, &slot.cmd),
                                "vkAllocateCommandBuffers"));
        const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        HEARTH_TRY(check_vulkan(vk.CreateFence(device.handle(), &fence, nullptr, &slot.done),
                                "vkCreateFence"));
        const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        HEARTH_TRY(
            check_vulkan(vk.CreateSemaphore(device.handle(), &semaphore, nullptr, &slot.acquired),
                         "vkCreateSemaphore"));
        slot.span_was_ended.assign(self->span_count_, false);
        if (self->span_count_ == 0) continue;
        VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
        queries.queryCount = 2 * self->span_count_;
        HEARTH_TRY(
            check_vulkan(vk.CreateQueryPool(device.handle(), &queries, nullptr, &slot.queries),
                         "vkCreateQueryPool"));
    }
    return self;
}

FrameLoop::~FrameLoop() {
    (void)wait();
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    vk.DeviceWaitIdle(device);  // presenting may still hold semaphores
    for (const Slot& slot : slots_) {
        vk.DestroyQueryPool(device, slot.queries, nullptr);
        vk.DestroySemaphore(device, slot.acquired, nullptr);
        vk.DestroyFence(device, slot.done, nullptr);
        vk.DestroyCommandPool(device, slot.pool, nullptr);
    }
    for (const VkSemaphore semaphore : rendered_) vk.DestroySemaphore(device, semaphore, nullptr);
}

/// Waits for the frame in `slot` and takes in what it left: times and pixels.
Status FrameLoop::finish(Slot& slot) {
    if (slot.serial == 0) return {};
    const VulkanApi& vk = device_->vk();
    HEARTH_TRY(check_vulkan(vk.WaitForFences(device_->handle(), 1, &slot.done, VK_TRUE, UINT64_MAX),
                            "vkWaitForFences"));
    HEARTH_TRY(check_vulkan(vk.ResetFences(device_->handle(), 1, &slot.done), "vkResetFences"));
    const uint64_t serial = std::exchange(slot.serial, 0);

    const uint32_t bits = device_->timestamp_valid_bits();
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    for (uint32_t span = 0; span < span_count_; ++span) {
        if (!slot.span_was_ended[span]) continue;
        uint64_t ticks[2] = {};
        const VkResult result =
            vk.GetQueryPoolResults(device_->handle(), slot.queries, 2 * span, 2, sizeof(ticks),
                                   ticks, sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
        if (result != VK_SUCCESS) continue;
        const double nanoseconds =
            static_cast<double>((ticks[1] - ticks[0]) & mask) *
            static_cast<double>(device_->properties().limits.timestampPeriod);
        span_times_.push_back({serial, span, nanoseconds * 1e-6});
    }
    if (slot.screenshot_path.empty()) return {};
    return write_png(std::exchange(slot.screenshot_path, {}), slot.screenshot_extent.width,
                     slot.screenshot_extent.height, slot.pixels.as<uint8_t>(), slot.is_bgra);
}

Result<std::optional<Frame>> FrameLoop::begin(Presenter* presenter) {
    const VulkanApi& vk = device_->vk();
    const uint32_t index = static_cast<uint32_t>(serial_ % kFramesInFlight);
    Slot& slot = slots_[index];
    span_times_.clear();
    HEARTH_TRY(finish(slot));

    Presenter::Acquired image;
    if (presenter) {
        HEARTH_ASSIGN(const auto acquired, presenter->acquire(slot.acquired));
        if (!acquired) return std::optional<Frame>();
        image = *acquired;
    }
    slot.uses_semaphores = image.uses_semaphores;
    while (presenter && rendered_.size() < presenter->images().size()) {
        const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        VkSemaphore semaphore = VK_NULL_HANDLE;
        HEARTH_TRY(check_vulkan(vk.CreateSemaphore(device_->handle(), &info, nullptr, &semaphore),
                                "vkCreateSemaphore"));
        rendered_.push_back(semaphore);
    }

    HEARTH_TRY(
        check_vulkan(vk.ResetCommandPool(device_->handle(), slot.pool, 0), "vkResetCommandPool"));
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    HEARTH_TRY(check_vulkan(vk.BeginCommandBuffer(slot.cmd, &begin), "vkBeginCommandBuffer"));
    if (span_count_ > 0) vk.CmdResetQueryPool(slot.cmd, slot.queries, 0, 2 * span_count_);
    slot.span_was_ended.assign(span_count_, false);

    Frame frame;
    frame.serial = ++serial_;
    frame.completed_serial = serial_ > kFramesInFlight ? serial_ - kFramesInFlight : 0;
    frame.slot = index;
    frame.image_index = image.image_index;
    frame.cmd = slot.cmd;
    return std::optional<Frame>(frame);
}

Status FrameLoop::end(const Frame& frame, Presenter* presenter) {
    const VulkanApi& vk = device_->vk();
    Slot& slot = slots_[frame.slot];
    if (presenter) {
        transition(vk, frame.cmd, presenter->images()[frame.image_index],
                   VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, presenter->present_layout(),
                   VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                   VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0);
    }
    HEARTH_TRY(check_vulkan(vk.EndCommandBuffer(frame.cmd), "vkEndCommandBuffer"));

    const VkPipelineStageFlags wait_stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkSemaphore rendered = presenter ? rendered_[frame.image_index] : VK_NULL_HANDLE;
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &frame.cmd;
    if (slot.uses_semaphores) {
        submit.waitSemaphoreCount = 1;
        submit.pWaitSemaphores = &slot.acquired;
        submit.pWaitDstStageMask = &wait_stage;
        submit.signalSemaphoreCount = 1;
        submit.pSignalSemaphores = &rendered;
    }
    HEARTH_TRY(
        check_vulkan(vk.QueueSubmit(device_->queue(), 1, &submit, slot.done), "vkQueueSubmit"));
    slot.serial = frame.serial;
    return presenter ? presenter->present(frame.image_index, rendered) : Status();
}

Status FrameLoop::wait() {
    span_times_.clear();
    for (uint32_t i = 0; i < kFramesInFlight; ++i) {  // oldest first
        HEARTH_TRY(finish(slots_[(serial_ + i) % kFramesInFlight]));
    }
    return {};
}

void FrameLoop::begin_span(const Frame& frame, uint32_t span) {
    if (span >= span_count_) return;
    device_->vk().CmdWriteTimestamp(frame.cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                    slots_[frame.slot].queries, 2 * span);
}

void FrameLoop::end_span(const Frame& frame, uint32_t span) {
    if (span >= span_count_) return;
    slots_[frame.slot].span_was_ended[span] = true;
    device_->vk().CmdWriteTimestamp(frame.cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                    slots_[frame.slot].queries, 2 * span + 1);
}

Status FrameLoop::record_screenshot(const Frame& frame, const Presenter& presenter,
                                    std::string path) {
    if (!presenter.can_copy()) return unsupported("this surface's images cannot be copied");
    const VulkanApi& vk = device_->vk();
    Slot& slot = slots_[frame.slot];
    const VkExtent2D extent = presenter.extent();
    const VkDeviceSize bytes = VkDeviceSize{4} * extent.width * extent.height;
    if (slot.pixels.size_bytes() < bytes) {
        HEARTH_ASSIGN(slot.pixels, standalone::Buffer::create(*device_, bytes,
                                                              standalone::MemoryKind::kReadback));
    }
    slot.screenshot_path = std::move(path);
    slot.screenshot_extent = extent;
    slot.is_bgra = presenter.format() == VK_FORMAT_B8G8R8A8_UNORM;

    const VkImage image = presenter.images()[frame.image_index];
    transition(vk, frame.cmd, image, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
               VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
               VK_ACCESS_TRANSFER_READ_BIT);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {extent.width, extent.height, 1};
    vk.CmdCopyImageToBuffer(frame.cmd, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                            slot.pixels.handle(), 1, &copy);
    transition(vk, frame.cmd, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
               VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
               VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT);
    VkMemoryBarrier to_host{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    to_host.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vk.CmdPipelineBarrier(frame.cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                          1, &to_host, 0, nullptr, 0, nullptr);
    return {};
}

}  // namespace hearth::demo
