// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the clearing, the fire, the creatures and their effects.

#include "picture.hpp"

#include "random.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace hearth::hatchlings {
namespace {

using demo::Canvas;
using demo::Color;
using demo::Sprite;
using glm::vec2;

#include "hatchling.vert.spv.h"
#include "tongue.vert.spv.h"

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

// --- Fire, embers and motes ----------------------------------------------------------------------

/// A halo or a particle: an instance of the unit disc.
Sprite disc(vec2 center, float radius, Color inner, Color rim) {
    return {center, {radius, 0}, inner, rim};
}

Canvas disc_mesh() {
    Canvas mesh({});
    mesh.disc({0, 0}, 1, {}, {});
    return mesh;
}

/// Instance data of shaders/tongue.vert.
struct Tongue {
    vec2 root;
    float height, half_width;
    float bend, sway;  ///< shift of the tip to the right
    vec2 padding;
    Color color;
};

Canvas tongue_mesh() {
    std::array<vec2, 13> left, right;
    std::array<Color, 13> colors;
    for (size_t i = 0; i < left.size(); ++i) {
        const float s = static_cast<float>(i) / static_cast<float>(left.size() - 1);
        left[i] = {-1, s};
        right[i] = {1, s};
        colors[i].a = 1 - s * s;
    }
    Canvas mesh({});
    mesh.band(left, right, colors);
    return mesh;
}

void draw_logs(Canvas& canvas) {
    for (int log = 0; log < 4; ++log) {
        const float angle = kPi * (0.12f + 0.25f * static_cast<float>(log));
        canvas.rounded_box(kFire, {0.78f, 0.13f}, angle, 0.12f, Color::hex(0x3a2114));
        canvas.rounded_box(kFire + vec2(0, 0.03f), {0.7f, 0.06f}, angle, 0.05f,
                           Color::hex(0x8a4a1e));
    }
}

Sprite glow_of_fire(uint64_t frame) {
    const float breath = 1.0f + 0.05f * wave(frame, 1.3f, 0) + 0.04f * wave(frame, 3.1f, 1);
    return disc(kFire, 4.2f * breath, Color::hex(0xffb04a, 0.30f), Color::hex(0xff8a2a, 0.0f));
}

constexpr size_t kTongues = 6;
std::array<Tongue, kTongues> tongues_of_fire(uint64_t frame) {
    struct Shape {
        float x, height, width, hertz;
        uint32_t color;
    };
    constexpr std::array<Shape, kTongues> kShapes = {{
        {-0.36f, 0.9f, 0.30f, 2.3f, 0xe8501c},
        {0.34f, 0.95f, 0.30f, 2.7f, 0xe8501c},
        {-0.16f, 1.35f, 0.34f, 1.9f, 0xff7a22},
        {0.18f, 1.25f, 0.32f, 2.2f, 0xff7a22},
        {0.0f, 1.15f, 0.28f, 2.9f, 0xffb03a},
        {-0.05f, 0.75f, 0.20f, 3.3f, 0xffe08a},
    }};
    std::array<Tongue, kTongues> tongues{};
    float phase = 0;
    for (size_t i = 0; i < kTongues; ++i) {
        const Shape& shape = kShapes[i];
        phase += 1.3f;
        tongues[i] = {
            .root = kFire + vec2(shape.x, -0.15f),
            .height = shape.height * (1.0f + 0.16f * wave(frame, 1.7f * shape.hertz, 2 * phase)),
            .half_width = shape.width,
            .bend = -0.5f * shape.x,
            .sway = 0.14f * wave(frame, shape.hertz, phase),
            .padding = {},
            .color = Color::hex(shape.color, 0.85f)};
    }
    return tongues;
}

constexpr int kRisingSparks = 14;
/// Sparks that rise from the fire.
void add_rising_sparks(std::vector<Sprite>& discs, uint64_t frame) {
    for (int i = 0; i < kRisingSparks; ++i) {
        const auto n = static_cast<uint64_t>(i);
        const float period = between(400'000 + n, 1.2f, 2.6f);
        const float age = std::fmod(
            static_cast<float>(frame) * kFrameSeconds / period + 0.37f * static_cast<float>(i),
            1.0f);
        const vec2 p = kFire + vec2(0.5f * std::sin(7.0f * age + static_cast<float>(i)) +
                                        between(410'000 + n, -0.4f, 0.4f),
                                    0.4f + 3.4f * age);
        const Color color = Color::hex(0xffc76a, 0.9f * (1 - age));
        discs.push_back(disc(p, 0.05f, color, color.with_alpha(0)));
    }
}

constexpr int kTrail = 4, kDiscsOfEmber = 2 + kTrail;
void add_ember(std::vector<Sprite>& discs, const Drifter& ember, uint64_t frame, float phase,
               bool is_hot) {
    const float grown = std::min(1.0f, ember.age_s / 0.6f);
    const float pulse = 1.0f + 0.15f * wave(frame, 1.1f, phase);
    const float r = kEmberRadius * grown;
    const Color halo = is_hot ? Color::hex(0xff3a1a) : Color::hex(0xff9a3a);
    discs.push_back(
        disc(ember.position, 4.2f * r * pulse, halo.with_alpha(0.42f), halo.with_alpha(0.0f)));
    if (length(ember.velocity) > 0.05f)
        for (int i = 1; i <= kTrail; ++i) {
            const float t = static_cast<float>(i) / kTrail;
            const vec2 p = ember.position - ember.velocity * (0.55f * t);
            discs.push_back(disc(p, r * (0.7f - 0.45f * t), halo.with_alpha(0.5f * (1 - t)),
                                 halo.with_alpha(0.0f)));
        }
    discs.push_back(
        disc(ember.position, r, Color::hex(0xfff3c4), is_hot ? Color::hex(0xff4a22) : kWarm));
}

/// A snowflake that has grown to the size of a mote, around the origin.
Canvas mote_mesh() {
    constexpr float r = kMoteRadius;
    Canvas mesh({});
    mesh.disc({0, 0}, 3.0f * r, kCold.with_alpha(0.30f), kCold.with_alpha(0.0f));
    mesh.disc({0, 0}, r, Color::hex(0xdff3ff, 0.55f), Color::hex(0x6fb8ef, 0.10f), 24);
    for (int arm = 0; arm < 6; ++arm) {
        const float angle = kPi * static_cast<float>(arm) / 3;
        const vec2 out{std::cos(angle), std::sin(angle)}, side{-out.y, out.x};
        const vec2 tip = out * (r * 1.05f), fork = out * (r * 0.62f);
        const vec2 line[] = {{0, 0}, tip};
        const vec2 barb[] = {fork + (out * 0.22f + side * 0.25f) * r, fork,
                             fork + (out * 0.22f - side * 0.25f) * r};
        mesh.stroke(line, 0.06f, Color::hex(0xf2fbff, 0.95f));
        mesh.stroke(barb, 0.05f, Color::hex(0xf2fbff, 0.85f));
    }
    return mesh;
}

Sprite mote_sprite(const Drifter& mote, uint64_t frame, float phase) {
    const float grown = std::min(1.0f, mote.age_s / 0.6f);
    const float turn = phase + 0.5f * static_cast<float>(frame) * kFrameSeconds;
    return {mote.position, grown * vec2(std::cos(turn), std::sin(turn))};
}

// --- Sparks --------------------------------------------------------------------------------------

constexpr int kDiscsOfSpark = 9;
void add_burst(std::vector<Sprite>& discs, const Sparks::Spark& spark, float left) {
    const Color color =
        spark.kind == Sparks::Kind::kEmber ? Color::hex(0xffd98a) : Color::hex(0xd8f1ff);
    for (int k = 0; k < kDiscsOfSpark; ++k) {
        const float angle = 0.7f * static_cast<float>(k) + static_cast<float>(spark.frame % 7);
        const float reach = (0.35f + 0.12f * static_cast<float>(k % 3)) * (1 - left * left);
        const vec2 p = spark.position + 2.0f * reach * vec2(std::cos(angle), std::sin(angle));
        discs.push_back(
            disc(p, 0.07f * left, color.with_alpha(left), color.with_alpha(0.2f * left)));
    }
}

Canvas heart_mesh() {
    Canvas mesh({});
    mesh.disc({-0.11f, 0.08f}, 0.14f, {}, {}, 14);
    mesh.disc({0.11f, 0.08f}, 0.14f, {}, {}, 14);
    mesh.triangle({-0.23f, 0.03f}, {0.23f, 0.03f}, {0, -0.27f}, {});
    return mesh;
}

Sprite heart_sprite(const Sparks::Spark& spark, float left) {
    return {.position = spark.position + vec2(0, 0.6f + 1.1f * (1 - left)),
            .inner = spark.kind == Sparks::Kind::kPraise ? Color::hex(0xff7a9a, left)
                                                         : Color::hex(0x8a94a8, left)};
}

// --- Hatchlings ----------------------------------------------------------------------------------

#include "shaders/parts.glsl"

constexpr std::array<uint32_t, 8> kFeathers = {0xf6d7a0, 0xf2b98a, 0xe9cfd8, 0xcfe0b4,
                                               0xf4e2b8, 0xd9c2f0, 0xf0a890, 0xbfd9e0};

/// The parts that shaders/hatchling.vert places, back to front.
Canvas hatchling_mesh() {
    constexpr Color kMiddle = {0, 0, 0, 1}, kRim = {1, 1, 1, 1};
    Canvas mesh({});
    const auto begin = [&](int part, float copy) { mesh.set_uv({static_cast<float>(part), copy}); };
    const auto add_disc = [&](int part, int segments, float copy = 0) {
        begin(part, copy);
        mesh.disc({0, 0}, 1, kMiddle, kRim, segments);
    };
    const auto add_triangle = [&](int part, float copy = 0) {
        begin(part, copy);
        mesh.triangle({0, 0}, {1, 0}, {0, 1}, kRim);
    };
    // From 1 to 2: the shader knows the radius and the width.
    const auto add_ring = [&](int part, int segments) {
        begin(part, 0);
        mesh.ring({0, 0}, 1.5f, 1, kRim, segments);
    };
    add_disc(kDoubt, 28);
    add_ring(kDoubtRing, 40);
    begin(kArrow, 0);
    const vec2 left[] = {{0, 0.5f}, {1, 0.5f}}, right[] = {{0, -0.5f}, {1, -0.5f}};
    const Color along[] = {kMiddle, kRim};
    mesh.band(left, right, along);
    add_triangle(kArrowHead);
    add_ring(kRing, 32);
    add_disc(kGlow, 28);
    add_disc(kShadow, 24);
    for (const float side : {-1.0f, 1.0f}) add_disc(kFoot, 10, side);
    add_triangle(kTail);
    add_disc(kTrunk, 28);
    add_disc(kBelly, 20);
    add_disc(kWing, 16);
    for (const float feather : {0.0f, 1.0f, 2.0f}) add_triangle(kCrest, feather);
    for (const float side : {-1.0f, 1.0f}) {
        add_disc(kEye, 14, side);
        add_disc(kPupil, 12, side);
        add_disc(kGlint, 6, side);
        begin(kLid, side);
        const vec2 lid[] = {{-0.13f, 0.02f}, {0, -0.05f}, {0.13f, 0.02f}};
        mesh.stroke(lid, 0.06f, kRim);
    }
    add_triangle(kBeak);
    for (const float shard : {0.0f, 1.0f, 2.0f}) add_triangle(kShard, shard);
    return mesh;
}

/// Instance data of shaders/hatchling.vert.
struct Pose {
    vec2 position, from_fire;
    Color feather;  ///< with the creature's opacity
    float hop, squash, facing, lean;
    float left_step, right_step, flap, sway;
    vec2 gaze;
    float is_shut, shards;  ///< of the eyes; angle of the first ice shard, -1: none
    float glow, ring_radius, is_possessed, is_thinking;
    vec2 intention;
    float doubt, padding;
};

struct CreatureLook {
    float alpha = 1;                 ///< below 1 in a replay
    std::optional<Thought> thought;  ///< shown as an arrow and a halo
    bool is_possessed = false;
    bool is_selected = false;
};

Pose pose_of(const Hatchling& h, uint32_t index, uint64_t frame, const CreatureLook& look) {
    const float phase = 1.7f * static_cast<float>(index);
    const float speed = length(h.velocity) / kTopSpeed, pace = std::min(1.0f, 3 * speed);
    const bool is_chilled = h.chilled_s > 0;
    const float light = light_at(h.position);

    Color feather = Color::hex(kFeathers[index % kFeathers.size()]);
    feather = feather.mix(Color::hex(0x47606a), 0.34f * (1 - light)).mix(kWarm, 0.22f * light);
    if (is_chilled) feather = feather.mix(Color::hex(0x9fd4f5), 0.65f);

    // Squash and stretch along each hop.
    const float hop = is_chilled ? 0.0f : std::abs(wave(frame, 1.6f + 1.2f * speed, phase)) * pace;
    const auto step = [&](float side) {
        return 0.12f * wave(frame, 2.6f, phase + side * kPi / 2) * std::min(1.0f, 4 * speed);
    };
    vec2 gaze = look.thought ? look.thought->intention : h.thrust;
    if (length(gaze) > 1) gaze /= length(gaze);
    const bool blinks = (frame + 37 * index) % 210 < 7;
    const bool has_ring = look.is_selected || look.is_possessed;
    const Thought thought = look.thought.value_or(Thought());
    return {
        .position = h.position,
        .from_fire = length(h.position) > 0.1f ? h.position / length(h.position) : vec2(0, -1),
        .feather = feather.with_alpha(look.alpha),
        .hop = hop,
        .squash = 1.0f + 0.10f * (hop - 0.4f) * pace + 0.02f * wave(frame, 0.6f, phase),
        .facing = std::clamp(h.velocity.x / (0.25f * kTopSpeed), -1.0f, 1.0f),
        .lean = std::clamp(-0.22f * h.velocity.x / kTopSpeed, -0.3f, 0.3f),
        .left_step = step(-1),
        .right_step = step(1),
        .flap = is_chilled ? 0.0f : 0.18f * wave(frame, 2.0f + 3.0f * speed, phase),
        .sway = 0.05f * wave(frame, 1.3f, phase),
        .gaze = gaze,
        .is_shut = blinks || is_chilled ? 1.0f : 0.0f,
        .shards = is_chilled ? std::fmod(phase, 2 * kPi) : -1.0f,
        .glow = std::max(h.glow, 0.0f),
        .ring_radius = has_ring ? 0.72f + 0.04f * wave(frame, 1.0f, 0) : 0.0f,
        .is_possessed = look.is_possessed ? 1.0f : 0.0f,
        .is_thinking = look.thought ? 1.0f : 0.0f,
        .intention = thought.intention,
        .doubt = thought.doubt,
        .padding = 0,
    };
}

/// A replay's hatchlings, pale, and then the world's, far to near.
std::vector<Pose> poses_of(const Scene& scene) {
    constexpr float kPale = 0.34f;
    const std::span<const Hatchling> hatchlings = scene.world.hatchlings();
    const uint64_t frame = scene.world.frame();
    std::vector<Pose> poses;
    if (scene.then != nullptr)
        for (uint32_t i = 0; i < scene.then->hatchlings().size(); ++i)
            poses.push_back(
                pose_of(scene.then->hatchlings()[i], i, frame, {.alpha = kPale, .thought = {}}));
    std::vector<uint32_t> order(hatchlings.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
        return hatchlings[a].position.y > hatchlings[b].position.y;
    });
    for (const uint32_t i : order) {
        CreatureLook look;
        if (!scene.thoughts.empty()) look.thought = scene.thoughts[i];
        look.is_possessed = scene.possessed == i;
        look.is_selected = scene.selected == i;
        poses.push_back(pose_of(hatchlings[i], i, frame, look));
    }
    return poses;
}

// --- Hopes ---------------------------------------------------------------------------------------

constexpr size_t kHopes = size_t{Insight::kColumns} * Insight::kRows;

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

/// Colours the ground by the critic's value at each point of Insight's grid.
void add_hopes(std::vector<Sprite>& discs, std::span<const float> hopes) {
    constexpr int kColumns = Insight::kColumns, kRows = Insight::kRows;
    if (hopes.size() < kHopes) return;
    const std::vector<float> values = smoothed(hopes, kColumns, kRows);
    const auto [low, high] = std::ranges::minmax(values);
    const float range = std::max(high - low, 1e-6f);
    // Overlapping soft discs interpolate between grid points.
    const vec2 cell =
        2.0f * kHalfSize / vec2(static_cast<float>(kColumns - 1), static_cast<float>(kRows - 1));
    for (int row = 0; row < kRows; ++row)
        for (int column = 0; column < kColumns; ++column) {
            const float t = (values[static_cast<size_t>(row * kColumns + column)] - low) / range;
            const vec2 place =
                cell * vec2(static_cast<float>(column), static_cast<float>(row)) - kHalfSize;
            // Medium values stay dark, high ones glow warm, low ones cold.
            const float warm = std::max(0.0f, 2 * t - 1), cold = std::max(0.0f, 1 - 2 * t);
            const Color color =
                warm > 0 ? Color::hex(0xffb83a, 0.34f * warm) : Color::hex(0x3a6ad0, 0.22f * cold);
            discs.push_back(
                disc(place, 1.5f * std::max(cell.x, cell.y), color, color.with_alpha(0)));
        }
}

}  // namespace

void draw_clearing(Canvas& canvas) {
    draw_ground(canvas);
    draw_tufts(canvas);
    draw_hearth(canvas);
    draw_forest(canvas);
}

void Sparks::add(Kind kind, vec2 position, uint64_t frame) {
    sparks_.push_back({kind, position, frame});
}

void Sparks::add(const World& world) {
    while (!sparks_.empty() && world.frame() - sparks_.front().frame > kFrames) sparks_.pop_front();
    for (const Event& event : world.events())
        add(event.kind == Event::Kind::kEmber ? Kind::kEmber : Kind::kFrost, event.position,
            world.frame());
}

Result<std::unique_ptr<Picture>> Picture::create(demo::Renderer& renderer, vec2 white_uv,
                                                 const PictureLimits& limits) {
    std::unique_ptr<Picture> self(new Picture(renderer));
    Canvas logs(white_uv);
    draw_logs(logs);
    HEARTH_ASSIGN(self->logs_, renderer.upload(logs));
    // In the life of a spark each ember is eaten at most once a frame, and each hatchling chilled
    // at most once.
    static_assert(Sparks::kFrames * kFrameSeconds < kImmuneSeconds);
    const uint32_t spark_count = (Sparks::kFrames + 1) * kMaxEmbers + limits.hatchlings;
    HEARTH_TRY(renderer.create_instanced_mesh(
        self->discs_, disc_mesh(),
        {.name = "discs",
         .capacity = static_cast<uint32_t>(kHopes) + 1 + kRisingSparks +
                     kDiscsOfEmber * kMaxEmbers + kDiscsOfSpark * spark_count}));
    HEARTH_TRY(renderer.create_instanced_mesh(self->tongues_, tongue_mesh(),
                                              {.name = "tongues of fire",
                                               .capacity = kTongues,
                                               .instance_bytes = sizeof(Tongue),
                                               .vertex_shader = tongue_vert_spv}));
    HEARTH_TRY(renderer.create_instanced_mesh(self->motes_, mote_mesh(),
                                              {.name = "motes", .capacity = kMaxMotes}));
    HEARTH_TRY(renderer.create_instanced_mesh(self->hatchlings_, hatchling_mesh(),
                                              {.name = "hatchlings",
                                               .capacity = 2 * limits.hatchlings,  // now and then
                                               .instance_bytes = sizeof(Pose),
                                               .vertex_shader = hatchling_vert_spv}));
    HEARTH_TRY(renderer.create_instanced_mesh(self->hearts_, heart_mesh(),
                                              {.name = "hearts", .capacity = limits.judgements}));
    return self;
}

void Picture::draw(const Scene& scene, const demo::View& view) {
    const World& world = scene.world;
    const uint64_t frame = world.frame();
    const auto draw = [&](demo::InstancedMesh& mesh, const auto& instances) {
        renderer_.draw(mesh, std::as_bytes(std::span(instances)), view);
    };

    std::vector<Sprite> ground;
    add_hopes(ground, scene.hopes);
    ground.push_back(glow_of_fire(frame));
    draw(discs_, ground);
    renderer_.draw(logs_, view);
    draw(tongues_, tongues_of_fire(frame));

    std::vector<Sprite> lights, motes;
    add_rising_sparks(lights, frame);
    float phase = 0;
    for (const Drifter& ember : world.embers())
        add_ember(lights, ember, frame, phase += 1.3f, world.rules().is_hot_night);
    for (const Drifter& mote : world.motes())
        motes.push_back(mote_sprite(mote, frame, phase += 0.7f));
    draw(discs_, lights);
    draw(motes_, motes);
    draw(hatchlings_, poses_of(scene));

    std::vector<Sprite> bursts, hearts;
    for (const Sparks::Spark& spark : scene.sparks.all()) {
        const float left = 1 - static_cast<float>(frame - spark.frame) / Sparks::kFrames;
        if (spark.kind == Sparks::Kind::kEmber || spark.kind == Sparks::Kind::kFrost)
            add_burst(bursts, spark, left);
        else
            hearts.push_back(heart_sprite(spark, left));
    }
    draw(discs_, bursts);
    draw(hearts_, hearts);
}

}  // namespace hearth::hatchlings
