// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The classic control tasks, with the constants and order of operations of Gymnasium 1.0, so that
// results match up to rounding.

#include "classic/task.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::classic {

namespace {

constexpr double kPi = std::numbers::pi;

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
    }

  private:
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t state_;
};

/// A cart on a rail balances a pole by pushing left (0) or right (1).
class CartPole final : public Task {
  public:
    const TaskInfo& info() const override {
        static constexpr TaskInfo kInfo{"CartPole", 4, 4, 2, 0, 0, 500, 475};
        return kInfo;
    }

    void reset(uint64_t seed) override {
        Random random(seed);
        for (double& s : state_) s = random.uniform(-0.05, 0.05);
    }

    Outcome step(float action) override {
        constexpr double kGravity = 9.8, kPoleMass = 0.1, kTotalMass = 1.1, kHalfLength = 0.5;
        constexpr double kPoleMassLength = kPoleMass * kHalfLength, kForce = 10, kSeconds = 0.02;
        auto& [x, x_speed, angle, angle_speed] = state_;
        const double force = action == 1.0f ? kForce : -kForce;
        const double cosine = std::cos(angle), sine = std::sin(angle);
        const double push =
            (force + kPoleMassLength * angle_speed * angle_speed * sine) / kTotalMass;
        const double angle_acceleration =
            (kGravity * sine - cosine * push) /
            (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kTotalMass));
        const double acceleration =
            push - kPoleMassLength * angle_acceleration * cosine / kTotalMass;
        x += kSeconds * x_speed;
        x_speed += kSeconds * acceleration;
        angle += kSeconds * angle_speed;
        angle_speed += kSeconds * angle_acceleration;
        constexpr double kMostAngle = 12 * 2 * kPi / 360;
        return {1, std::abs(x) > 2.4 || std::abs(angle) > kMostAngle};
    }

    void observe(std::span<float> out) const override {
        for (size_t i = 0; i < 4; ++i) out[i] = static_cast<float>(state_[i]);
    }
};

/// Two links hang from a joint; torque -1, 0 or 1 between them swings the tip above a line.
class Acrobot final : public Task {
  public:
    const TaskInfo& info() const override {
        static constexpr TaskInfo kInfo{"Acrobot", 4, 6, 3, 0, 0, 500, -100};
        return kInfo;
    }

    void reset(uint64_t seed) override {
        Random random(seed);
        for (double& s : state_) s = static_cast<float>(random.uniform(-0.1, 0.1));
    }

    Outcome step(float action) override {
        const double torque = static_cast<double>(action) - 1;
        // Classic Runge-Kutta of fourth order, one step.
        constexpr double kSeconds = 0.2;
        const State k1 = derivative(state_, torque);
        const State k2 = derivative(moved(state_, k1, kSeconds / 2), torque);
        const State k3 = derivative(moved(state_, k2, kSeconds / 2), torque);
        const State k4 = derivative(moved(state_, k3, kSeconds), torque);
        for (size_t i = 0; i < 4; ++i)
            state_[i] += kSeconds / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
        state_[0] = wrapped(state_[0]);
        state_[1] = wrapped(state_[1]);
        state_[2] = std::clamp(state_[2], -4 * kPi, 4 * kPi);
        state_[3] = std::clamp(state_[3], -9 * kPi, 9 * kPi);
        const bool is_up = -std::cos(state_[0]) - std::cos(state_[1] + state_[0]) > 1;
        return {is_up ? 0.0 : -1.0, is_up};
    }

    void observe(std::span<float> out) const override {
        out[0] = static_cast<float>(std::cos(state_[0]));
        out[1] = static_cast<float>(std::sin(state_[0]));
        out[2] = static_cast<float>(std::cos(state_[1]));
        out[3] = static_cast<float>(std::sin(state_[1]));
        out[4] = static_cast<float>(state_[2]);
        out[5] = static_cast<float>(state_[3]);
    }

  private:
    using State = std::array<double, kMaxStateWidth>;

    static State moved(const State& s, const State& direction, double by) {
        State out;
        for (size_t i = 0; i < 4; ++i) out[i] = s[i] + by * direction[i];
        return out;
    }

    static double wrapped(double angle) {
        while (angle > kPi) angle -= 2 * kPi;
        while (angle < -kPi) angle += 2 * kPi;
        return angle;
    }

    /// Dynamics of Sutton and Barto's book, with all masses, lengths and inertias 1.
    static State derivative(const State& s, double torque) {
        constexpr double kCentre = 0.5, kGravity = 9.8;
        const auto& [angle1, angle2, speed1, speed2] = s;
        const double d1 =
            kCentre * kCentre + (1 + kCentre * kCentre + 2 * kCentre * std::cos(angle2)) + 1 + 1;
        const double d2 = (kCentre * kCentre + kCentre * std::cos(angle2)) + 1;
        const double phi2 = kCentre * kGravity * std::cos(angle1 + angle2 - kPi / 2);
        const double phi1 = -kCentre * speed2 * speed2 * std::sin(angle2) -
                            2 * kCentre * speed2 * speed1 * std::sin(angle2) +
                            (kCentre + 1) * kGravity * std::cos(angle1 - kPi / 2) + phi2;
        const double acceleration2 =
            (torque + d2 / d1 * phi1 - kCentre * speed1 * speed1 * std::sin(angle2) - phi2) /
            (kCentre * kCentre + 1 - d2 * d2 / d1);
        const double acceleration1 = -(d2 * acceleration2 + phi1) / d1;
        return {speed1, speed2, acceleration1, acceleration2};
    }
};

