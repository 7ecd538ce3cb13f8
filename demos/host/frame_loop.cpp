// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Manages frames in flight: command buffers, fences, timestamps, submission, screenshots.

#include "frame_loop.hpp"

#include <pictures/png.hpp>

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

Result<VkSemaphore> create_semaphore(const standalone::Device& device) {
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    HEARTH_TRY(
        check_vulkan(device.vk().CreateSemaphore(device.handle(), &info, nullptr, &semaphore),
                     "vkCreateSemaphore"));
    return semaphore;
}

}  // namespace

Result<FrameLoop::Lane> FrameLoop::create_lane(const standalone::Device& device,
                                               const standalone::Queue& queue) const {
    const VulkanApi& vk = device.vk();
    Lane lane;
    lane.device = &device;
    lane.queue = queue;
    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool.queueFamilyIndex = queue.family;
    HEARTH_TRY(check_vulkan(vk.CreateCommandPool(device.handle(), &pool, nullptr, &lane.pool),
                            "vkCreateCommandPool"));
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = lane.pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    HEARTH_TRY(check_vulkan(vk.AllocateCommandBuffers(device.handle(), &allocate, &lane.cmd),
                            "vkAllocateCommandBuffers"));
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    HEARTH_TRY(check_vulkan(vk.CreateFence(device.handle(), &fence, nullptr, &lane.done),
                            "vkCreateFence"));
    lane.span_was_ended.assign(span_count_, false);
    if (span_count_ == 0) return lane;
    VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2 * span_count_;
    HEARTH_TRY(check_vulkan(vk.CreateQueryPool(device.handle(), &queries, nullptr, &lane.queries),
                            "vkCreateQueryPool"));
    return lane;
}

Result<std::unique_ptr<FrameLoop>> FrameLoop::create(standalone::Device& device,
                                                     uint32_t span_count, FileWriter* files,
                                                     const standalone::Device* mind_device) {
    std::unique_ptr<FrameLoop> self(new FrameLoop);
    self->files_ = files;
    self->device_ = &device;
    const bool has_timestamps = device.main_queue().timestamp_valid_bits > 0 &&
                                device.compute_queue().timestamp_valid_bits > 0;
    self->span_count_ = has_timestamps ? span_count : 0;
    for (Slot& slot : self->slots_) {
        HEARTH_ASSIGN(slot.lanes.emplace_back(), self->create_lane(device, device.main_queue()));
        if (mind_device != nullptr && mind_device != &device) {
            HEARTH_ASSIGN(slot.lanes.emplace_back(),
                          self->create_lane(*mind_device, mind_device->main_queue()));
        } else if (device.has_async_compute()) {
            HEARTH_ASSIGN(slot.lanes.emplace_back(),
                          self->create_lane(device, device.compute_queue()));
        }
    }
    return self;
}

FrameLoop::~FrameLoop() {
    (void)wait();
    const VulkanApi& vk = device_->vk();
    const VkDevice device = device_->handle();
    // The presentation engine may still use the semaphores.
    if (!rendered_.empty()) vk.DeviceWaitIdle(device);
    for (const Slot& slot : slots_) {
        for (const Lane& lane : slot.lanes) {
            const VulkanApi& own = lane.device->vk();
            own.DestroyQueryPool(lane.device->handle(), lane.queries, nullptr);
            own.DestroyFence(lane.device->handle(), lane.done, nullptr);
            own.DestroyCommandPool(lane.device->handle(), lane.pool, nullptr);
        }
        if (slot.acquired != VK_NULL_HANDLE) vk.DestroySemaphore(device, slot.acquired, nullptr);
    }
    for (const VkSemaphore semaphore : rendered_) vk.DestroySemaphore(device, semaphore, nullptr);
}

/// Waits for the frame in `slot` and collects its timestamps and pixels.
Status FrameLoop::finish(Slot& slot) {
    if (slot.serial == 0) return {};
    const uint64_t serial = std::exchange(slot.serial, 0);
    Status waited;  // waits for all lanes, even if one failed
    for (const Lane& lane : slot.lanes) {
        const Status status =
            check_vulkan(lane.device->vk().WaitForFences(lane.device->handle(), 1, &lane.done,
                                                         VK_TRUE, UINT64_MAX),
                         "vkWaitForFences");
        if (waited.ok()) waited = status;
    }
    HEARTH_TRY(waited);
    for (const Lane& lane : slot.lanes) {
        HEARTH_TRY(check_vulkan(lane.device->vk().ResetFences(lane.device->handle(), 1, &lane.done),
                                "vkResetFences"));
        take_times(lane, serial);
    }
    if (slot.takers.empty()) return {};
    const size_t bytes = size_t{4} * slot.copied.width * slot.copied.height;
    const Pixels pixels{slot.copied, slot.pixels.as<uint8_t>().first(bytes), slot.is_bgra};
    for (const auto& take : std::exchange(slot.takers, {})) take(pixels);
    return {};
}

