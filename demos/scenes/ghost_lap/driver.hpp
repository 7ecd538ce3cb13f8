// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Drivers: the interface, scripted styles and a coach.

#pragma once

#include "ghost_lap/race.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hearth::ghost_lap {

/// A participant of a race: a person, a script, a recording.
class Driver {
  public:
    virtual ~Driver() = default;
    /// Returns the driver's seat in the coming frame.
    virtual Seat seat(const Race&) { return Seat::kOwnCar; }
    /// Returns the driver's action in `frame`, given `racer` as it is before that frame.
    virtual Action drive(const Racer& racer, uint64_t frame) = 0;
};

/// The habits of a scripted driver.
struct DrivingStyle {
    std::string_view name;
    float line;         ///< lateral offset held on the straights, half-widths, positive is left
    float apex;         ///< half-widths moved to the inside of a corner
    float corner_grip;  ///< fraction of the grip used in corners
    float braking;      ///< fraction of the brakes used: high brakes late and hard
    float top_speed;    ///< m/s at which the driver lifts off
    float wobble;       ///< maximum steering noise
};

/// All scripted styles; the first two are `smooth` and `late`.
std::span<const DrivingStyle> driving_styles();

/// Returns the style called `name`, or null.
const DrivingStyle* find_driving_style(std::string_view name);

/// Drives a style: pure pursuit of its line, at speeds from which it can still brake for every
/// corner. It brakes within 30 m of a corner, so that the ghost can observe the cause. Its steering
/// noise changes every kWobbleFrames frames, drawn from Stream::kDriver and keyed by the frame.
class ScriptedDriver final : public Driver {
  public:
    static constexpr int kWobbleFrames = 6;

    /// track: must outlive the driver.
    ScriptedDriver(const Track& track, const DrivingStyle& style, uint64_t seed);

    Action drive(const Racer& racer, uint64_t frame) override;

    /// The lateral offset the driver aims for.
    float line_at(float progress) const;

  private:
    float target_speed(float progress) const;

    const Track* track_;
    DrivingStyle style_;
    uint64_t seed_;
    std::vector<float> line_;   // aimed-for offset at equal steps of progress
    std::vector<float> speed_;  // m/s, at the same steps
};

/// A scripted driver that teaches the ghost a mistake and corrects it: it takes one corner too wide
/// in its own car, parks when the ghost starts, watches kWatchedLaps of its laps, takes over in
/// that corner in each of the next kTaughtLaps to show the right line, and only watches from then
/// on. Such corrections of a learner are HG-DAgger (Kelly et al., 2019).
class Coach final : public Driver {
  public:
    static constexpr size_t kWatchedLaps = 3, kTaughtLaps = 3;
    static constexpr float kTurnInMetres = 8.0f;  ///< before the corner; until its end
    static constexpr float kTooWide = 0.5f;       ///< half-widths

    /// track: must outlive the coach.
    Coach(const Track& track, const DrivingStyle& style, const Corner& corner, uint64_t seed);

    Seat seat(const Race& race) override;
    Action drive(const Racer& racer, uint64_t frame) override;

  private:
    bool is_in_corner(const Racer& racer) const;

    Corner corner_;
    ScriptedDriver right_, wrong_;
    bool is_at_ghosts_wheel_ = false;
};

/// The mean line of the first three laps of a driver alone on the track.
Line driven_line(const Track& track, Driver& driver);

}  // namespace hearth::ghost_lap
