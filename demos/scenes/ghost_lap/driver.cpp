// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scripted drivers. Steering: R. C. Coulter, "Implementation of the Pure Pursuit Path Tracking
// Algorithm", 1992. Speed: the corner limit v^2 |k| = grip, then one backward pass v^2 <= v_next^2
// + 2 b ds, the usual forward-backward integration of lap-time simulation without the forward half.

#include "ghost_lap/driver.hpp"

#include "random.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::ghost_lap {
namespace {

constexpr DrivingStyle kStyles[] = {
    {.name = "smooth",
     .line = -0.25f,
     .apex = 0.25f,
     .corner_grip = 0.75f,
     .braking = 0.55f,
     .top_speed = 29.0f,
     .wobble = 0.15f},
    {.name = "late",
     .line = 0.35f,
     .apex = -0.10f,
     .corner_grip = 0.95f,
     .braking = 0.90f,
     .top_speed = 33.0f,
     .wobble = 0.20f},
    {.name = "tidy",
     .line = 0.00f,
     .apex = 0.35f,
     .corner_grip = 0.85f,
     .braking = 0.70f,
     .top_speed = 31.0f,
     .wobble = 0.10f},
    {.name = "wide",
     .line = 0.15f,
     .apex = -0.25f,
     .corner_grip = 0.75f,
     .braking = 0.60f,
     .top_speed = 28.0f,
     .wobble = 0.20f},
    {.name = "sloppy",
     .line = -0.50f,
     .apex = 0.00f,
     .corner_grip = 0.85f,
     .braking = 0.75f,
     .top_speed = 31.0f,
     .wobble = 0.35f},
};

constexpr int kPlanSteps = 512;           // steps of the driver's plan around the lap
constexpr float kApexCurvature = 0.14f;   // 1/m at which the driver uses the whole apex
constexpr float kApexSmoothing = 5.5f;    // metres to either side
constexpr float kPursuitMetres = 2.0f;    // look-ahead distance at standstill
constexpr float kPursuitSeconds = 0.22f;  // additional look-ahead per m/s
constexpr float kPedalSeconds = 0.1f;     // look-ahead time of the pedals
constexpr float kPedalGain = 0.5f;        // throttle per m/s of missing speed

DrivingStyle too_wide(DrivingStyle style, const Corner& corner) {
    constexpr float kMostLine = 0.7f;  // still on the track
    const float outside = std::copysign(Coach::kTooWide, -corner.turn);
    style.line = std::clamp(style.line + outside, -kMostLine, kMostLine);
    return style;
}

}  // namespace

std::span<const DrivingStyle> driving_styles() {
    return kStyles;
}

const DrivingStyle* find_driving_style(std::string_view name) {
    for (const DrivingStyle& style : kStyles)
        if (style.name == name) return &style;
    return nullptr;
}

ScriptedDriver::ScriptedDriver(const Track& track, const DrivingStyle& style, uint64_t seed)
    : track_(&track), style_(style), seed_(seed), line_(kPlanSteps), speed_(kPlanSteps) {
    const float spacing = track.length() / kPlanSteps;
    const int reach = static_cast<int>(kApexSmoothing / spacing);
    for (int i = 0; i < kPlanSteps; ++i) {
        float curvature = 0.0f;  // mean over the window
        for (int j = -reach; j <= reach; ++j)
            curvature += track.curvature(static_cast<float>(i + j) * spacing);
        curvature /= static_cast<float>(2 * reach + 1);
        line_[i] = style.line + style.apex * std::clamp(curvature / kApexCurvature, -1.0f, 1.0f);

        const float centre = track.curvature(static_cast<float>(i) * spacing);
        const float radius = 1.0f / std::max(std::abs(centre), 1e-3f) -
                             std::copysign(1.0f, centre) * line_[i] * track.half_width();
        speed_[i] = std::min(style.top_speed,
                             std::sqrt(style.corner_grip * kGrip * std::max(radius, 2.0f)));
    }
    for (int i = 2 * kPlanSteps - 1; i >= 0; --i) {
        const float next = speed_[(i + 1) % kPlanSteps];
        const float reachable = std::sqrt(next * next + 2.0f * style.braking * kBraking * spacing);
        speed_[i % kPlanSteps] = std::min(speed_[i % kPlanSteps], reachable);
    }
}

float ScriptedDriver::line_at(float progress) const {
    return line_[static_cast<size_t>(track_->wrap(progress) / track_->length() * kPlanSteps)];
}

float ScriptedDriver::target_speed(float progress) const {
    return speed_[static_cast<size_t>(track_->wrap(progress) / track_->length() * kPlanSteps)];
}

Action ScriptedDriver::drive(const Racer& racer, uint64_t frame) {
    const Car& car = racer.car();
    const float here = racer.where().progress;
    const float ahead = here + kPursuitMetres + kPursuitSeconds * car.speed;
    const glm::vec2 to_target = track_->position(ahead, line_at(ahead)) - car.position;
    const glm::vec2 left(-std::sin(car.heading), std::cos(car.heading));
    const float curvature = 2.0f * glm::dot(to_target, left) / glm::dot(to_target, to_target);
    const float missing = target_speed(here + kPedalSeconds * car.speed) - car.speed;
    const float wobble = style_.wobble * scenes::random_signed(seed_, scenes::Stream::kDriver,
                                                               frame / kWobbleFrames);
    return clamp_action({steer_for_curvature(curvature, car.speed) + wobble, kPedalGain * missing});
}

Coach::Coach(const Track& track, const DrivingStyle& style, const Corner& corner, uint64_t seed)
    : corner_(corner), right_(track, style, seed), wrong_(track, too_wide(style, corner), seed) {}

bool Coach::is_in_corner(const Racer& racer) const {
    const float into = racer.track().wrap(racer.where().progress - corner_.begin + kTurnInMetres);
    return into <= kTurnInMetres + corner_.length;
}

Seat Coach::seat(const Race& race) {
    const size_t lap = race.ghost().laps().size();
    const bool teaches = race.ghost_is_driving() && lap >= kWatchedLaps &&
                         lap < kWatchedLaps + kTaughtLaps && is_in_corner(race.ghost());
    is_at_ghosts_wheel_ = teaches;
    if (teaches) return Seat::kGhost;
    return race.ghost_is_driving() ? Seat::kNone : Seat::kOwnCar;
}

Action Coach::drive(const Racer& racer, uint64_t frame) {
    const bool is_wrong = !is_at_ghosts_wheel_ && is_in_corner(racer);
    return (is_wrong ? wrong_ : right_).drive(racer, frame);
}

Line driven_line(const Track& track, Driver& driver) {
    Racer racer(track, 0.0f, false);
    std::vector<Line> lines;
    for (uint64_t frame = 0; racer.laps().size() < 3; ++frame)
        racer.step(driver.drive(racer, frame));
    for (const Lap& lap : racer.laps()) lines.push_back(lap.line);
    return mean_line(lines);
}

}  // namespace hearth::ghost_lap
