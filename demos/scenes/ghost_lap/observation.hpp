// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The observation and action of the ghost's network.

#pragma once

#include "ghost_lap/car.hpp"
#include "ghost_lap/track.hpp"

#include <array>

namespace hearth::ghost_lap {

constexpr int kObservationSize = 8;
constexpr int kActionSize = 2;
constexpr int kLookAheadCount = 5;

/// The network's input. In order: speed, lateral offset, heading error, and for each of
/// kLookAheadMetres the heading of the track there relative to the car's position, divided by the
/// distance; all scaled to about [-2, 2] in ordinary driving.
using Observation = std::array<float, kObservationSize>;

/// The network's two outputs: steer, throttle.
using ActionVector = std::array<float, kActionSize>;

/// Distances ahead of the car, along the centre line.
constexpr std::array<float, kLookAheadCount> kLookAheadMetres = {4.0f, 8.0f, 14.0f, 21.0f, 30.0f};

// Scaling of observations.
constexpr float kMeanSpeed = 20.0f;    // m/s, observed as 0
constexpr float kSpeedScale = 0.1f;    // per m/s
constexpr float kLateralScale = 1.5f;  // per half-width
constexpr float kErrorScale = 4.0f;    // per radian
constexpr float kTurnScale = 14.0f;    // metres, times the mean curvature up to a point ahead

/// Returns the observation of a car at `where`. A pure function: no noise, no history.
Observation observe(const Car& car, const Track& track, const TrackPoint& where);

/// Angle between the car and the track, in [-pi, pi]; positive if the car points left of it.
float heading_error(const Car& car, const Track& track, const TrackPoint& where);

}  // namespace hearth::ghost_lap
