// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Common setup of demos with pictures: optional window, instance, device, presenter, frames,
// renderer and user interface. The demo's own loop stays in the demo's main.

#pragma once

#include "file_writer.hpp"
#include "frame_loop.hpp"
#include "native/open_device.hpp"
#include "options.hpp"
#include "renderer.hpp"
#include "ui.hpp"
#include "window.hpp"

#include <chrono>
#include <functional>

namespace hearth::demo {

class Host {
  public:
    static constexpr float kFrameSeconds = 1.0f / 60.0f;

    /// `span_count`: number of GPU time spans that the demo measures (see FrameLoop).
    static Result<std::unique_ptr<Host>> create(const Options& options, const char* title,
                                                uint32_t span_count);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    standalone::Instance& instance() { return *instance_; }
    standalone::Device& device() { return *device_; }
    /// Device of the networks: device(), or this machine's CPU if the options say so.
    standalone::Device& mind_device() { return native_.device ? *native_.device : *device_; }
    Presenter& presenter() { return *presenter_; }
    FrameLoop& loop() { return *loop_; }
    Renderer& renderer() { return *renderer_; }
    Ui& ui() { return *ui_; }
    /// Writes output files and screenshots in the background.
    FileWriter& files() { return files_; }
    bool is_headless() const { return window_ == nullptr; }
    /// The command line's, but without waiting for the clock if there is no display.
    const Options& options() const { return options_; }

    /// Returns the player's current input; none without a window.
    Input poll();
    /// Starts the next frame, after waiting for its turn at 60 Hz (unless in turbo mode) and
    /// recreating the images if the window changed. Returns nullopt while the window is minimized.
    /// has_picture: false for a frame that only computes.
    Result<std::optional<Frame>> begin_frame(bool has_picture = true);
    /// Starts the picture and the user interface within `frame`.
    void begin_picture(const Frame& frame, const Input& input, Color background);
    /// Draws the user interface and ends the picture. Errors: those of Renderer::end().
    Status end_picture();
    Status end_frame(const Frame& frame) {
        return loop_->end(frame, has_picture_ ? presenter_.get() : nullptr);
    }
    /// Waits until the devices are idle, even after a failed frame.
    void wait_idle();

    /// Renders user interface drawn by `draw` to a PNG of size `extent`: charts and reports. The
    /// file exists once files() has finished.
    Status write_picture(VkExtent2D extent, const std::string& path,
                         const std::function<void()>& draw);

  private:
    Host() = default;
    Status create_presenter(VkExtent2D extent);

    // In creation order; destroyed in reverse.
    Options options_;
    FileWriter files_;
    std::unique_ptr<Window> window_;
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    native::OpenDevice native_;  ///< empty unless the options ask for it
    std::unique_ptr<Presenter> presenter_;
    std::unique_ptr<FrameLoop> loop_;
    std::unique_ptr<Ui> ui_;
    std::unique_ptr<Renderer> renderer_;
    RenderTargets targets_;
    bool has_picture_ = true;
    std::chrono::steady_clock::time_point next_frame_time_;
};

}  // namespace hearth::demo
