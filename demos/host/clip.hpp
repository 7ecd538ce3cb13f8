// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The last ten seconds of a game, and their animated WebP.

#pragma once

#include "frame_loop.hpp"

#include <deque>
#include <memory>

namespace hearth::demo {

/// A picture of a clip: `height` rows of `width` pixels, red, green and blue.
struct ClipPicture {
    uint32_t width = 0, height = 0;
    std::vector<uint8_t> rgb;
    uint64_t frame = 0;  ///< of the game, of 1/60 s
};
using ClipPictures = std::deque<std::shared_ptr<const ClipPicture>>;

/// Encodes pictures of one size, in the order of their frames, as an animation that repeats. Any
/// thread; takes some seconds for ten.
/// Errors: kInvalidArgument for no pictures or different sizes; kUnsupported in a build with
/// HEARTH_WEBP off.
Result<std::vector<std::byte>> encode_clip(const ClipPictures& pictures);

/// Halves, thirds, ... a picture until it is at most `most_width` pixels wide.
ClipPicture shrunk(const Pixels& pixels, uint32_t most_width);

/// Keeps the pictures of the last seconds, some 80 MB.
class Clip {
  public:
    static constexpr uint32_t kSeconds = 10, kFramesPerPicture = 5, kMostWidth = 640;
    static constexpr uint32_t kFrames = kSeconds * 60;

    /// Adds a picture; call every kFramesPerPicture frames or less often. Older pictures of another
    /// size are dropped.
    void add(const Pixels& pixels, uint64_t frame);
    bool is_empty() const { return pictures_.empty(); }
    /// Returns a function that encodes the clip as it is now, for any thread.
    std::function<Result<std::vector<std::byte>>()> encoder() const;

  private:
    ClipPictures pictures_;
};

}  // namespace hearth::demo
