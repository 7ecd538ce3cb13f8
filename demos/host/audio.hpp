// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sound through SDL2, which is loaded only when sound is opened.

#pragma once

#include <hearth/status.hpp>

#include <functional>
#include <memory>
#include <span>

namespace hearth::demo {

class Audio {
  public:
    /// Writes the next samples, mono, within -1 and 1.
    using Render = std::function<void(std::span<float>)>;

    /// Plays what `render` writes, which is called on a thread of SDL's until the end.
    /// Errors: kUnsupported if SDL2 is not installed or there is no audio device.
    static Result<std::unique_ptr<Audio>> open(int samples_per_second, Render render);
    virtual ~Audio() = default;
    Audio(const Audio&) = delete;
    Audio& operator=(const Audio&) = delete;

    /// Runs `change` while `render` does not run.
    virtual void change(const std::function<void()>& change) = 0;

  protected:
    Audio() = default;
};

}  // namespace hearth::demo
