// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A driver controlled by keyboard or game controller.

#pragma once

#include "ghost_lap/driver.hpp"
#include "host/input.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::ghost_lap {

/// The person at the keyboard or the game controller.
class Person final : public Driver {
  public:
    void set_input(const demo::Input& input) {
        input_ = input;
        if (input.was_pressed("p")) is_parked_ = !is_parked_;
    }

    Seat seat(const Race& race) override {
        if (!race.ghost_is_driving()) return Seat::kOwnCar;
        if (input_.is_held("h")) return Seat::kGhost;
        return is_parked_ ? Seat::kNone : Seat::kOwnCar;
    }

    Action drive(const Racer& racer, uint64_t) override {
        // Keys are binary, so the wheel moves gradually; it turns less at speed.
        constexpr float kWheelPerFrame = 0.11f;
        const bool left = input_.is_held("left") || input_.is_held("a");
        const bool right = input_.is_held("right") || input_.is_held("d");
        const bool up = input_.is_held("up") || input_.is_held("w");
        const bool down = input_.is_held("down") || input_.is_held("s") || input_.is_held("space");
        const float reach = 1.0f - 0.35f * racer.car().speed / kTopSpeed;
        const float wanted = reach * ((left ? 1.0f : 0.0f) - (right ? 1.0f : 0.0f));
        action_.steer += std::clamp(wanted - action_.steer, -kWheelPerFrame, kWheelPerFrame);
        action_.throttle = (up ? 1.0f : 0.0f) - (down ? 1.0f : 0.0f);
        Action action = action_;
        if (std::abs(input_.stick.x) > 0.0f) action.steer = -input_.stick.x;
        const float pedals = input_.right_trigger - input_.left_trigger;
        if (std::abs(pedals) > 0.0f) action.throttle = pedals;
        return clamp_action(action);
    }

  private:
    demo::Input input_;
    bool is_parked_ = false;
    Action action_;
};

}  // namespace hearth::ghost_lap
