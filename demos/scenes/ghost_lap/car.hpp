// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A car and its physics.

#pragma once

#include <glm/vec2.hpp>

namespace hearth::ghost_lap {

constexpr int kFramesPerSecond = 60;
constexpr float kFrameSeconds = 1.0f / kFramesPerSecond;

/// Positions of wheel and pedals, each in [-1, 1].
struct Action {
    float steer = 0.0f;     ///< positive turns left
    float throttle = 0.0f;  ///< negative brakes
};

/// A car: a point that always moves in the direction of its heading.
struct Car {
    glm::vec2 position{0.0f, 0.0f};  ///< metres
    float heading = 0.0f;            ///< radians, counter-clockwise from +x, not wrapped
    float speed = 0.0f;              ///< metres per second, >= 0: there is no reverse gear
};

constexpr float kGrip = 28.0f;      // m/s^2, the maximum sideways acceleration of the tyres
constexpr float kBraking = 30.0f;   // m/s^2 at full brake
constexpr float kTopSpeed = 34.0f;  // m/s, where drag equals engine power
constexpr float kEngine = 18.0f;    // m/s^2 at full throttle, standing
constexpr float kDrag = kEngine / (kTopSpeed * kTopSpeed);  // 1/m
constexpr float kMaxCurvature = 0.5f;                       // 1/m at full lock, standing
constexpr float kSteerSpeedSquared = 133.0f;  // (m/s)^2 at which full lock yields half of that
constexpr float kScrub = 10.0f;               // m/s^2 lost while the tyres slide
constexpr float kRoughGripFactor = 0.6f;      // grip left off the track
constexpr float kRoughDrag = 1.1f;            // 1/s, drag off the track

/// Clamps both values to [-1, 1]; a non-finite value becomes 0.
Action clamp_action(Action action);

/// Advances the car by one frame. Steering for more curvature than the grip allows makes it run
/// wide and scrub off speed; off the track there is less grip and a strong drag.
Car step_car(const Car& car, Action action, bool is_on_track);

/// The steer for a path of `curvature` (1/m) at `speed`; beyond [-1, 1] if impossible.
float steer_for_curvature(float curvature, float speed);

}  // namespace hearth::ghost_lap
