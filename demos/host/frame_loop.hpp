// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Frames in flight: serials, command buffers, GPU times of named spans, submission and presenting.

#pragma once

#include "file_writer.hpp"
#include "presenter.hpp"

#include <array>
#include <string>
#include <vector>

namespace hearth::demo {

/// A frame that is being recorded.
struct Frame {
    /// Counts submissions from 1.
    uint64_t serial = 0;
    /// The device is done with all frames up to this one.  Always `serial` minus the frames in
    /// flight, never more, so that what depends on it does not depend on the speed of the device.
    uint64_t completed_serial = 0;
    uint32_t slot = 0;
    uint32_t image_index = 0;
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    /// For Hearth's work, on the queue that it was given: `cmd` where there is only one queue.
    VkCommandBuffer compute_cmd = VK_NULL_HANDLE;
};

/// GPU time that one frame spent in one span, arriving some frames late.
struct SpanTime {
    uint64_t serial = 0;
    uint32_t span = 0;
    double milliseconds = 0.0;
    double begin_ms = 0.0;  ///< by the clock of its queue
};

class FrameLoop {
  public:
    static constexpr uint32_t kFramesInFlight = 2;

    /// `span_count` kinds of spans may be timed, each once a frame.
    /// files: writes the screenshots and outlives the loop; without it there can be none.
    /// mind_device: for Hearth's work, if that is not `device`; outlives the loop.  Frames without a picture run on a
    /// native device as well.
    static Result<std::unique_ptr<FrameLoop>> create(
        standalone::Device& device, uint32_t span_count, FileWriter* files = nullptr,
        const standalone::Device* mind_device = nullptr);
    ~FrameLoop();
    FrameLoop(const FrameLoop&) = delete;
    FrameLoop& operator=(const FrameLoop&) = delete;

    /// Waits until the frame that used this slot last is done, and starts recording.  Nothing if
    /// `presenter` must be recreated first.  presenter: null for a frame without a picture.
    Result<std::optional<Frame>> begin(Presenter* presenter);
    /// Submits and presents to the presenter that begin() was given.  The image must be in
    /// VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL.
    Status end(const Frame& frame, Presenter* presenter);
    /// Waits for all frames.
    Status wait();

    /// cmd: the frame's command buffer in which the span lies.
    void begin_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span);
    void end_span(const Frame& frame, VkCommandBuffer cmd, uint32_t span);
    /// Times that arrived with the last begin() or wait(); empty on a queue without timestamps.
    std::span<const SpanTime> span_times() const { return span_times_; }

    /// Copies the frame's picture into a buffer; call between drawing and end().
    /// Once the frame's serial has completed, the picture goes to the file writer.
    Status record_screenshot(const Frame& frame, const Presenter& presenter, std::string path);

  private:
    /// What one queue does for a frame.
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
        std::vector<Lane> lanes;  // the main queue's, and that of asynchronous compute
        VkSemaphore acquired = VK_NULL_HANDLE;  // from the first frame with a picture on
        uint64_t serial = 0;                    // of the frame in flight, 0 if none
        bool uses_semaphores = false;
        // A screenshot under way.
        standalone::Buffer pixels;
        std::string screenshot_path;
        VkExtent2D screenshot_extent{};
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
    /// One for each swapchain image: presenting tells no one when it is done with its semaphore.
    std::vector<VkSemaphore> rendered_;
    std::vector<SpanTime> span_times_;
};

}  // namespace hearth::demo