void FrameLoop::take_times(const Lane& lane, uint64_t serial) {
    const uint32_t bits = lane.queue.timestamp_valid_bits;
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    for (uint32_t span = 0; span < span_count_; ++span) {
        if (!lane.span_was_ended[span]) continue;
        uint64_t ticks[2] = {};
        const VkResult result = lane.device->vk().GetQueryPoolResults(
            lane.device->handle(), lane.queries, 2 * span, 2, sizeof(ticks), ticks,
            sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
        if (result != VK_SUCCESS) continue;
        const double ms_per_tick =
            1e-6 * static_cast<double>(lane.device->properties().limits.timestampPeriod);
        span_times_.push_back({serial, span,
                               static_cast<double>((ticks[1] - ticks[0]) & mask) * ms_per_tick,
                               static_cast<double>(ticks[0] & mask) * ms_per_tick});
    }
}

Status FrameLoop::begin(Lane& lane) const {
    const VulkanApi& vk = lane.device->vk();
    HEARTH_TRY(check_vulkan(vk.ResetCommandPool(lane.device->handle(), lane.pool, 0),
                            "vkResetCommandPool"));
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    HEARTH_TRY(check_vulkan(vk.BeginCommandBuffer(lane.cmd, &begin), "vkBeginCommandBuffer"));
    if (span_count_ > 0) vk.CmdResetQueryPool(lane.cmd, lane.queries, 0, 2 * span_count_);
    lane.span_was_ended.assign(span_count_, false);
    return {};
}

Result<std::optional<Frame>> FrameLoop::begin(Presenter* presenter) {
    const uint32_t index = static_cast<uint32_t>(serial_ % kFramesInFlight);
    Slot& slot = slots_[index];
    span_times_.clear();
    HEARTH_TRY(finish(slot));

    Presenter::Acquired image;
    if (presenter) {
        if (slot.acquired == VK_NULL_HANDLE) {
            HEARTH_ASSIGN(slot.acquired, create_semaphore(*device_));
        }
        HEARTH_ASSIGN(const auto acquired, presenter->acquire(slot.acquired));
        if (!acquired) return std::optional<Frame>();
        image = *acquired;
    }
    slot.uses_semaphores = image.uses_semaphores;
    while (presenter && rendered_.size() < presenter->images().size()) {
        HEARTH_ASSIGN(rendered_.emplace_back(), create_semaphore(*device_));
    }

    for (Lane& lane : slot.lanes) HEARTH_TRY(begin(lane));

    Frame frame;
    frame.serial = ++serial_;
    frame.completed_serial = serial_ > kFramesInFlight ? serial_ - kFramesInFlight : 0;
    frame.slot = index;
    frame.image_index = image.image_index;
    frame.cmd = slot.lanes.front().cmd;
    frame.compute_cmd = slot.lanes.back().cmd;
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
    for (const Lane& lane : slot.lanes)
        HEARTH_TRY(
            check_vulkan(lane.device->vk().EndCommandBuffer(lane.cmd), "vkEndCommandBuffer"));

    const VkPipelineStageFlags wait_stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkSemaphore rendered = presenter ? rendered_[frame.image_index] : VK_NULL_HANDLE;
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    if (slot.uses_semaphores) {
        submit.waitSemaphoreCount = 1;
        submit.pWaitSemaphores = &slot.acquired;
        submit.pWaitDstStageMask = &wait_stage;
        submit.signalSemaphoreCount = 1;
        submit.pSignalSemaphores = &rendered;
    }
    for (const Lane& lane : slot.lanes) {
        // Only the main queue draws, so only it waits for the image and signals the presenter.
        if (&lane != &slot.lanes.front()) submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &lane.cmd;
        HEARTH_TRY(
            check_vulkan(lane.device->vk().QueueSubmit(lane.queue.handle, 1, &submit, lane.done),
                         "vkQueueSubmit"));
    }
    slot.serial = frame.serial;
    return presenter ? presenter->present(frame.image_index, rendered) : Status();
}

Status FrameLoop::wait() {
    span_times_.clear();
    Status waited;  // waits for all frames, even if one failed: the caller destroys their resources
    for (uint32_t i = 0; i < kFramesInFlight; ++i) {  // oldest first
        const Status status = finish(slots_[(serial_ + i) % kFramesInFlight]);
        if (waited.ok()) waited = status;
    }
    return waited;
}

void FrameLoop::write_timestamp(const Frame& frame, VkCommandBuffer cmd, uint32_t span,
                                bool is_end) {
    if (span >= span_count_) return;
    for (Lane& lane : slots_[frame.slot].lanes) {
        if (lane.cmd != cmd) continue;
        lane.span_was_ended[span] = is_end;
        lane.device->vk().CmdWriteTimestamp(cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, lane.queries,
                                            2 * span + (is_end ? 1 : 0));
    }
}

void FrameLoop::begin_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span) {
    write_timestamp(frame, cmd, span, false);
}

void FrameLoop::end_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span) {
    write_timestamp(frame, cmd, span, true);
}

Status FrameLoop::record_screenshot(const Frame& frame, const Presenter& presenter,
                                    std::string path) {
    if (files_ == nullptr) return internal_error("this loop writes no files");
    return record_copy(frame, presenter, [this, path = std::move(path)](const Pixels& pixels) {
        files_->write(path, [copy = std::vector<uint8_t>(pixels.bytes.begin(), pixels.bytes.end()),
                             extent = pixels.extent, is_bgra = pixels.is_bgra] {
            return pictures::encode_png(extent.width, extent.height, copy, is_bgra);
        });
    });
}

Status FrameLoop::record_copy(const Frame& frame, const Presenter& presenter,
                              std::function<void(const Pixels&)> take) {
    if (!presenter.can_copy()) return unsupported("this surface's images cannot be copied");
    const VulkanApi& vk = device_->vk();
    Slot& slot = slots_[frame.slot];
    const VkExtent2D extent = presenter.extent();
    const VkDeviceSize bytes = VkDeviceSize{4} * extent.width * extent.height;
    if (slot.pixels.size_bytes() < bytes) {
        HEARTH_ASSIGN(slot.pixels, standalone::Buffer::create(*device_, bytes,
                                                              standalone::MemoryKind::kReadback));
    }
    slot.takers.push_back(std::move(take));
    if (slot.takers.size() > 1) return {};
    slot.copied = extent;
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
