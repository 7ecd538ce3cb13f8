// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the static scenery around the circuit.

#include "scenery.hpp"

#include "random.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hearth::ghost_lap {
namespace {

using demo::Canvas;
using demo::Color;
using glm::vec2;

constexpr float kStep = 0.5f;  // metres between points along the track
constexpr uint64_t kScenerySeed = 7;

/// Bounds of the visible world, in metres.
constexpr vec2 kWorldMin{-120.0f, -75.0f};
constexpr vec2 kWorldMax{120.0f, 75.0f};

/// Uniform in [low, high), determined by the counter.
float random_between(uint64_t counter, float low, float high) {
    const float unit =
        0.5f * (scenes::random_signed(kScenerySeed, scenes::Stream::kWorld, counter) + 1.0f);
    return low + (high - low) * unit;
}

/// Points at a constant lateral offset over [begin, end] metres of track.
std::vector<vec2> edge(const Track& track, float lateral, float begin, float end) {
    const int count = std::max(2, static_cast<int>(std::ceil((end - begin) / kStep)) + 1);
    std::vector<vec2> points;
    points.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(count - 1);
        points.push_back(track.position(begin + (end - begin) * t, lateral));
    }
    return points;
}

void strip(Canvas& canvas, const Track& track, float inner, float outer, float begin, float end,
           Color color) {
    canvas.band(edge(track, inner, begin, end), edge(track, outer, begin, end), color);
}

/// A strip around the whole circuit.
void strip(Canvas& canvas, const Track& track, float inner, float outer, Color color) {
    strip(canvas, track, inner, outer, 0.0f, track.length(), color);
}

/// A strip that fades out towards `outer`.
void fading_strip(Canvas& canvas, const Track& track, float inner, float outer, Color color) {
    constexpr int kRings = 6;
    for (int i = 0; i < kRings; ++i) {
        const float t0 = static_cast<float>(i) / kRings;
        const float t1 = static_cast<float>(i + 1) / kRings;
        const float alpha = color.a * (1.0f - t0) * (1.0f - t0);
        strip(canvas, track, inner + (outer - inner) * t0, inner + (outer - inner) * t1,
              color.with_alpha(alpha));
    }
}

void draw_grass(Canvas& canvas) {
    // Mown in diagonal stripes.
    constexpr float kStripe = 7.0f;
    const vec2 along = glm::normalize(vec2(1.0f, 0.45f));
    const vec2 across{-along.y, along.x};
    for (int i = -20; i <= 20; i += 2) {
        const vec2 begin = across * (kStripe * static_cast<float>(i)) - along * 160.0f;
        const vec2 end = begin + along * 320.0f;
        canvas.quad(begin, end, end + across * kStripe, begin + across * kStripe,
                    Color::hex(0x48773f, 0.55f));
    }
    // Tufts, light and dark.
    for (uint64_t i = 0; i < 900; ++i) {
        const vec2 p{random_between(8 * i, kWorldMin.x, kWorldMax.x),
                     random_between(8 * i + 1, kWorldMin.y, kWorldMax.y)};
        const float size = random_between(8 * i + 2, 0.15f, 0.5f);
        const bool is_light = random_between(8 * i + 3, 0.0f, 1.0f) > 0.5f;
        canvas.disc(p, size, is_light ? Color::hex(0x6d9a53, 0.5f) : Color::hex(0x2c5030, 0.5f),
                    Color::hex(0x3f6b3c, 0.0f), 8);
    }
}

void draw_gravel(Canvas& canvas, const Track& track, const Corner& corner) {
    // A gravel trap at the outside of a corner, where a car that brakes too late ends up.
    if (std::abs(corner.turn) < 1.0f) return;
    const float side = corner.turn > 0.0f ? -1.0f : 1.0f;
    const float begin = corner.begin + 0.15f * corner.length;
    const float end = corner.begin + 0.95f * corner.length;
    constexpr int kLayers = 4;
    for (int layer = 0; layer < kLayers; ++layer) {
        const float reach = 2.25f - 0.12f * static_cast<float>(layer);
        const float inset = 0.06f * corner.length * static_cast<float>(kLayers - layer);
        std::vector<vec2> inner = edge(track, side * 1.0f, begin - inset, end + inset);
        std::vector<vec2> outer(inner.size());
        for (size_t i = 0; i < inner.size(); ++i) {
            const float t = static_cast<float>(i) / static_cast<float>(inner.size() - 1);
            const float bulge = std::sin(t * 3.14159265f);
            const float s = begin - inset + (end - begin + 2.0f * inset) * t;
            outer[i] = track.position(s, side * (1.0f + (reach - 1.0f) * std::sqrt(bulge)));
        }
        canvas.band(inner, outer, Color::hex(0xcdb98a, 0.35f));
    }
}

