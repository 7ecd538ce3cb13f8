// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Common setup of demos with pictures: optional window, instance, device, presenter, frames,
// renderer and user interface. The demo's own loop stays in the demo's main.

#pragma once

#include "file_writer.hpp"
#include "frame_loop.hpp"
#include "native/open_device.hpp"
#include "options.hpp"
#include "pace.hpp"
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
    /// How expensive pictures are now; with a window and a clock cheaper ones are chosen where
    /// frames take too long.
    const Pace& pace() const { return pace_; }
    /// True if the last poll() had a key for pictures, F9 or F12: the coming frame needs one.
    bool has_picture_key() const { return has_picture_key_; }
    /// Covers the whole display, or returns to a window; no-op without one.
    void set_full_screen(bool is_full);
    /// Makes text and panels larger or smaller; 1 suits a height of 720 pixels. Call between frames.
    /// What the renderer and the user interface had made must be made again: meshes, effects, and
    /// canvases, whose white texel moves.
    Status set_ui_scale(float scale);
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

    /// Renders what `draw` draws, with the renderer that it gets and with the user interface, to a
    /// PNG of size `extent`. finish: changes the PNG's bytes, on another thread. The file exists
    /// once files() has finished.
    Status write_picture(
        VkExtent2D extent, const std::string& path, const std::function<void(Renderer&)>& draw,
        std::function<Result<std::vector<std::byte>>(std::vector<std::byte>)> finish = {});

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
    bool is_clicked_ = false;  ///< since the last picture
    bool has_picture_key_ = false;
    Pace pace_{1000.0 * double{kFrameSeconds}};
    std::chrono::steady_clock::time_point next_frame_time_, frame_began_;
};

}  // namespace hearth::demo
