// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A car on the track, its laps and its resets.

#pragma once

#include "ghost_lap/car.hpp"
#include "ghost_lap/lap.hpp"
#include "ghost_lap/observation.hpp"
#include "ghost_lap/track.hpp"

#include <vector>

namespace hearth::ghost_lap {

/// A car on the track: its position, its laps, and the rules for putting it back.
///
/// A car is put back on the centre line, rolling, when it is lost (more than kLostLateral
/// half-widths away) or, if is_put_back_when_stuck, when it has been off the track or has not
/// advanced for kStuckSeconds. A lap with a reset counts as failed.
class Racer {
  public:
    static constexpr float kLostLateral = 2.5f;
    static constexpr float kStuckSeconds = 2.0f;
    static constexpr int kStuckFrames = static_cast<int>(kStuckSeconds * kFramesPerSecond);
    static constexpr float kIdleSpeed = 1.5f;      ///< m/s along the track; slower is not advancing
    static constexpr float kGridMetres = 12.0f;    ///< the grid lies this far before the line
    static constexpr float kGridSpread = 0.3f;     ///< half-widths to the side, at most
    static constexpr float kRollingSpeed = 10.0f;  ///< m/s, at the start and when put back

    /// track: must outlive the racer. grid_lateral: starting position on the grid, in half-widths.
    Racer(const Track& track, float grid_lateral, bool is_put_back_when_stuck);

    /// Drives one frame.
    void step(Action action);

    const Track& track() const { return *track_; }
    const Car& car() const { return car_; }
    /// The car's position; progress is in [0, track().length()).
    TrackPoint where() const { return {track_->wrap(progress_), lateral_}; }
    /// Metres driven since the line was first crossed; negative on the grid.
    float distance() const {
        return static_cast<float>(laps_.size()) * track_->length() + progress_;
    }
    Observation observation() const { return observe(car_, *track_, where()); }
    bool is_on_track() const { return lateral_ >= -1.0f && lateral_ <= 1.0f; }

    /// Laps that ended at the line, in order, failed ones included.
    const std::vector<Lap>& laps() const { return laps_; }
    /// Seconds since the last crossing; 0 before the first.
    float lap_seconds() const { return lap_seconds_; }
    /// Totals since the start, the unfinished lap included.
    uint32_t off_tracks() const { return off_tracks_; }
    uint32_t resets() const { return resets_; }

  private:
    void cross_line(float seconds_past);
    bool must_be_put_back();
    void put_back();

    const Track* track_;
    bool is_put_back_when_stuck_;
    Car car_;
    float progress_;  // metres since the line: negative on the grid, below length() otherwise
    float lateral_;
    bool is_timed_ = false;  // the line has been crossed

    float lap_seconds_ = 0.0f;
    LineRecorder recorder_;
    Lap current_;
    std::vector<Lap> laps_;
    uint32_t off_tracks_ = 0;
    uint32_t resets_ = 0;

    int off_frames_ = 0;
    int idle_frames_ = 0;
};

}  // namespace hearth::ghost_lap