void draw_kerb(Canvas& canvas, const Track& track, float side, float begin, float end) {
    constexpr float kBlock = 1.1f;
    constexpr float kInner = 0.97f;
    constexpr float kOuter = 1.17f;
    strip(canvas, track, side * (kInner - 0.02f), side * (kOuter + 0.05f), begin - 0.15f,
          end + 0.15f, Color::hex(0x1d2a1c, 0.45f));
    const int count = std::max(2, static_cast<int>((end - begin) / kBlock));
    const float length = (end - begin) / static_cast<float>(count);
    for (int i = 0; i < count; ++i) {
        const float s = begin + length * static_cast<float>(i);
        const Color color = i % 2 == 0 ? Color::hex(0xd8432f) : Color::hex(0xf3eee4);
        strip(canvas, track, side * kInner, side * kOuter, s, s + length, color);
    }
}

void draw_start(Canvas& canvas, const Track& track) {
    // Two rows of squares across the road.
    constexpr int kSquares = 12;
    constexpr float kSize = 0.55f;
    for (int row = 0; row < 3; ++row) {
        for (int i = 0; i < kSquares; ++i) {
            const float begin = kSize * (static_cast<float>(row) - 1.5f);
            const float left = 1.9f * (static_cast<float>(i) / kSquares - 0.5f);
            const float right = 1.9f * (static_cast<float>(i + 1) / kSquares - 0.5f);
            strip(canvas, track, left, right, begin, begin + kSize,
                  (row + i) % 2 == 0 ? Color::hex(0xf5f2ea) : Color::hex(0x202226));
        }
    }
    // Grid boxes before the line.
    for (const float lateral : {-0.42f, 0.42f}) {
        const float front = -9.0f - (lateral > 0.0f ? 0.0f : 5.0f);
        const vec2 corners[] = {
            track.position(front - 2.6f, lateral - 0.3f), track.position(front, lateral - 0.3f),
            track.position(front, lateral + 0.3f), track.position(front - 2.6f, lateral + 0.3f)};
        canvas.stroke(corners, 0.16f, Color::hex(0xf5f2ea, 0.55f));
    }
}

void draw_road(Canvas& canvas, const Track& track) {
    fading_strip(canvas, track, 1.0f, 1.9f, Color::hex(0x1b2b1a, 0.28f));
    fading_strip(canvas, track, -1.0f, -1.9f, Color::hex(0x1b2b1a, 0.28f));
    strip(canvas, track, -1.0f, 1.0f, Color::hex(0x3b3e44));
    // Rubber along the driven line, and some dirt at the edges.
    for (const float width : {0.72f, 0.5f, 0.3f}) {
        strip(canvas, track, -width, width, Color::hex(0x2a2c31, 0.22f));
    }
    for (const float side : {-1.0f, 1.0f}) {
        strip(canvas, track, side * 0.86f, side * 0.99f, Color::hex(0x5a5a55, 0.35f));
        strip(canvas, track, side * 0.925f, side * 0.975f, Color::hex(0xf0eee6, 0.9f));
    }
    // Patches of newer asphalt.
    for (uint64_t i = 0; i < 26; ++i) {
        const float s = random_between(20000 + 4 * i, 0.0f, track.length());
        const float length = random_between(20001 + 4 * i, 1.5f, 6.0f);
        const float lateral = random_between(20002 + 4 * i, -0.8f, 0.6f);
        strip(canvas, track, lateral, lateral + 0.22f, s, s + length, Color::hex(0x26282c, 0.16f));
    }
}

