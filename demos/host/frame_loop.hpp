// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Frames in flight: frame numbers, command buffers, GPU times of named spans, submission and
// presenting.

#pragma once

#include "file_writer.hpp"
#include "presenter.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace hearth::demo {

/// A frame being recorded.
struct Frame {
    /// Counts submissions from 1.
    uint64_t serial = 0;
    /// The device has completed all frames up to this one. It is always `serial` minus the frames
    /// in flight, never more, so that results do not depend on the speed of the device.
    uint64_t completed_serial = 0;
    uint32_t slot = 0;
    uint32_t image_index = 0;
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    /// For Hearth's work, on its queue; equals `cmd` if there is only one queue.
    VkCommandBuffer compute_cmd = VK_NULL_HANDLE;
};

/// GPU time of one span in one frame; available some frames late.
struct SpanTime {
    uint64_t serial = 0;
    uint32_t span = 0;
    double milliseconds = 0.0;
    double begin_ms = 0.0;  ///< on its queue's timeline
};

/// A finished picture on the host: four bytes a pixel.
struct Pixels {
    VkExtent2D extent{};
    std::span<const uint8_t> bytes;
    bool is_bgra = false;
};

class FrameLoop {
  public:
    static constexpr uint32_t kFramesInFlight = 2;

    /// span_count: number of spans that can be timed, each once per frame. files: writes the
    /// screenshots and must outlive the loop; null: no screenshots. mind_device: device for
    /// Hearth's work if not `device`; must outlive the loop. Frames without a picture also run on a
    /// CPU device.
    static Result<std::unique_ptr<FrameLoop>> create(
        standalone::Device& device, uint32_t span_count, FileWriter* files = nullptr,
        const standalone::Device* mind_device = nullptr);
    ~FrameLoop();
    FrameLoop(const FrameLoop&) = delete;
    FrameLoop& operator=(const FrameLoop&) = delete;

    /// Waits for the previous frame in this slot, and starts recording. Returns nullopt if
    /// `presenter` must be recreated first. presenter: null for a frame without a picture.
    Result<std::optional<Frame>> begin(Presenter* presenter);
    /// Submits the frame and presents to begin()'s presenter. The image must be in
    /// VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL.
    Status end(const Frame& frame, Presenter* presenter);
    /// Waits for all frames.
    Status wait();

    /// cmd: the frame's command buffer that contains the span.
    void begin_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span);
    void end_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span);
    /// Times that arrived with the last begin() or wait(); empty on a queue without timestamps.
    std::span<const SpanTime> span_times() const { return span_times_; }

    /// Copies the frame's picture to the host; call between drawing and end(). `take` is called once
    /// the frame has completed.
    Status record_copy(const Frame& frame, const Presenter& presenter,
                       std::function<void(const Pixels&)> take);
    /// As above; the picture goes to the file writer.
    Status record_screenshot(const Frame& frame, const Presenter& presenter, std::string path);

  private:
    /// Per-queue resources of a frame.
    struct Lane {
        const standalone::Device* device = nullptr;
        standalone::Queue queue;
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer cmd = VK_NULL_HANDLE;
        VkFence done = VK_NULL_HANDLE;
        VkQueryPool queries = VK_NULL_HANDLE;
        std::vector<bool> span_was_ended;
    };
    struct Slot {
        std::vector<Lane> lanes;                // the main queue's, and the async compute queue's
        VkSemaphore acquired = VK_NULL_HANDLE;  // from the first frame with a picture on
        uint64_t serial = 0;                    // of the frame in flight, 0 if none
        bool uses_semaphores = false;
        // A copy in flight, and who takes it.
        standalone::Buffer pixels;
        std::vector<std::function<void(const Pixels&)>> takers;
        VkExtent2D copied{};
        bool is_bgra = false;
    };

    FrameLoop() = default;
    Result<Lane> create_lane(const standalone::Device& device,
                             const standalone::Queue& queue) const;
    Status begin(Lane& lane) const;
    Status finish(Slot& slot);
    void take_times(const Lane& lane, uint64_t serial);
    void write_timestamp(const Frame& frame, VkCommandBuffer cmd, uint32_t span, bool is_end);

    standalone::Device* device_ = nullptr;
    FileWriter* files_ = nullptr;
    uint32_t span_count_ = 0;
    uint64_t serial_ = 0;
    std::array<Slot, kFramesInFlight> slots_;
    /// One per swapchain image: there is no signal for when presenting has released a semaphore.
    std::vector<VkSemaphore> rendered_;
    std::vector<SpanTime> span_times_;
};

}  // namespace hearth::demo
