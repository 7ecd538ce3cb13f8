// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Moves a car along the track, times its laps and puts it back.

#include "ghost_lap/racer.hpp"

#include <cmath>
#include <utility>

namespace hearth::ghost_lap {

Racer::Racer(const Track& track, float grid_lateral, bool is_put_back_when_stuck)
    : track_(&track),
      is_put_back_when_stuck_(is_put_back_when_stuck),
      car_{.position = track.position(-kGridMetres, grid_lateral),
           .heading = track.heading(-kGridMetres),
           .speed = kRollingSpeed},
      progress_(-kGridMetres),
      lateral_(grid_lateral) {}

void Racer::step(Action action) {
    const bool was_on_track = is_on_track();
    car_ = step_car(car_, action, was_on_track);

    const TrackPoint now = track_->project(car_.position, progress_);
    const float advance = std::remainder(now.progress - progress_, track_->length());
    progress_ += advance;
    lateral_ = now.lateral;
    if (is_timed_) lap_seconds_ += kFrameSeconds;

    const float line = is_timed_ ? track_->length() : 0.0f;
    if (progress_ >= line) {
        if (is_timed_) progress_ -= line;
        cross_line(kFrameSeconds * progress_ / advance);
    }
    if (is_timed_) recorder_.add(progress_ / track_->length(), lateral_);

    if (was_on_track && !is_on_track()) {
        ++off_tracks_;
        ++current_.off_tracks;
    }
    off_frames_ = is_on_track() ? 0 : off_frames_ + 1;
    idle_frames_ = advance > kIdleSpeed * kFrameSeconds ? 0 : idle_frames_ + 1;
    if (must_be_put_back()) put_back();
}

void Racer::cross_line(float seconds_past) {
    if (is_timed_) {
        current_.seconds = lap_seconds_ - seconds_past;
        current_.line = recorder_.finish();
        laps_.push_back(std::exchange(current_, {}));
    }
    is_timed_ = true;
    lap_seconds_ = seconds_past;
    recorder_ = {};
}

bool Racer::must_be_put_back() {
    if (std::abs(lateral_) > kLostLateral) return true;
    return is_put_back_when_stuck_ && (off_frames_ > kStuckFrames || idle_frames_ > kStuckFrames);
}

void Racer::put_back() {
    car_ = {.position = track_->position(progress_),
            .heading = track_->heading(progress_),
            .speed = kRollingSpeed};
    lateral_ = 0.0f;
    off_frames_ = 0;
    idle_frames_ = 0;
    ++resets_;
    ++current_.resets;
}

}  // namespace hearth::ghost_lap