/// A car too weak for its hill must build momentum: push left (0), not at all (1) or right (2).
class MountainCar final : public Task {
  public:
    const TaskInfo& info() const override {
        static constexpr TaskInfo kInfo{"MountainCar", 2, 2, 3, 0, 0, 200, -110};
        return kInfo;
    }

    void reset(uint64_t seed) override { state_ = {Random(seed).uniform(-0.6, -0.4), 0}; }

    Outcome step(float action) override {
        auto& [x, speed, unused2, unused3] = state_;
        speed += (static_cast<double>(action) - 1) * 0.001 + std::cos(3 * x) * -0.0025;
        speed = std::clamp(speed, -0.07, 0.07);
        x = std::clamp(x + speed, -1.2, 0.6);
        if (x == -1.2 && speed < 0) speed = 0;
        return {-1, x >= 0.5 && speed >= 0};
    }

    void observe(std::span<float> out) const override {
        for (size_t i = 0; i < 2; ++i) out[i] = static_cast<float>(state_[i]);
    }
};

/// MountainCar's car with a continuous force of -1 to 1. Its state is f32, as Gymnasium's with
/// NumPy 2.
class MountainCarContinuous final : public Task {
  public:
    const TaskInfo& info() const override {
        static constexpr TaskInfo kInfo{"MountainCarContinuous", 2, 2, 0, -1, 1, 999, 90};
        return kInfo;
    }

    void reset(uint64_t seed) override {
        state_ = {static_cast<float>(Random(seed).uniform(-0.6, -0.4)), 0};
    }

    Outcome step(float action) override {
        auto x = static_cast<float>(state_[0]), speed = static_cast<float>(state_[1]);
        const float force = std::clamp(action, -1.0f, 1.0f);
        const auto slope = static_cast<float>(0.0025 * std::cos(static_cast<double>(3.0f * x)));
        speed += force * 0.0015f - slope;
        speed = std::clamp(speed, -0.07f, 0.07f);
        x = std::clamp(x + speed, -1.2f, 0.6f);
        if (x == -1.2f && speed < 0) speed = 0;
        state_ = {x, speed};
        const bool is_there = x >= 0.45f && speed >= 0;
        const double cost = static_cast<double>(action) * static_cast<double>(action) * 0.1;
        return {(is_there ? 100.0 : 0.0) - cost, is_there};
    }

    void observe(std::span<float> out) const override {
        for (size_t i = 0; i < 2; ++i) out[i] = static_cast<float>(state_[i]);
    }
};

/// Swing a pendulum up by a torque of -2 to 2, and hold it there.
class Pendulum final : public Task {
  public:
    const TaskInfo& info() const override {
        static constexpr TaskInfo kInfo{"Pendulum", 2, 3, 0, -2, 2, 200, -200};
        return kInfo;
    }

    void reset(uint64_t seed) override {
        Random random(seed);
        const double angle = random.uniform(-kPi, kPi);
        state_ = {angle, random.uniform(-1, 1)};
    }

    Outcome step(float action) override {
        auto& [angle, speed, unused2, unused3] = state_;
        const float torque = std::clamp(action, -2.0f, 2.0f);
        const double turns = std::floor((angle + kPi) / (2 * kPi));
        const double off = angle + kPi - turns * 2 * kPi - kPi;
        const double cost =
            off * off + 0.1 * speed * speed + static_cast<double>(0.001f * (torque * torque));
        speed += (15 * std::sin(angle) + static_cast<double>(3.0f * torque)) * 0.05;
        speed = std::clamp(speed, -8.0, 8.0);
        angle += speed * 0.05;
        return {-cost, false};
    }

    void observe(std::span<float> out) const override {
        out[0] = static_cast<float>(std::cos(state_[0]));
        out[1] = static_cast<float>(std::sin(state_[0]));
        out[2] = static_cast<float>(state_[1]);
    }
};

}  // namespace

void Task::set_state(std::span<const double> state) {
    std::copy(state.begin(), state.end(), state_.begin());
}

std::unique_ptr<Task> make_task(std::string_view name) {
    if (name == "CartPole") return std::make_unique<CartPole>();
    if (name == "Acrobot") return std::make_unique<Acrobot>();
    if (name == "MountainCar") return std::make_unique<MountainCar>();
    if (name == "MountainCarContinuous") return std::make_unique<MountainCarContinuous>();
    if (name == "Pendulum") return std::make_unique<Pendulum>();
    return nullptr;
}

}  // namespace hearth::classic
