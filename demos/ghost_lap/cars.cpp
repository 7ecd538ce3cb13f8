// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the cars, their skid marks and their racing lines.

#include "cars.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth::ghost_lap {
namespace {

using demo::Canvas;
using demo::Color;
using glm::vec2;

constexpr float kHalfLength = 2.05f;  // metres
constexpr float kHalfWidth = 0.92f;
constexpr uint64_t kSkidFrames = 600;
constexpr uint64_t kPuffFrames = 45;

vec2 forward(float heading) {
    return {std::cos(heading), std::sin(heading)};
}

/// A coordinate system fixed to the car: x ahead, y to the left.
struct Body {
    vec2 position;
    float heading;
    vec2 at(float x, float y) const {
        const vec2 ahead = forward(heading);
        return position + ahead * x + vec2(-ahead.y, ahead.x) * y;
    }
    void box(Canvas& canvas, vec2 center, vec2 half, float corner, Color color,
             float turn = 0.0f) const {
        canvas.rounded_box(at(center.x, center.y), half, heading + turn, corner, color);
    }
};

}  // namespace

void Marks::add(const Racer& racer, Action action, uint64_t frame) {
    auto last = std::ranges::find(last_, &racer, &Last::racer);
    if (last == last_.end()) {
        last_.push_back({&racer, racer.car()});
        return;
    }
    const Car before = last->car;
    const Car& now = racer.car();
    last->car = now;
    if (glm::length(now.position - before.position) > 2.0f) return;  // it was put back

    const float turned = std::abs(now.heading - before.heading) * kFramesPerSecond;
    const float sideways = turned * now.speed / kGrip;  // share of the grip in use
    const bool brakes_hard = action.throttle < -0.5f && now.speed > 8.0f;
    const float strength =
        std::clamp((sideways - 0.82f) * 4.0f, 0.0f, 1.0f) * 0.7f + (brakes_hard ? 0.3f : 0.0f);
    const Body was{before.position, before.heading};
    const Body is{now.position, now.heading};
    if (racer.is_on_track() && strength > 0.05f) {
        skids_.push_back({{was.at(-1.3f, 0.72f), was.at(-1.3f, -0.72f)},
                          {is.at(-1.3f, 0.72f), is.at(-1.3f, -0.72f)},
                          strength,
                          frame});
    }
    if (!racer.is_on_track() && now.speed > 3.0f) {
        const float wiggle = frame % 2 == 0 ? 0.6f : -0.6f;
        puffs_.push_back({is.at(-2.0f, wiggle), forward(now.heading) * -0.02f * now.speed,
                          0.5f + 0.02f * now.speed, frame});
    }
    while (!skids_.empty() && frame - skids_.front().frame > kSkidFrames) skids_.pop_front();
    while (!puffs_.empty() && frame - puffs_.front().frame > kPuffFrames) puffs_.pop_front();
}

void Marks::draw(Canvas& canvas, uint64_t frame) const {
    for (const Skid& skid : skids_) {
        const float age = static_cast<float>(frame - skid.frame) / kSkidFrames;
        const Color color = Color::hex(0x14151a, 0.45f * skid.strength * (1.0f - age));
        for (int wheel = 0; wheel < 2; ++wheel) {
            const vec2 line[] = {skid.from[wheel], skid.to[wheel]};
            canvas.stroke(line, 0.26f, color);
        }
    }
    for (const Puff& puff : puffs_) {
        const float age = static_cast<float>(frame - puff.frame) / kPuffFrames;
        const vec2 p = puff.position + puff.drift * static_cast<float>(frame - puff.frame);
        canvas.disc(p, puff.size * (1.0f + 2.0f * age), Color::hex(0xd9c79c, 0.4f * (1.0f - age)),
                    Color::hex(0xd9c79c, 0.0f), 12);
    }
}

void Corrections::add(const Race& race) {
    // Bound the canvas; a wheel that is held for more than a minute draws its latest minutes.
    constexpr size_t kMostStrokes = 4, kMostPoints = 60 * kFramesPerSecond;
    const bool is_held = race.seat() == Seat::kGhost;
    const bool was_open = std::exchange(is_open_, is_held);
    if (!is_held) return;
    if (!was_open) strokes_.emplace_back();
    if (strokes_.back().size() == kMostPoints) strokes_.push_back({strokes_.back().back()});
    if (strokes_.size() > kMostStrokes) strokes_.pop_front();
    strokes_.back().push_back(race.ghost().car().position);
}

void Corrections::draw(Canvas& canvas) const {
    for (const std::vector<vec2>& stroke : strokes_)
        if (stroke.size() > 1) canvas.stroke(stroke, 0.6f, kTaughtColor.with_alpha(0.8f));
}

