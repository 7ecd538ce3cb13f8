// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Laps and driven lines.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::ghost_lap {

constexpr int kLineBins = 128;  // about 2.4 m each on the demo's circuit

/// A driven line: the mean lateral offset, in half-widths, in equal bins of arc length.
using Line = std::array<float, kLineBins>;

/// Mean lateral offset over the lap, uniform in arc length.
float mean_offset(const Line& line);

/// Mean absolute distance between two lines, in half-widths.
float line_error(const Line& a, const Line& b);

/// As above, from `begin` to `end` as fractions of the lap: begin in [0, 1), end in (begin, begin +
/// 1]. Includes the bins whose centers lie within; 0 if there are none.
float line_error(const Line& a, const Line& b, float begin, float end);

/// The bin-wise mean of `lines`; all zero if there are none.
Line mean_line(std::span<const Line> lines);

/// Index of the line in `drivers` with the smallest line_error to `line`. drivers: not empty.
size_t nearest_line(const Line& line, std::span<const Line> drivers);

/// One lap from crossing to crossing.
struct Lap {
    float seconds = 0.0f;  ///< crossings interpolated between frames
    Line line{};
    uint32_t off_tracks = 0;  ///< times the car left the track
    uint32_t resets = 0;  ///< times the car was put back; such a lap does not count as completed
    bool is_completed() const { return resets == 0; }
};

/// Accumulates a Line from lateral offsets in driving order.
class LineRecorder {
  public:
    /// fraction: of the lap, in [0, 1).
    void add(float fraction, float lateral);
    /// The line so far; a bin that was never visited takes its predecessor's value.
    Line finish() const;

  private:
    std::array<float, kLineBins> sums_{};
    std::array<uint32_t, kLineBins> counts_{};
};

}  // namespace hearth::ghost_lap
