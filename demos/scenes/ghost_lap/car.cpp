// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The physics of a car.

#include "ghost_lap/car.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::ghost_lap {
namespace {

float curvature_per_steer(float speed) {
    return kMaxCurvature / (1.0f + speed * speed / kSteerSpeedSquared);
}

}  // namespace

Action clamp_action(Action action) {
    const auto clamp = [](float v) { return std::isfinite(v) ? std::clamp(v, -1.0f, 1.0f) : 0.0f; };
    return {clamp(action.steer), clamp(action.throttle)};
}

float steer_for_curvature(float curvature, float speed) {
    return curvature / curvature_per_steer(speed);
}

Car step_car(const Car& car, Action action, bool is_on_track) {
    const Action a = clamp_action(action);
    const float grip = is_on_track ? kGrip : kGrip * kRoughGripFactor;
    const float wanted = a.steer * curvature_per_steer(car.speed) * car.speed * car.speed;
    const float sideways = std::clamp(wanted, -grip, grip);  // m/s^2

    float along = a.throttle > 0.0f ? kEngine * a.throttle : kBraking * a.throttle;
    along -= kDrag * car.speed * car.speed;
    if (sideways != wanted) along -= kScrub;
    if (!is_on_track) along -= kRoughDrag * car.speed;

    Car next = car;
    next.speed = std::max(0.0f, car.speed + along * kFrameSeconds);
    // The turn rate is sideways acceleration over speed; below walking pace the wheels just roll.
    next.heading += sideways / std::max(car.speed, 1.0f) * kFrameSeconds;
    const float middle = 0.5f * (car.heading + next.heading);
    next.position += glm::vec2(std::cos(middle), std::sin(middle)) * (next.speed * kFrameSeconds);
    return next;
}

}  // namespace hearth::ghost_lap
