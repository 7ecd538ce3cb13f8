// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The dynamics of tasks.cpp as tensor code, with the same formulas in the same order.

#include "classic/simulations.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace hearth::classic {

using agents::StepResult;
using agents::VectorEnv;

namespace {

constexpr double kPi = std::numbers::pi;

/// [worlds, 1]
Tensor column(const Tensor& state, int64_t i) {
    return slice(state, -1, i, i + 1);
}

Tensor joined(std::initializer_list<Tensor> columns) {
    return concat(columns, -1);
}

/// [worlds, 1] -> [worlds]
Tensor flat(const Tensor& one_column) {
    return squeeze(one_column, {-1});
}

Tensor all_of(const Tensor& like, double value) {
    return like * 0.0 + value;
}

/// Initial states, uniform in [low, high).
auto uniform_begin(std::vector<float> low, std::vector<float> high) {
    return [=](const Tensor& counter, uint64_t key, int64_t worlds) {
        if (!counter.ok()) return counter;
        Trace& trace = *counter.trace();
        const auto width = static_cast<int64_t>(low.size());
        std::vector<float> extent(low.size());
        for (size_t i = 0; i < low.size(); ++i) extent[i] = high[i] - low[i];
        const Tensor u = random_uniform(counter, key, {worlds, width});
        return u * trace.constant(HostTensor::of({width}, extent)) +
               trace.constant(HostTensor::of({width}, low));
    };
}

/// Adapts a deterministic step: only initial states are random in these tasks.
auto without_chance(StepResult (*step)(const Tensor& state, const Tensor& action)) {
    return [step](const Tensor& state, const Tensor& action, const Tensor&, uint64_t) {
        return step(state, action);
    };
}

StepResult step_cart_pole(const Tensor& state, const Tensor& action) {
    constexpr double kGravity = 9.8, kPoleMass = 0.1, kTotalMass = 1.1, kHalfLength = 0.5;
    constexpr double kPoleMassLength = kPoleMass * kHalfLength, kForce = 10, kSeconds = 0.02;
    const Tensor x = column(state, 0), x_speed = column(state, 1);
    const Tensor angle = column(state, 2), angle_speed = column(state, 3);
    const Tensor force = where(greater(action, 0.5), kForce, all_of(action, -kForce));
    const Tensor cosine = cos(angle), sine = sin(angle);
    const Tensor push = (force + kPoleMassLength * angle_speed * angle_speed * sine) / kTotalMass;
    const Tensor angle_acceleration =
        (kGravity * sine - cosine * push) /
        (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kTotalMass));
    const Tensor acceleration = push - kPoleMassLength * angle_acceleration * cosine / kTotalMass;
    const Tensor next_x = x + kSeconds * x_speed;
    const Tensor next_angle = angle + kSeconds * angle_speed;
    constexpr double kMostAngle = 12 * 2 * kPi / 360;
    const Tensor falls =
        logical_or(greater(abs(next_x), 2.4), greater(abs(next_angle), kMostAngle));
    return {joined({next_x, x_speed + kSeconds * acceleration, next_angle,
                    angle_speed + kSeconds * angle_acceleration}),
            flat(all_of(x, 1)), flat(falls)};
}

/// Dynamics of Sutton and Barto's book, with all masses, lengths and inertias 1.
struct AcrobotState {
    Tensor angle1, angle2, speed1, speed2;

    AcrobotState moved(const AcrobotState& direction, double by) const {
        return {angle1 + by * direction.angle1, angle2 + by * direction.angle2,
                speed1 + by * direction.speed1, speed2 + by * direction.speed2};
    }
};

AcrobotState acrobot_derivative(const AcrobotState& s, const Tensor& torque) {
    constexpr double kCentre = 0.5, kGravity = 9.8;
    const Tensor cosine = cos(s.angle2), sine = sin(s.angle2);
    const Tensor d1 = kCentre * kCentre + (1 + kCentre * kCentre + 2 * kCentre * cosine) + 2;
    const Tensor d2 = (kCentre * kCentre + kCentre * cosine) + 1;
    // cos(a - pi / 2) = sin(a)
    const Tensor phi2 = kCentre * kGravity * sin(s.angle1 + s.angle2);
    const Tensor phi1 = -kCentre * s.speed2 * s.speed2 * sine -
                        2 * kCentre * s.speed2 * s.speed1 * sine +
                        (kCentre + 1) * kGravity * sin(s.angle1) + phi2;
    const Tensor acceleration2 =
        (torque + d2 / d1 * phi1 - kCentre * s.speed1 * s.speed1 * sine - phi2) /
        (kCentre * kCentre + 1 - d2 * d2 / d1);
    const Tensor acceleration1 = neg(d2 * acceleration2 + phi1) / d1;
    return {s.speed1, s.speed2, acceleration1, acceleration2};
}

/// Wraps into [-pi, pi).
Tensor wrapped(const Tensor& angle) {
    return angle - 2 * kPi * floor((angle + kPi) / (2 * kPi));
}

