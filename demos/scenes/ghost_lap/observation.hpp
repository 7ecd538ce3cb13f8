// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "ghost_lap/car.hpp"
#include "ghost_lap/track.hpp"

#include <array>

namespace hearth::ghost_lap {

constexpr int kObservationSize = 8;
constexpr int kActionSize = 2;
constexpr int kLookAheadCount = 5;

/// All that the ghost's net sees.  In order: speed, lateral offset, heading error, and the
/// heading of the track at each of kLookAheadMetres relative to here, per metre of distance; all
/// scaled to about [-2, 2] in ordinary driving.
using Observation = std::array<float, kObservationSize>;

/// The net's two outputs: steer, throttle.
using ActionVector = std::array<float, kActionSize>;

/// Distances ahead of the car, along the centre line.
constexpr std::array<float, kLookAheadCount> kLookAheadMetres = {4.0f, 8.0f, 14.0f, 21.0f, 30.0f};

// How the numbers are scaled.
constexpr float kMeanSpeed = 20.0f;    // m/s, observed as 0
constexpr float kSpeedScale = 0.1f;    // per m/s
constexpr float kLateralScale = 1.5f;  // per half-width
constexpr float kErrorScale = 4.0f;    // per radian
constexpr float kTurnScale = 14.0f;    // metres, times the mean curvature up to a point ahead

/// What a car at `where` perceives.  A pure function: no noise, no history.
Observation observe(const Car& car, const Track& track, const TrackPoint& where);

/// Angle between the car and the track, in [-pi, pi]; positive if the car points left of it.
float heading_error(const Car& car, const Track& track, const TrackPoint& where);

}  // namespace hearth::ghost_lap
