// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the clearing, the fire, the creatures and their effects.

#include "picture.hpp"

#include "random.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace hearth::hatchlings {
namespace {

using demo::Canvas;
using demo::Color;
using glm::vec2;

constexpr float kPi = 3.14159265f;
constexpr uint64_t kScenerySeed = 11;
constexpr vec2 kFire = {0, 0};
constexpr float kLightReach = 15.0f;  // metres from the fire to darkness

float between(uint64_t counter, float low, float high) {
    const float unit =
        0.5f * (scenes::random_signed(kScenerySeed, scenes::Stream::kWorld, counter) + 1.0f);
    return low + (high - low) * unit;
}

float length(vec2 v) {
    return std::sqrt(glm::dot(v, v));
}

/// Light intensity: 1 at the fire, 0 at kLightReach.
float light_at(vec2 position) {
    const float t = std::clamp(length(position - kFire) / kLightReach, 0.0f, 1.0f);
    return (1 - t) * (1 - t);
}

/// An oscillation in [-1, 1]; `phase` distinguishes objects.
float wave(uint64_t frame, float hertz, float phase) {
    return std::sin(2 * kPi * hertz * static_cast<float>(frame) * kFrameSeconds + phase);
}

// --- The ground ----------------------------------------------------------------------------------

void draw_ground(Canvas& canvas) {
    canvas.disc(kFire, 26.0f, Color::hex(0x1f2c22), Color::hex(0x0a1012), 64);
    canvas.disc(kFire, 15.0f, Color::hex(0x4a4526, 0.85f), Color::hex(0x2a3322, 0.0f), 64);
    canvas.disc(kFire, 8.0f, Color::hex(0x94602a, 0.60f), Color::hex(0x5a4626, 0.0f), 64);
    canvas.disc(kFire, 3.4f, Color::hex(0xffa94a, 0.55f), Color::hex(0xc4752e, 0.0f), 48);
}

void draw_tufts(Canvas& canvas) {
    for (uint64_t i = 0; i < 1500; ++i) {
        const vec2 p{between(16 * i, -1.15f, 1.15f) * kHalfSize.x,
                     between(16 * i + 1, -1.2f, 1.2f) * kHalfSize.y};
        const float light = light_at(p), distance = length(p);
        if (distance < 1.9f) continue;
        const float tall = between(16 * i + 2, 0.12f, 0.34f);
        const Color dark = Color::hex(0x0c1613, 0.55f);
        const Color lit = Color::hex(0x26382a).mix(Color::hex(0xb98a3c), light).with_alpha(0.75f);
        const vec2 root = p, away = p / distance;
        for (int blade = 0; blade < 3; ++blade) {
            const float lean = 0.10f * static_cast<float>(blade - 1);
            const vec2 tip = root + vec2(lean, tall * (blade == 1 ? 1.0f : 0.8f));
            const vec2 across{0.022f, 0.0f};
            canvas.triangle(root - across, root + across, tip, lit);
        }
        canvas.ellipse(root + away * 0.10f, {0.14f, 0}, {0, 0.045f}, dark, dark.with_alpha(0), {},
                       8);
    }
    // Flowers and pebbles.
    for (uint64_t i = 0; i < 150; ++i) {
        const uint64_t at = 100'000 + 16 * i;
        const vec2 p{between(at, -1.0f, 1.0f) * kHalfSize.x,
                     between(at + 1, -1.0f, 1.0f) * kHalfSize.y};
        if (length(p) < 2.2f) continue;
        const float light = 0.25f + 0.75f * light_at(p);
        constexpr std::array<uint32_t, 4> kPetals = {0xe9d8ff, 0xffd9c2, 0xfff2b8, 0x9aa39a};
        const Color petal =
            kNight.mix(Color::hex(kPetals[static_cast<size_t>(i) % kPetals.size()]), light);
        if (i % 4 == 3) {
            canvas.ellipse(p, {between(at + 2, 0.08f, 0.2f), 0}, {0, 0.08f}, petal,
                           kNight.mix(petal, 0.5f), {-0.3f, 0.4f}, 10);
            continue;
        }
        for (int k = 0; k < 5; ++k) {
            const float angle = 2 * kPi * static_cast<float>(k) / 5 + between(at + 3, 0, 1);
            canvas.disc(p + 0.07f * vec2(std::cos(angle), std::sin(angle)), 0.05f, petal,
                        petal.with_alpha(0.6f), 6);
        }
        canvas.disc(p, 0.04f, Color::hex(0xffcf5a, 0.9f), Color::hex(0xffcf5a, 0.7f), 6);
    }
}

void draw_tree(Canvas& canvas, vec2 root, float size, uint64_t seed) {
    const vec2 to_fire = (kFire - root) / length(kFire - root);
    const float light = light_at(root * 0.8f);
    canvas.ellipse(root - to_fire * (0.35f * size), {size * 0.95f, 0}, {0, size * 0.5f},
                   Color::hex(0x05090a, 0.8f), Color::hex(0x05090a, 0.0f));
    // A fir seen from above and slightly from the south: tiers, the upper ones smaller and lighter.
    for (int tier = 0; tier < 4; ++tier) {
        const float t = static_cast<float>(tier) / 3.0f;
        const float radius = size * (1.0f - 0.72f * t);
        const vec2 center = root + vec2(0.0f, size * 0.55f * t);
        const Color shade = Color::hex(0x0b1715).mix(Color::hex(0x1c3327), t);
        const Color lit = shade.mix(Color::hex(0xa8692c), 0.10f + 0.9f * light * (0.4f + 0.6f * t));
        constexpr int kPoints = 14;
        std::array<vec2, 2 * kPoints> star;
        for (size_t k = 0; k < star.size(); ++k) {
            const float angle =
                kPi * static_cast<float>(k) / kPoints + static_cast<float>(seed) * 1.7f;
            const float reach = k % 2 == 0 ? radius : radius * 0.78f;
            star[k] = center + reach * vec2(std::cos(angle), 0.86f * std::sin(angle));
        }
        for (size_t k = 0; k < star.size(); ++k)
            canvas.triangle(center, star[k], star[(k + 1) % star.size()], shade);
        canvas.ellipse(center + to_fire * (0.35f * radius), {radius * 0.62f, 0},
                       {0, radius * 0.55f}, lit.with_alpha(0.75f), lit.with_alpha(0.0f));
    }
}

void draw_forest(Canvas& canvas) {
    struct Tree {
        vec2 root;
        float size;
        uint64_t seed;
    };
    std::vector<Tree> trees;
    for (uint64_t i = 0; i < 420; ++i) {
        const uint64_t at = 200'000 + 8 * i;
        const vec2 p{between(at, -1.75f, 1.75f) * kHalfSize.x,
                     between(at + 1, -2.0f, 2.0f) * kHalfSize.y};
        const vec2 beyond = glm::vec2(std::abs(p.x), std::abs(p.y)) - kHalfSize;
        if (beyond.x < 1.2f && beyond.y < 1.1f) continue;
        trees.push_back({p, between(at + 2, 0.9f, 1.7f), i});
    }
    std::ranges::sort(trees, [](const Tree& a, const Tree& b) { return a.root.y > b.root.y; });
    for (const Tree& tree : trees) draw_tree(canvas, tree.root, tree.size, tree.seed);
}

void draw_hearth(Canvas& canvas) {
    canvas.disc(kFire, 1.5f, Color::hex(0x1a0f08, 0.9f), Color::hex(0x2a1a0e, 0.0f), 32);
    for (int i = 0; i < 13; ++i) {
        const float angle = 2 * kPi * static_cast<float>(i) / 13;
        const vec2 out{std::cos(angle), std::sin(angle)};
        const vec2 p = kFire + 1.12f * out, along{-out.y, out.x};
        const float size = between(300'000 + static_cast<uint64_t>(i), 0.19f, 0.27f);
        canvas.ellipse(p + 0.06f * out, along * (size * 1.2f), out * size,
                       Color::hex(0x0c0b0a, 0.8f), Color::hex(0x0c0b0a, 0.3f), {}, 12);
        canvas.ellipse(p, along * (size * 1.15f), out * (size * 0.9f), Color::hex(0xd8a06a),
                       Color::hex(0x4d4138), {0.0f, -0.6f}, 12);
    }
}

// --- Lights --------------------------------------------------------------------------------------

void draw_fire(Canvas& canvas, uint64_t frame) {
    const float breath = 1.0f + 0.05f * wave(frame, 1.3f, 0) + 0.04f * wave(frame, 3.1f, 1);
    canvas.disc(kFire, 4.2f * breath, Color::hex(0xffb04a, 0.30f), Color::hex(0xff8a2a, 0.0f), 40);
    for (int log = 0; log < 4; ++log) {
        const float angle = kPi * (0.12f + 0.25f * static_cast<float>(log));
        canvas.rounded_box(kFire, {0.78f, 0.13f}, angle, 0.12f, Color::hex(0x3a2114));
        canvas.rounded_box(kFire + vec2(0, 0.03f), {0.7f, 0.06f}, angle, 0.05f,
                           Color::hex(0x8a4a1e));
    }
    struct Tongue {
        float x, height, width, hertz;
        uint32_t color;
    };
    constexpr Tongue kTongues[] = {
        {-0.36f, 0.9f, 0.30f, 2.3f, 0xe8501c},  {0.34f, 0.95f, 0.30f, 2.7f, 0xe8501c},
        {-0.16f, 1.35f, 0.34f, 1.9f, 0xff7a22}, {0.18f, 1.25f, 0.32f, 2.2f, 0xff7a22},
        {0.0f, 1.15f, 0.28f, 2.9f, 0xffb03a},   {-0.05f, 0.75f, 0.20f, 3.3f, 0xffe08a},
    };
    float phase = 0;
    for (const Tongue& t : kTongues) {
        phase += 1.3f;
        const float sway = 0.14f * wave(frame, t.hertz, phase);
        const float tall = t.height * (1.0f + 0.16f * wave(frame, 1.7f * t.hertz, 2 * phase));
        std::array<vec2, 13> left, right;
        std::array<Color, 13> colors;
        for (size_t i = 0; i < left.size(); ++i) {
            const float s = static_cast<float>(i) / static_cast<float>(left.size() - 1);
            const float bulge = std::sin(kPi * std::sqrt(0.04f + 0.96f * s)) + 0.02f;
            const vec2 middle =
                kFire + vec2(t.x * (1 - 0.5f * s) + sway * s * s, -0.15f + tall * s);
            left[i] = middle - vec2(t.width * bulge, 0);
            right[i] = middle + vec2(t.width * bulge, 0);
            colors[i] = Color::hex(t.color, 0.85f * (1 - s * s));
        }
        canvas.band(left, right, colors);
    }
    // Sparks that rise from the fire.
    for (int i = 0; i < 14; ++i) {
        const auto n = static_cast<uint64_t>(i);
        const float period = between(400'000 + n, 1.2f, 2.6f);
        const float age = std::fmod(
            static_cast<float>(frame) * kFrameSeconds / period + 0.37f * static_cast<float>(i),
            1.0f);
        const vec2 p = kFire + vec2(0.5f * std::sin(7.0f * age + static_cast<float>(i)) +
                                        between(410'000 + n, -0.4f, 0.4f),
                                    0.4f + 3.4f * age);
        const Color color = Color::hex(0xffc76a, 0.9f * (1 - age));
        canvas.disc(p, 0.05f, color, color.with_alpha(0), 8);
    }
}

void draw_ember(Canvas& canvas, const Drifter& ember, uint64_t frame, float phase, bool is_hot) {
    const float grown = std::min(1.0f, ember.age_s / 0.6f);
    const float pulse = 1.0f + 0.15f * wave(frame, 1.1f, phase);
    const float r = kEmberRadius * grown;
    const Color halo = is_hot ? Color::hex(0xff3a1a) : Color::hex(0xff9a3a);
    canvas.disc(ember.position, 4.2f * r * pulse, halo.with_alpha(0.42f), halo.with_alpha(0.0f));
    const float speed = length(ember.velocity);
    if (speed > 0.05f)
        for (int i = 1; i <= 4; ++i) {
            const float t = static_cast<float>(i) / 4;
            const vec2 p = ember.position - ember.velocity * (0.55f * t);
            canvas.disc(p, r * (0.7f - 0.45f * t), halo.with_alpha(0.5f * (1 - t)),
                        halo.with_alpha(0.0f), 10);
        }
    canvas.disc(ember.position, r, Color::hex(0xfff3c4), is_hot ? Color::hex(0xff4a22) : kWarm, 20);
}

void draw_mote(Canvas& canvas, const Drifter& mote, uint64_t frame, float phase) {
    const float grown = std::min(1.0f, mote.age_s / 0.6f);
    const float r = kMoteRadius * grown;
    canvas.disc(mote.position, 3.0f * r, kCold.with_alpha(0.30f), kCold.with_alpha(0.0f));
    canvas.disc(mote.position, r, Color::hex(0xdff3ff, 0.55f), Color::hex(0x6fb8ef, 0.10f), 24);
    const float turn = phase + 0.5f * static_cast<float>(frame) * kFrameSeconds;
    for (int arm = 0; arm < 6; ++arm) {
        const float angle = turn + kPi * static_cast<float>(arm) / 3;
        const vec2 out{std::cos(angle), std::sin(angle)}, side{-out.y, out.x};
        const vec2 tip = mote.position + out * (r * 1.05f),
                   fork = mote.position + out * (r * 0.62f);
        const vec2 line[] = {mote.position, tip};
        const vec2 barb[] = {fork + (out * 0.22f + side * 0.25f) * r, fork,
                             fork + (out * 0.22f - side * 0.25f) * r};
        canvas.stroke(line, 0.06f * grown, Color::hex(0xf2fbff, 0.95f));
        canvas.stroke(barb, 0.05f * grown, Color::hex(0xf2fbff, 0.85f));
    }
}

// --- Hatchlings ----------------------------------------------------------------------------------

constexpr std::array<uint32_t, 8> kFeathers = {0xf6d7a0, 0xf2b98a, 0xe9cfd8, 0xcfe0b4,
                                               0xf4e2b8, 0xd9c2f0, 0xf0a890, 0xbfd9e0};

/// A hatchling's local coordinates: it stands upright and leans in its direction of motion.
struct Body {
    vec2 center;
    float size;
    float facing;  // -1 to the left, 1 to the right, and between while it turns
    float lean;
    vec2 at(float x, float y) const {
        const float turned = facing * x;
        return center + size * vec2(turned + lean * y, y);
    }
};

void draw_eyes(Canvas& canvas, const Body& body, vec2 gaze, bool is_shut, float alpha) {
    for (const float side : {-1.0f, 1.0f}) {
        const vec2 eye =
            body.center +
            body.size * vec2(0.30f * body.facing + side * 0.26f + body.lean * 0.3f, 0.30f);
        if (is_shut) {
            const vec2 lid[] = {eye + body.size * vec2(-0.13f, 0.02f),
                                eye + body.size * vec2(0, -0.05f),
                                eye + body.size * vec2(0.13f, 0.02f)};
            canvas.stroke(lid, 0.06f * body.size, Color::hex(0x2a1c18, alpha));
            continue;
        }
        canvas.ellipse(eye, {body.size * 0.17f, 0}, {0, body.size * 0.21f},
                       Color::hex(0xffffff, alpha), Color::hex(0xf2ece0, alpha), {}, 14);
        const vec2 pupil = eye + body.size * 0.075f * gaze;
        canvas.ellipse(pupil, {body.size * 0.105f, 0}, {0, body.size * 0.14f},
                       Color::hex(0x241813, alpha), Color::hex(0x1a110e, alpha), {}, 12);
        canvas.disc(pupil + body.size * vec2(0.035f, 0.05f), body.size * 0.04f,
                    Color::hex(0xffffff, alpha), Color::hex(0xffffff, 0.8f * alpha), 6);
    }
}

void draw_thought(Canvas& canvas, const Hatchling& h, const Thought& thought) {
    const float radius = kHatchlingRadius * (1.5f + 1.6f * std::clamp(thought.doubt, 0.0f, 1.5f));
    if (thought.doubt > 0) {
        canvas.disc(h.position, radius, kWarm.with_alpha(0.0f), Color::hex(0xd8b4ff, 0.10f), 28);
        canvas.ring(h.position, radius, 0.035f, Color::hex(0xd8b4ff, 0.45f), 40);
    }
    const float strength = std::min(length(thought.intention), 1.0f);
    if (strength < 0.05f) return;
    const vec2 along = thought.intention / length(thought.intention), across{-along.y, along.x};
    const vec2 begin = h.position + along * 0.55f, end = begin + along * (0.35f + 1.0f * strength);
    const vec2 line[] = {begin, end};
    const Color colors[] = {Color::hex(0xd8b4ff, 0.0f), Color::hex(0xe6ccff, 0.9f)};
    canvas.stroke(line, 0.11f, colors);
    canvas.triangle(end + along * 0.24f, end + across * 0.15f, end - across * 0.15f,
                    Color::hex(0xe6ccff, 0.95f));
}

/// Smooths with a separable 1 2 1 kernel: embers that enter or leave view cause steps, which would
/// show as bars.
std::vector<float> smoothed(std::span<const float> values, int columns, int rows) {
    std::vector<float> out;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            float sum = 0;
            for (int y = -1; y <= 1; ++y)
                for (int x = -1; x <= 1; ++x) {
                    const int from_row = std::clamp(row + y, 0, rows - 1);
                    const int from_column = std::clamp(column + x, 0, columns - 1);
                    const auto weight = static_cast<float>((2 - y * y) * (2 - x * x));
                    sum += weight * values[static_cast<size_t>(from_row * columns + from_column)];
                }
            out.push_back(sum / 16);
        }
    return out;
}

}  // namespace

void draw_clearing(Canvas& canvas) {
    draw_ground(canvas);
    draw_tufts(canvas);
    draw_hearth(canvas);
    draw_forest(canvas);
}

void draw_hopes(Canvas& canvas, std::span<const float> hopes, int columns, int rows) {
    if (hopes.size() < static_cast<size_t>(columns * rows) || columns < 2 || rows < 2) return;
    const std::vector<float> values = smoothed(hopes, columns, rows);
    const auto [low, high] = std::ranges::minmax(values);
    const float range = std::max(high - low, 1e-6f);
    // Overlapping soft discs interpolate between grid points.
    const vec2 cell =
        2.0f * kHalfSize / vec2(static_cast<float>(columns - 1), static_cast<float>(rows - 1));
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const float t = (values[static_cast<size_t>(row * columns + column)] - low) / range;
            const vec2 place =
                cell * vec2(static_cast<float>(column), static_cast<float>(row)) - kHalfSize;
            // Medium values stay dark, high ones glow warm, low ones cold.
            const float warm = std::max(0.0f, 2 * t - 1), cold = std::max(0.0f, 1 - 2 * t);
            const Color color =
                warm > 0 ? Color::hex(0xffb83a, 0.34f * warm) : Color::hex(0x3a6ad0, 0.22f * cold);
            canvas.disc(place, 1.5f * std::max(cell.x, cell.y), color, color.with_alpha(0), 16);
        }
}

void draw_hatchling(Canvas& canvas, const Hatchling& h, uint32_t index, uint64_t frame,
                    const CreatureLook& look) {
    const float a = look.alpha, phase = 1.7f * static_cast<float>(index);
    const float speed = length(h.velocity) / kTopSpeed;
    const bool is_chilled = h.chilled_s > 0;
    const float light = light_at(h.position);
    const vec2 from_fire =
        length(h.position) > 0.1f ? h.position / length(h.position) : vec2(0, -1);

    if (look.thought) draw_thought(canvas, h, *look.thought);
    if (look.is_selected || look.is_possessed)
        canvas.ring(h.position, 0.72f + 0.04f * wave(frame, 1.0f, 0), 0.07f,
                    (look.is_possessed ? kWarm : Color::hex(0xffffff)).with_alpha(0.9f), 32);
    if (h.glow > 0)
        canvas.disc(h.position, 1.3f * (1.4f - 0.4f * h.glow), kWarm.with_alpha(0.55f * h.glow * a),
                    kWarm.with_alpha(0.0f), 28);

    // Squash and stretch along each hop.
    const float hop =
        is_chilled ? 0.0f
                   : std::abs(wave(frame, 1.6f + 1.2f * speed, phase)) * std::min(1.0f, 3 * speed);
    const float squash =
        1.0f + 0.10f * (hop - 0.4f) * std::min(1.0f, 3 * speed) + 0.02f * wave(frame, 0.6f, phase);
    const float turn = std::clamp(h.velocity.x / (0.25f * kTopSpeed), -1.0f, 1.0f);
    const Body body{h.position + vec2(0, 0.10f * hop), 1.62f * kHatchlingRadius, turn,
                    std::clamp(-0.22f * h.velocity.x / kTopSpeed, -0.3f, 0.3f)};
    const float s = body.size;

    canvas.ellipse(h.position + from_fire * 0.22f - vec2(0, 0.30f), {0.48f, 0}, {0, 0.20f},
                   Color::hex(0x030606, 0.62f * a * (1 - 0.4f * hop)), Color::hex(0x030606, 0.0f));

    Color feather = Color::hex(kFeathers[index % kFeathers.size()]);
    feather = feather.mix(Color::hex(0x47606a), 0.34f * (1 - light)).mix(kWarm, 0.22f * light);
    if (is_chilled) feather = feather.mix(Color::hex(0x9fd4f5), 0.65f);
    const Color shade = feather.mix(Color::hex(0x2a1c22), 0.36f);
    const Color rim = shade.with_alpha(a),
                lit = feather.mix(Color::hex(0xffffff), 0.25f).with_alpha(a);

    // Feet, tail, body, wing, belly, crest, beak, eyes.
    for (const float side : {-1.0f, 1.0f}) {
        const float step =
            0.12f * wave(frame, 2.6f, phase + side * kPi / 2) * std::min(1.0f, 4 * speed);
        canvas.ellipse(h.position + s * vec2(side * 0.34f + step, -0.80f), {s * 0.20f, 0},
                       {0, s * 0.11f}, Color::hex(0xe08a3a, a), Color::hex(0x9a5420, a), {}, 10);
    }
    canvas.triangle(body.at(-0.62f, -0.25f), body.at(-1.15f, 0.16f), body.at(-0.66f, 0.18f), rim);
    // Lit on the side of the fire.
    canvas.ellipse(body.center - vec2(0, 0.05f * s), {s * 0.86f / squash, 0},
                   vec2(body.lean * s, s * 0.88f * squash), lit, rim,
                   {-0.45f * from_fire.x, 0.25f - 0.3f * from_fire.y}, 28);
    canvas.ellipse(body.at(0.16f, -0.34f), {s * 0.48f, 0}, {0, s * 0.40f},
                   feather.mix(Color::hex(0xfff6e2), 0.65f).with_alpha(0.85f * a),
                   feather.mix(Color::hex(0xfff6e2), 0.4f).with_alpha(0.0f), {}, 20);
    const float flap = is_chilled ? 0.0f : 0.18f * wave(frame, 2.0f + 3.0f * speed, phase);
    canvas.ellipse(body.at(-0.36f, -0.14f + flap * 0.5f),
                   body.size * vec2(0.30f * (body.facing < 0 ? -1.0f : 1.0f), -0.10f + flap),
                   body.size * vec2(0.06f, 0.22f), shade.mix(feather, 0.35f).with_alpha(a), rim, {},
                   16);
    for (int k = 0; k < 3; ++k) {
        const float x = -0.12f + 0.12f * static_cast<float>(k);
        const vec2 root = body.at(x, 0.74f),
                   tip = body.at(x - 0.10f + 0.05f * wave(frame, 1.3f, phase),
                                 1.08f - 0.06f * std::abs(static_cast<float>(k) - 1));
        canvas.triangle(root - vec2(0.08f * s, 0), root + vec2(0.08f * s, 0), tip, lit);
    }
    vec2 gaze = look.thought ? look.thought->intention : h.thrust;
    if (length(gaze) > 1) gaze /= length(gaze);
    const bool blinks = (frame + 37 * index) % 210 < 7;
    draw_eyes(canvas, body, gaze, blinks || is_chilled, a);
    const vec2 beak = body.center + s * vec2(0.42f * body.facing + body.lean * 0.1f, 0.06f);
    canvas.triangle(beak + s * vec2(-0.12f, 0.06f), beak + s * vec2(0.12f, 0.06f),
                    beak + s * vec2(0.06f * body.facing, -0.14f), Color::hex(0xf29a3a, a));
    if (is_chilled)
        for (int k = 0; k < 3; ++k) {
            const float angle = phase + 2.1f * static_cast<float>(k);
            const vec2 p = body.center + s * 0.75f * vec2(std::cos(angle), std::sin(angle));
            canvas.triangle(p, p + s * vec2(0.10f, 0.28f), p + s * vec2(0.20f, 0.02f),
                            Color::hex(0xe4f6ff, 0.85f * a));
        }
}

void draw_lights(Canvas& canvas, const World& world) {
    draw_fire(canvas, world.frame());
    float phase = 0;
    for (const Drifter& ember : world.embers())
        draw_ember(canvas, ember, world.frame(), phase += 1.3f, world.rules().is_hot_night);
    for (const Drifter& mote : world.motes()) draw_mote(canvas, mote, world.frame(), phase += 0.7f);
}

void Sparks::add(Kind kind, vec2 position, uint64_t frame) {
    sparks_.push_back({kind, position, frame});
}

void Sparks::add(const World& world) {
    for (const Event& event : world.events())
        add(event.kind == Event::Kind::kEmber ? Kind::kEmber : Kind::kFrost, event.position,
            world.frame());
}

void Sparks::draw(Canvas& canvas, uint64_t frame) {
    constexpr uint64_t kFrames = 50;
    while (!sparks_.empty() && frame - sparks_.front().frame > kFrames) sparks_.pop_front();
    for (const Spark& spark : sparks_) {
        const float t = static_cast<float>(frame - spark.frame) / kFrames, left = 1 - t;
        if (spark.kind == Kind::kPraise || spark.kind == Kind::kScold) {
            const vec2 p = spark.position + vec2(0, 0.6f + 1.1f * t);
            const Color color = spark.kind == Kind::kPraise ? Color::hex(0xff7a9a, left)
                                                            : Color::hex(0x8a94a8, left);
            canvas.disc(p + vec2(-0.11f, 0.08f), 0.14f, color, color, 14);
            canvas.disc(p + vec2(0.11f, 0.08f), 0.14f, color, color, 14);
            canvas.triangle(p + vec2(-0.23f, 0.03f), p + vec2(0.23f, 0.03f), p - vec2(0, 0.27f),
                            color);
            continue;
        }
        const Color color =
            spark.kind == Kind::kEmber ? Color::hex(0xffd98a) : Color::hex(0xd8f1ff);
        for (int k = 0; k < 9; ++k) {
            const float angle = 0.7f * static_cast<float>(k) + static_cast<float>(spark.frame % 7);
            const float reach = (0.35f + 0.12f * static_cast<float>(k % 3)) * (1 - left * left);
            const vec2 p = spark.position + 2.0f * reach * vec2(std::cos(angle), std::sin(angle));
            canvas.disc(p, 0.07f * left, color.with_alpha(left), color.with_alpha(0.2f * left), 8);
        }
    }
}

}  // namespace hearth::hatchlings