void draw_tree(Canvas& canvas, vec2 p, float radius, uint64_t key) {
    canvas.disc(p + vec2(0.45f, -0.55f) * radius, radius * 1.25f, Color::hex(0x0f1d10, 0.55f),
                Color::hex(0x0f1d10, 0.0f), 20);
    const float tone = random_between(key, 0.0f, 1.0f);
    const Color dark = Color::hex(0x1f4a2c).mix(Color::hex(0x3d5a22), tone);
    const Color light = Color::hex(0x3f7a44).mix(Color::hex(0x7d9440), tone);
    canvas.disc(p, radius, dark.mix(light, 0.25f), dark, 20);
    for (uint64_t i = 0; i < 5; ++i) {
        const float angle = random_between(key + 1 + 2 * i, 0.0f, 6.2831853f);
        const float distance = random_between(key + 2 + 2 * i, 0.15f, 0.55f) * radius;
        const vec2 q =
            p + distance * vec2(std::cos(angle), std::sin(angle)) + vec2(-0.15f, 0.18f) * radius;
        canvas.disc(q, radius * 0.52f, light.with_alpha(0.75f), light.with_alpha(0.0f), 14);
    }
}

void draw_trees(Canvas& canvas, const Track& track) {
    for (uint64_t i = 0; i < 420; ++i) {
        const uint64_t key = 40000 + 32 * i;
        const vec2 p{random_between(key, kWorldMin.x, kWorldMax.x),
                     random_between(key + 1, kWorldMin.y, kWorldMax.y)};
        const float radius = random_between(key + 2, 1.0f, 2.3f);
        const float clearance =
            (std::abs(track.project(p).lateral) - 1.0f) * track.half_width() - radius;
        // Woods outside, single trees between the straights.
        if (clearance < 2.2f) continue;
        if (clearance < 7.0f && random_between(key + 3, 0.0f, 1.0f) > 0.45f) continue;
        draw_tree(canvas, p, radius, key + 4);
    }
}

void draw_tyre_wall(Canvas& canvas, const Track& track, const Corner& corner) {
    if (std::abs(corner.turn) < 1.2f) return;
    const float side = corner.turn > 0.0f ? -1.0f : 1.0f;
    const float begin = corner.begin + 0.2f * corner.length;
    const float end = corner.begin + 0.9f * corner.length;
    int index = 0;
    vec2 last{1e9f, 1e9f};
    for (float s = begin; s < end; s += 0.1f) {
        const vec2 p = track.position(s, side * 2.42f);
        if (glm::length(p - last) < 0.95f) continue;
        last = p;
        // Skip places that overlap another stretch of the road.
        if (std::abs(track.project(p).lateral) < 1.6f) continue;
        canvas.disc(p + vec2(0.2f, -0.25f), 0.62f, Color::hex(0x10160f, 0.5f),
                    Color::hex(0x10160f, 0.0f), 12);
        const bool is_red = (index++ / 3) % 2 == 0;
        const Color paint = is_red ? Color::hex(0xb8382a) : Color::hex(0xe9e5da);
        canvas.disc(p, 0.45f, paint, paint, 12);
        canvas.disc(p, 0.2f, Color::hex(0x22252a), Color::hex(0x22252a), 10);
    }
}

}  // namespace

void draw_scenery(Canvas& canvas, const Track& track) {
    const std::vector<Corner> corners = track.corners();
    draw_grass(canvas);
    for (const Corner& corner : corners) draw_gravel(canvas, track, corner);
    draw_road(canvas, track);
    for (const Corner& corner : corners) {
        const float inside = corner.turn > 0.0f ? 1.0f : -1.0f;
        const float end = corner.begin + corner.length;
        draw_kerb(canvas, track, inside, corner.begin + 0.12f * corner.length,
                  end - 0.12f * corner.length);
        draw_kerb(canvas, track, -inside, end - 0.3f * corner.length, end + 4.0f);
    }
    draw_start(canvas, track);
    for (const Corner& corner : corners) draw_tyre_wall(canvas, track, corner);
    draw_trees(canvas, track);
}

}  // namespace hearth::ghost_lap
