// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A race track: its centre line, corners and projection.

#pragma once

#include <glm/vec2.hpp>

#include <span>
#include <vector>

namespace hearth::ghost_lap {

/// A point relative to the centre line.
struct TrackPoint {
    float progress;  ///< metres along the centre line, in [0, length)
    float lateral;   ///< offset from the centre line in half-widths; positive is left
};

/// A stretch of the centre line that turns one way.
struct Corner {
    float begin;       ///< progress in metres
    float length;      ///< metres
    float turn;        ///< radians; positive is left
    float min_radius;  ///< metres
};

/// A closed circuit of constant width around a smooth centre line, seen from above.
///
/// The centre line is the closed uniform cubic B-spline of its control points (so its curvature is
/// continuous), resampled at equal arc length.  Units are metres and radians; angles are
/// counter-clockwise from +x.  Progress may be any finite number: it wraps.  Immutable, so any
/// thread may use it.
class Track {
  public:
    /// control_points: at least 4, in driving order. half_width: metres, > 0.
    Track(std::span<const glm::vec2> control_points, float half_width);

    /// The circuit of the demo: 313 m clockwise, with a chicane and a hairpin.
    static Track circuit();

    float length() const { return length_; }
    float half_width() const { return half_width_; }

    /// Direction of the centre line; continuous, so heading(s + length()) = heading(s) +- 2 pi.
    float heading(float progress) const;
    /// 1/metres; positive where the track turns left.
    float curvature(float progress) const;
    /// The point `lateral` half-widths to the left of the centre line.
    glm::vec2 position(float progress, float lateral = 0.0f) const;

    /// The nearest point of the whole centre line.
    TrackPoint project(glm::vec2 position) const;
    /// The nearest point within kFollowMetres of `near_progress`: follows a car without jumping to
    /// a neighbouring stretch of track.
    TrackPoint project(glm::vec2 position, float near_progress) const;

    /// `progress` wrapped into [0, length()).
    float wrap(float progress) const;

    /// Corners of at least 25 degrees, in driving order.
    std::vector<Corner> corners() const;

    /// Samples of the centre line at equal arc length, from progress 0; the last is one spacing
    /// before the first.
    struct Sample {
        glm::vec2 position;
        float heading;
        float curvature;
    };
    std::span<const Sample> samples() const { return samples_; }
    float spacing() const { return spacing_; }  ///< metres from sample to sample
    /// Heading gained per lap: 2 pi or -2 pi.
    float full_turn() const { return full_turn_; }

    static constexpr float kFollowMetres =
        8.0f;  ///< project() looks so far around a known progress

  private:
    struct Place;

    Place locate(float progress) const;
    TrackPoint project_near(glm::vec2 position, int first, int count) const;

    std::vector<Sample> samples_;
    float length_ = 0.0f;
    float spacing_ = 0.0f;
    float half_width_;
    float full_turn_ = 0.0f;  // heading gained in one lap: +- 2 pi
};

}  // namespace hearth::ghost_lap