void draw_taken(Canvas& canvas, const Car& car, uint64_t frame) {
    // Pulses by frame number, not time, so that pictures are reproducible.
    const float beat = 0.5f + 0.5f * std::sin(static_cast<float>(frame % 30) * 0.20944f);
    canvas.ring(car.position, 3.4f + 0.5f * beat, 0.5f, kTaughtColor.with_alpha(0.95f), 40);
}

void draw_car(Canvas& canvas, const Car& car, Action action, Color color, bool is_ghost) {
    const Body body{car.position, car.heading};
    const float alpha = is_ghost ? 0.72f : 1.0f;
    const Color paint = color.with_alpha(alpha);
    const Color dark = color.mix(Color::hex(0x101418), 0.55f).with_alpha(alpha);
    const Color tyre = Color::hex(0x15171b, alpha);
    const Color glass = (is_ghost ? color.mix(Color::hex(0x06151c), 0.8f) : Color::hex(0x1b2a38))
                            .with_alpha(0.9f * alpha);

    if (is_ghost) {
        canvas.disc(car.position, 4.6f, color.with_alpha(0.34f), color.with_alpha(0.0f), 32);
    } else {
        // The sun is in the north-west.
        canvas.rounded_box(car.position + vec2(0.35f, -0.45f),
                           vec2(kHalfLength + 0.1f, kHalfWidth + 0.1f), car.heading, 0.6f,
                           Color::hex(0x0b0f0b, 0.42f));
    }
    // Wheels; the front ones follow the steering.
    const float turn = action.steer * 0.38f;
    for (const float side : {-1.0f, 1.0f}) {
        body.box(canvas, {1.22f, side * 0.86f}, {0.42f, 0.2f}, 0.08f, tyre, turn);
        body.box(canvas, {-1.25f, side * 0.88f}, {0.46f, 0.24f}, 0.08f, tyre);
    }
    // Wings, body, nose, cockpit.
    body.box(canvas, {1.92f, 0.0f}, {0.2f, 0.95f}, 0.08f, dark);
    body.box(canvas, {-0.15f, 0.0f}, {1.75f, 0.72f}, 0.45f, paint);
    body.box(canvas, {1.25f, 0.0f}, {0.85f, 0.34f}, 0.3f, paint);
    body.box(canvas, {-0.1f, 0.0f}, {1.55f, 0.12f}, 0.08f,
             Color::hex(0xffffff, is_ghost ? 0.5f : 0.85f));
    body.box(canvas, {0.1f, 0.0f}, {0.55f, 0.42f}, 0.2f, glass);
    const vec2 helmet = body.at(-0.12f, 0.0f);
    canvas.disc(helmet, 0.27f, Color::hex(0xf6f3ea, alpha), color.with_alpha(alpha), 14);
    body.box(canvas, {-1.85f, 0.0f}, {0.22f, 0.92f}, 0.08f, dark);
    if (action.throttle < -0.1f) {
        for (const float side : {-1.0f, 1.0f}) {
            const vec2 lamp = body.at(-2.02f, side * 0.6f);
            canvas.disc(lamp, 0.95f, Color::hex(0xff2a1a, 0.75f), Color::hex(0xff2a1a, 0.0f), 14);
        }
    }
}

void draw_lines(Canvas& canvas, const Track& track, const Line* player, const Line* ghost) {
    constexpr int kPointsPerBin = 3;
    constexpr int kCount = kLineBins * kPointsPerBin;
    const auto points_of = [&](const Line& line) {
        std::vector<vec2> points(kCount);
        for (int i = 0; i < kCount; ++i) {
            // A bin's value is located at its center.
            const float bin = static_cast<float>(i) / kPointsPerBin;
            const float at = std::floor(bin - 0.5f);
            const float t = bin - 0.5f - at;
            const auto index = [](float b) {
                return (static_cast<size_t>(static_cast<int>(b) + kLineBins)) % kLineBins;
            };
            const float lateral = line[index(at)] * (1.0f - t) + line[index(at + 1.0f)] * t;
            points[static_cast<size_t>(i)] =
                track.position(track.length() * bin / kLineBins, lateral);
        }
        return points;
    };
    std::vector<vec2> driven;
    std::vector<vec2> learnt;
    if (player) driven = points_of(*player);
    if (ghost) learnt = points_of(*ghost);
    if (player && ghost) {
        std::vector<vec2> left = driven;
        std::vector<vec2> right = learnt;
        left.push_back(driven.front());
        right.push_back(learnt.front());
        canvas.band(left, right, Color::hex(0xf7e36a, 0.30f));
    }
    if (player) canvas.stroke(driven, 0.42f, kPlayerColor.with_alpha(0.75f), true);
    if (ghost) canvas.stroke(learnt, 0.17f, kGhostColor.with_alpha(0.95f), true);
}

}  // namespace hearth::ghost_lap