StepResult step_acrobot(const Tensor& state, const Tensor& action) {
    const Tensor torque = action - 1.0;
    const AcrobotState s{column(state, 0), column(state, 1), column(state, 2), column(state, 3)};
    constexpr double kSeconds = 0.2;
    const AcrobotState k1 = acrobot_derivative(s, torque);
    const AcrobotState k2 = acrobot_derivative(s.moved(k1, kSeconds / 2), torque);
    const AcrobotState k3 = acrobot_derivative(s.moved(k2, kSeconds / 2), torque);
    const AcrobotState k4 = acrobot_derivative(s.moved(k3, kSeconds), torque);
    const AcrobotState next = s.moved(k1, kSeconds / 6)
                                  .moved(k2, kSeconds / 3)
                                  .moved(k3, kSeconds / 3)
                                  .moved(k4, kSeconds / 6);
    const Tensor angle1 = wrapped(next.angle1), angle2 = wrapped(next.angle2);
    const Tensor is_up = flat(greater(neg(cos(angle1)) - cos(angle2 + angle1), 1));
    return {joined({angle1, angle2, clamp(next.speed1, -4 * kPi, 4 * kPi),
                    clamp(next.speed2, -9 * kPi, 9 * kPi)}),
            where(is_up, 0.0, all_of(flat(angle1), -1)), is_up};
}

Tensor observe_acrobot(const Tensor& state) {
    const Tensor angles = slice(state, -1, 0, 2);
    const Tensor cosines = cos(angles), sines = sin(angles);
    return joined({column(cosines, 0), column(sines, 0), column(cosines, 1), column(sines, 1),
                   slice(state, -1, 2, 4)});
}

StepResult step_mountain_car(const Tensor& state, const Tensor& action) {
    const Tensor x = column(state, 0);
    const Tensor pulled =
        clamp(column(state, 1) + ((action - 1.0) * 0.001 - cos(3.0 * x) * 0.0025), -0.07, 0.07);
    const Tensor next_x = clamp(x + pulled, -1.2, 0.6);
    const Tensor hits = logical_and(less_equal(next_x, -1.2f), less(pulled, 0));
    const Tensor speed = where(hits, 0.0, pulled);
    return {joined({next_x, speed}), flat(all_of(x, -1)),
            flat(logical_and(greater_equal(next_x, 0.5), greater_equal(speed, 0)))};
}

StepResult step_mountain_car_continuous(const Tensor& state, const Tensor& action) {
    const Tensor x = column(state, 0), force = clamp(action, -1, 1);
    const Tensor pulled =
        clamp(column(state, 1) + (force * 0.0015 - 0.0025 * cos(3.0 * x)), -0.07, 0.07);
    const Tensor next_x = clamp(x + pulled, -1.2, 0.6);
    const Tensor hits = logical_and(less_equal(next_x, -1.2f), less(pulled, 0));
    const Tensor speed = where(hits, 0.0, pulled);
    const Tensor is_there =
        flat(logical_and(greater_equal(next_x, 0.45f), greater_equal(speed, 0)));
    const Tensor cost = flat(action * action * 0.1);
    return {joined({next_x, speed}), where(is_there, 100.0, all_of(cost, 0)) - cost, is_there};
}

StepResult step_pendulum(const Tensor& state, const Tensor& action) {
    const Tensor angle = column(state, 0), speed = column(state, 1);
    const Tensor torque = clamp(action, -2, 2);
    const Tensor off = wrapped(angle);
    const Tensor cost = off * off + 0.1 * speed * speed + 0.001 * torque * torque;
    const Tensor next_speed = clamp(speed + (15 * sin(angle) + 3 * torque) * 0.05, -8, 8);
    // Wrapping does not change observations; without it f32 would lose precision as the angle
    // grows.
    const Tensor next_angle = wrapped(angle + next_speed * 0.05);
    const Tensor reward = flat(neg(cost));
    return {joined({next_angle, next_speed}), reward, greater(all_of(reward, 0), 0.5)};  // never
}

Tensor observe_pendulum(const Tensor& state) {
    const Tensor angle = column(state, 0);
    return joined({cos(angle), sin(angle), column(state, 1)});
}

Tensor observe_state(const Tensor& state) {
    return state;
}

}  // namespace

agents::AgentSpec schema_of(const TaskInfo& info) {
    agents::ActionSpec actions;
    if (info.choices > 0)
        actions.discrete("action", info.choices);
    else
        actions.continuous("action", 1,
                           {static_cast<double>(info.low), static_cast<double>(info.high)});
    return agents::AgentSpec(agents::ObservationSpec().box("observation", info.observation_width),
                             std::move(actions));
}

std::optional<VectorEnv> make_simulation(std::string_view name) {
    const std::unique_ptr<Task> task = make_task(name);
    if (task == nullptr) return std::nullopt;
    VectorEnv s;
    s.state_size = task->info().state_width;
    s.max_episode_steps = task->info().step_limit;
    s.observe = observe_state;
    if (name == "CartPole") {
        s.reset = uniform_begin({-0.05f, -0.05f, -0.05f, -0.05f}, {0.05f, 0.05f, 0.05f, 0.05f});
        s.step = without_chance(step_cart_pole);
    } else if (name == "Acrobot") {
        s.reset = uniform_begin({-0.1f, -0.1f, -0.1f, -0.1f}, {0.1f, 0.1f, 0.1f, 0.1f});
        s.observe = observe_acrobot;
        s.step = without_chance(step_acrobot);
    } else if (name == "MountainCar") {
        s.reset = uniform_begin({-0.6f, 0}, {-0.4f, 0});
        s.step = without_chance(step_mountain_car);
    } else if (name == "MountainCarContinuous") {
        s.reset = uniform_begin({-0.6f, 0}, {-0.4f, 0});
        s.step = without_chance(step_mountain_car_continuous);
    } else {
        constexpr auto kHalfTurn = static_cast<float>(kPi);
        s.reset = uniform_begin({-kHalfTurn, -1}, {kHalfTurn, 1});
        s.observe = observe_pendulum;
        s.step = without_chance(step_pendulum);
    }
    return s;
}

}  // namespace hearth::classic
