// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "screen.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace hearth::ember {
namespace {

using demo::Canvas;
using demo::Color;
using glm::vec2;

constexpr float kTwoPi = 2 * std::numbers::pi_v<float>;

constexpr Tint kSkyTop = {0x6fb2e4, 0x0b1030}, kSkyLow = {0xfbe3c0, 0x2b2c5c};
constexpr Tint kHills = {0x86b48c, 0x1b2547}, kFarHills = {0xacd0c0, 0x222c55};
constexpr Color kInk = Color::hex(0x3a2320), kGlow = Color::hex(0xffb45a),
                kNote = Color::hex(0xffd27a);

/// Ground colour at x, blended across the borders of places.
Color ground_at(const Palette& palette, float x, float light) {
    const float at = std::clamp(x / kPlaceWidth - 0.5f, 0.0f, kPlaceCount - 1.001f);
    const auto place = static_cast<size_t>(at);
    const float blend = std::clamp(4 * (at - static_cast<float>(place)) - 1.5f, 0.0f, 1.0f);
    return palette.ground[place].at(light).mix(palette.ground[place + 1].at(light), blend);
}

void draw_sky(Canvas& canvas, const Stage& stage, const World& world) {
    const float light = world.daylight(), width = stage.size().x, horizon = stage.horizon();
    const std::array<vec2, 2> top = {vec2(0, 0), vec2(width, 0)};
    const std::array<vec2, 2> low = {vec2(0, horizon), vec2(width, horizon)};
    const std::array<vec2, 2> left = {top[0], low[0]}, right = {top[1], low[1]};
    const std::array<Color, 2> colors = {kSkyTop.at(light), kSkyLow.at(light)};
    canvas.band(left, right, colors);
    Dice dice{11};
    for (int i = 0; i < 70; ++i) {
        const vec2 star = dice.inside({0, 0}, {width, 0.8f * horizon});
        const float size = dice.uniform(0.7f, 1.9f);
        canvas.disc(star, size, Color{1, 1, 0.9f, 0.9f * (1 - light)}, Color{1, 1, 1, 0}, 8);
    }
    // The sun in the first half of the day, the moon in the second.
    const float time = world.day_time(), half = std::fmod(2 * time, 1.0f);
    const vec2 place(width * (0.08f + 0.84f * half),
                     horizon * (0.92f - 0.75f * std::sin(0.5f * kTwoPi * half)));
    const float radius = 0.045f * stage.size().y;
    const Color disc = world.is_night() ? Color::hex(0xeef0ff) : Color::hex(0xfff2c0);
    canvas.disc(place, 3.5f * radius, disc.with_alpha(0.3f), disc.with_alpha(0), 40);
    canvas.disc(place, radius, disc, disc, 40);
    if (world.is_night())
        canvas.disc(place + vec2(0.4f, -0.2f) * radius, 0.8f * radius, kSkyTop.at(light),
                    kSkyTop.at(light), 40);
}

void draw_hills(Canvas& canvas, const Stage& stage, float light) {
    const auto range = [&](Color color, float height, float parallax, float wave) {
        std::vector<vec2> crest, foot;
        for (int i = 0; i <= 60; ++i) {
            const float x = stage.size().x * static_cast<float>(i) / 60;
            const float at = x / stage.size().x * 6 + parallax * stage.camera();
            const float up =
                0.6f + 0.25f * std::sin(at * wave) + 0.15f * std::sin(2.3f * at * wave);
            crest.push_back({x, stage.horizon() - height * up * stage.size().y});
            foot.push_back({x, stage.horizon() + 2});
        }
        canvas.band(crest, foot, color);
    };
    range(kFarHills.at(light), 0.13f, 0.05f, 0.9f);
    range(kHills.at(light), 0.08f, 0.12f, 1.4f);
}

void draw_ground(Canvas& canvas, const Stage& stage, const Palette& palette, float light) {
    constexpr int kStrips = 48;
    std::vector<vec2> back, front;
    std::vector<Color> colors;
    for (int i = 0; i <= kStrips; ++i) {
        const float x = stage.size().x * static_cast<float>(i) / kStrips;
        back.push_back({x, stage.horizon()});
        front.push_back({x, stage.size().y});
        colors.push_back(ground_at(palette, stage.ground({x, stage.size().y * 0.7f}).x, light));
    }
    canvas.band(back, front, colors);
    // Tufts, pebbles and ripples that stay where they are.
    Dice dice{21};
    for (int i = 0; i < 240; ++i) {
        const vec2 spot = dice.inside({0, 0}, kGarden);
        const float size = dice.uniform(0.05f, 0.13f) * stage.scale(spot.y);
        const Color base = ground_at(palette, spot.x, light);
        const Color tone = base.mix(dice.chance(0.5f) ? Color{1, 1, 1, 1} : kInk, 0.16f);
        const vec2 at = stage.at(spot);
        if (at.x < -20 || at.x > stage.size().x + 20) continue;
        for (const float lean : {-0.5f, 0.0f, 0.5f})
            canvas.triangle(at + vec2(-0.3f * size, 0), at + vec2(0.3f * size, 0),
                            at + size * vec2(lean, -1.3f), tone);
    }
}

/// Trees stand behind the wood, and the sea behind the shore.
void draw_places(Canvas& canvas, const Stage& stage, float light) {
    constexpr Tint kTrunk = {0x6d5140, 0x1b1c30};
    constexpr Tint kCrown = {0x4a7d4c, 0x14273a};
    constexpr Tint kSea = {0x58b4cf, 0x1d2f66};
    Dice dice{31};
    for (int i = 0; i < 22; ++i) {
        const float x = kPlaceWidth * (1 + (static_cast<float>(i) + dice.uniform(0, 0.8f)) / 22);
        const float s = dice.uniform(0.8f, 1.3f) * stage.scale(kDepth);
        const vec2 foot = stage.at({x, kDepth}) - vec2(0, 0.1f * s);
        const Color crown = kCrown.at(light).mix(kHills.at(light), dice.uniform(0, 0.4f));
        canvas.rounded_box(foot - vec2(0, 0.6f * s), {0.1f * s, 0.65f * s}, 0, 0.05f * s,
                           kTrunk.at(light));
        for (const vec2 offset : {vec2(-0.35f, -1.2f), vec2(0.35f, -1.25f), vec2(0, -1.75f)})
            canvas.disc(foot + s * offset, 0.6f * s, crown.mix(Color{1, 1, 1, 1}, 0.1f), crown);
    }
    const float west = stage.at({2 * kPlaceWidth + 1, kDepth}).x;
    const std::array<vec2, 2> top = {vec2(west, stage.horizon() - 1),
                                     vec2(stage.size().x + 9, stage.horizon() - 1)};
    const float depth = 0.075f * (stage.size().y - stage.horizon());
    if (west > stage.size().x) return;
    std::vector<vec2> back, beach;
    for (int i = 0; i <= 40; ++i) {
        const float x = top[0].x + (top[1].x - top[0].x) * static_cast<float>(i) / 40;
        const float reach = std::min(1.0f, 0.1f * static_cast<float>(i));
        back.push_back({x, top[0].y});
        beach.push_back({x, top[0].y + reach * depth * (1 + 0.12f * std::sin(0.03f * x))});
    }
    canvas.band(back, beach, kSea.at(light));
    canvas.stroke(beach, 0.05f * stage.scale(kDepth), Color{1, 1, 1, 0.25f + 0.4f * light});
}

void draw_shadow(Canvas& canvas, vec2 at, float size) {
    canvas.ellipse(at, {size, 0}, {0, 0.28f * size}, Color{0, 0, 0, 0.3f}, Color{0, 0, 0, 0});
}

/// Draws one kind of thing with its foot at `at`; `s`: pixels of its size.
void draw_berry(Canvas& canvas, const Palette& palette, vec2 at, float s, float light) {
    for (const vec2 offset : {vec2(-0.35f, -0.4f), vec2(0.35f, -0.4f), vec2(0, -0.65f)})
        canvas.disc(at + s * offset, 0.45f * s,
                    palette.leaf.at(light).mix(Color{1, 1, 1, 1}, 0.12f), palette.leaf.at(light));
    for (const vec2 offset : {vec2(-0.4f, -0.5f), vec2(0.1f, -0.35f), vec2(0.42f, -0.62f),
                              vec2(-0.05f, -0.8f), vec2(-0.2f, -0.2f)})
        canvas.disc(at + s * offset, 0.11f * s,
                    palette.berry.at(light).mix(Color{1, 1, 1, 1}, 0.35f), palette.berry.at(light),
                    14);
}

void draw_mushroom(Canvas& canvas, const Palette& palette, vec2 at, float s, float light) {
    canvas.rounded_box(at + vec2(0, -0.3f * s), {0.14f * s, 0.32f * s}, 0, 0.1f * s,
                       palette.stem.at(light));
    std::vector<vec2> dome;
    for (int i = 0; i <= 20; ++i) {
        const float angle = 0.5f * kTwoPi * static_cast<float>(i) / 20;
        dome.push_back(at + s * vec2(0.58f * std::cos(angle), -0.5f - 0.5f * std::sin(angle)));
    }
    canvas.convex(dome, palette.cap.at(light));
    for (const vec2 offset : {vec2(-0.25f, -0.68f), vec2(0.1f, -0.85f), vec2(0.33f, -0.62f)})
        canvas.disc(at + s * offset, 0.08f * s, palette.stem.at(light), palette.stem.at(light), 12);
}

void draw_shell(Canvas& canvas, const Palette& palette, vec2 at, float s, float light) {
    const vec2 hinge = at + vec2(0, -0.05f * s);
    std::vector<vec2> fan = {hinge};
    for (int i = 0; i <= 16; ++i) {
        const float angle = kTwoPi * (0.04f + 0.42f * static_cast<float>(i) / 16);
        const float scallop = 0.6f + 0.03f * std::cos(8 * kTwoPi * static_cast<float>(i) / 16);
        fan.push_back(hinge + s * scallop * vec2(std::cos(angle), -std::sin(angle)));
    }
    canvas.convex(fan, palette.shell.at(light));
    for (int i = 1; i < 8; ++i) {
        const float angle = kTwoPi * (0.04f + 0.42f * static_cast<float>(i) / 8);
        const std::array<vec2, 2> line = {
            hinge, hinge + 0.55f * s * vec2(std::cos(angle), -std::sin(angle))};
        canvas.stroke(line, 0.035f * s, palette.rib.at(light));
    }
}

void draw_lantern(Canvas& canvas, const Palette&, vec2 at, float s, float light) {
    constexpr Tint iron = {0x4a4a52, 0x15162a};
    const vec2 lamp = at + vec2(0, -1.25f * s);
    canvas.disc(lamp, (1.2f + 3.2f * (1 - light)) * s, kGlow.with_alpha(0.18f + 0.3f * (1 - light)),
                kGlow.with_alpha(0), 40);
    canvas.rounded_box(at + vec2(0, -0.55f * s), {0.06f * s, 0.55f * s}, 0, 0.03f * s,
                       iron.at(light));
    canvas.rounded_box(lamp, {0.24f * s, 0.3f * s}, 0, 0.1f * s, Color::hex(0xffe9a8));
    canvas.disc(lamp, 0.2f * s, Color::hex(0xfffbe0), Color::hex(0xffd070), 20);
    for (const float y : {-0.32f, 0.32f})
        canvas.rounded_box(lamp + vec2(0, y * s), {0.3f * s, 0.06f * s}, 0, 0.03f * s,
                           iron.at(light));
}

void draw_thistle(Canvas& canvas, const Palette& palette, vec2 at, float s, float light) {
    const vec2 head = at + vec2(0, -0.95f * s);
    const std::array<vec2, 2> stalk = {at, head};
    canvas.stroke(stalk, 0.08f * s, palette.stalk.at(light));
    for (int i = 0; i < 14; ++i) {
        const float angle = kTwoPi * static_cast<float>(i) / 14;
        const vec2 way(std::cos(angle), std::sin(angle)), side(-way.y, way.x);
        canvas.triangle(head + 0.12f * s * side, head - 0.12f * s * side, head + 0.52f * s * way,
                        palette.spike.at(light));
    }
    canvas.disc(head, 0.22f * s, palette.spike.at(light).mix(Color{1, 1, 1, 1}, 0.3f),
                palette.spike.at(light).mix(kInk, 0.3f), 20);
}

void draw_item(Canvas& canvas, const Stage& stage, const Palette& palette, const Item& item,
               float light) {
    const float grown = std::clamp(item.grown, 0.0f, 1.0f);
    const float size = stage.scale(item.position.y) * 0.85f * (0.25f + 0.75f * grown);
    const vec2 at = stage.at(item.position);
    draw_shadow(canvas, at, 0.7f * size);
    using Draw = void (*)(Canvas&, const Palette&, vec2, float, float);
    constexpr std::array<Draw, kThingCount> kDraw = {draw_berry, draw_mushroom, draw_shell,
                                                     draw_lantern, draw_thistle};
    kDraw[static_cast<size_t>(item.kind)](canvas, palette, at, size, light);
}

// --- The creature --------------------------------------------------------------------------------

/// The flame of its hair leans with the wind and rises with its mood.
void draw_flame(Canvas& canvas, vec2 top, float s, const Look& look) {
    const float height = 0.75f + 0.35f * look.mood;
    for (int i = -1; i <= 1; ++i) {
        const float sway = 0.1f * std::sin(5 * look.time + 2 * static_cast<float>(i));
        const float side = 0.22f * static_cast<float>(i);
        const float up = height * (i == 0 ? 0.75f : 0.5f) * look.traits.flame;
        canvas.triangle(top + s * vec2(side - 0.16f, 0.12f), top + s * vec2(side + 0.16f, 0.12f),
                        top + s * vec2(side * 1.3f + sway, -up),
                        look.coat().mix(look.belly(), 0.5f + 0.2f * static_cast<float>(i)));
    }
}

void draw_eyes(Canvas& canvas, vec2 face, float s, const Look& look) {
    constexpr Color kWhite = {1, 1, 1, 1};
    const vec2 glance = 0.05f * vec2(std::cos(look.heading), -0.6f * std::sin(look.heading));
    for (const float side : {-0.24f, 0.24f}) {
        const vec2 eye = face + s * vec2(side * look.traits.eyes, 0);
        if (look.sleeps || look.blinks) {
            const std::array<vec2, 3> lid = {eye + s * vec2(-0.12f, 0), eye + s * vec2(0, 0.05f),
                                             eye + s * vec2(0.12f, 0)};
            canvas.stroke(lid, 0.05f * s, kInk);
            continue;
        }
        const float wide = 0.15f + 0.05f * std::max(-look.mood, 0.0f);
        canvas.ellipse(eye, {0.13f * s, 0}, {0, wide * s}, kWhite, kWhite);
        // Narrow pupils when it is uneasy, wide ones when it is glad.
        const float pupil = 0.085f + 0.02f * std::clamp(look.mood, -1.0f, 1.0f);
        canvas.disc(eye + s * glance, pupil * s, kInk, kInk, 16);
        canvas.disc(eye + s * (glance + vec2(-0.03f, -0.04f)), 0.03f * s, kWhite, kWhite, 10);
        // Brows rise in the middle when it is uneasy.
        const float slope = 0.1f * std::clamp(-3 * look.mood, 0.1f, 1.0f) * (side < 0 ? -1 : 1);
        const std::array<vec2, 2> brow = {eye + s * vec2(-0.12f, -0.25f - slope),
                                          eye + s * vec2(0.12f, -0.25f + slope)};
        canvas.stroke(brow, 0.045f * s, kInk);
    }
}

void draw_mouth(Canvas& canvas, vec2 face, float s, const Look& look) {
    const vec2 mouth = face + s * vec2(0, 0.27f);
    if (look.sings || look.speaks) {
        const float open = 0.09f + 0.04f * std::sin(14 * look.time);
        canvas.ellipse(mouth, {0.1f * s, 0}, {0, open * s}, Color::hex(0x7a2a2a), kInk);
        return;
    }
    std::vector<vec2> smile;
    const float curve = std::clamp(0.16f * (0.3f + 2 * look.mood), -0.14f, 0.15f);
    for (int i = -6; i <= 6; ++i) {
        const float t = static_cast<float>(i) / 6;
        smile.push_back(mouth + s * vec2(0.2f * t, curve * (1 - t * t) - 0.5f * curve));
    }
    canvas.stroke(smile, 0.055f * s, kInk);
}

/// Notes rise while it sings, and small z while it sleeps.
void draw_breath(Canvas& canvas, vec2 from, float s, const Look& look) {
    for (int i = 0; i < 3; ++i) {
        const float t =
            std::fmod(look.time * (look.sings ? 0.8f : 0.35f) + static_cast<float>(i) / 3, 1.0f);
        const vec2 at = from + s * vec2(0.5f + 0.4f * std::sin(6 * t + static_cast<float>(i)),
                                        -0.4f - 1.4f * t);
        const Color ink = kNote.with_alpha(1 - t);
        if (look.sings) {
            canvas.disc(at, 0.1f * s, ink, ink, 14);
            const std::array<vec2, 2> stem = {at + s * vec2(0.09f, 0),
                                              at + s * vec2(0.09f, -0.35f)};
            canvas.stroke(stem, 0.04f * s, ink);
        } else {
            const float z = 0.1f * s * (0.6f + t);
            const std::array<vec2, 4> line = {at + vec2(-z, -z), at + vec2(z, -z), at + vec2(-z, z),
                                              at + vec2(z, z)};
            canvas.stroke(line, 0.04f * s, Color{1, 1, 1, 0.9f * (1 - t)});
        }
    }
}

}  // namespace

// Each creature is born with a coat, a flame and a distance of eyes of its own.
Traits traits_of(uint64_t seed) {
    Dice dice{seed * 7 + 3};
    Traits traits;
    traits.warmth = dice.uniform(-0.35f, 0.35f);
    traits.flame = dice.uniform(0.8f, 1.35f);
    traits.eyes = dice.uniform(0.9f, 1.15f);
    traits.belly = dice.uniform(-0.3f, 0.3f);
    return traits;
}

Color Look::coat() const {
    const Color base = palette->coat.day;
    // Towards rose, or towards gold.
    return traits.warmth < 0 ? base.mix(Color::hex(0xf0507a), -traits.warmth)
                             : base.mix(Color::hex(0xffc84a), traits.warmth);
}

Color Look::belly() const {
    const Color base = palette->belly.day;
    return traits.belly < 0 ? base.mix(Color::hex(0xffffff), -traits.belly)
                            : base.mix(coat(), traits.belly);
}

void draw_creature(Canvas& canvas, vec2 foot, float s, const Look& look) {
    const float hop = 0.12f * look.pace * std::abs(std::sin(9 * look.time));
    const float droop = look.sleeps ? 0.08f : 0.0f;
    const float breath = look.sleeps ? 1.6f : 3.0f;
    const float squash = 1 - droop + 0.05f * std::sin(breath * look.time) - 0.5f * hop;
    const float width =
        look.spins ? 0.25f + 0.4f * std::abs(std::cos(8 * look.time)) : 0.62f + 0.5f * droop;
    // It shivers when it is cold.
    const float shiver = 0.02f * look.shivers * std::sin(60 * look.time);
    const vec2 middle = foot + s * vec2(shiver, -0.62f * squash - hop);
    draw_shadow(canvas, foot, 0.75f * s);
    canvas.disc(middle, 1.8f * s, kGlow.with_alpha(look.glow), kGlow.with_alpha(0), 40);
    for (const float side : {-0.25f, 0.25f}) {
        const float step = 0.1f * look.pace * std::sin(9 * look.time + (side < 0 ? 0 : 3.1f));
        const Color shoe = look.coat().mix(kInk, 0.4f);
        canvas.ellipse(foot + s * vec2(side + step, -0.06f), {0.2f * s, 0}, {0, 0.11f * s}, shoe,
                       shoe.mix(kInk, 0.3f));
    }
    draw_flame(canvas, middle + s * vec2(0, -0.52f * squash), s, look);
    canvas.ellipse(middle, {width * s, 0}, {0, 0.6f * squash * s}, look.belly(), look.coat(),
                   {-0.2f, 0.35f}, 40);
    const vec2 face = middle + s * vec2(look.spins ? 0 : 0.12f * std::cos(look.heading), -0.1f);
    const Color blush = Color::hex(0xff5a5a).with_alpha(0.25f + 0.35f * std::max(look.mood, 0.0f));
    for (const float side : {-0.38f, 0.38f})
        canvas.disc(face + s * vec2(side, 0.18f), 0.12f * s, blush, blush.with_alpha(0), 16);
    draw_eyes(canvas, face, s, look);
    draw_mouth(canvas, face, s, look);
    if (look.sings || look.sleeps) draw_breath(canvas, middle, s, look);
}

namespace {

Look look_of(const Scene& scene) {
    const World& world = scene.world;
    const Doing& doing = world.doing();
    const auto does = [&](Act act) { return doing.act == act && !doing.is_over; };
    Look look{.palette = &scene.palette, .traits = scene.traits};
    look.mood = scene.mood;
    look.heading = world.body().heading;
    look.pace = world.body().speed / kTopSpeed;
    look.time = static_cast<float>(world.seconds());
    look.glow = 0.2f + 0.25f * (1 - world.daylight());
    look.shivers = std::max(world.needs().cold - 0.4f, 0.0f) / 0.6f;
    look.sings = does(Act::kSing), look.spins = does(Act::kSpin);
    look.sleeps = scene.is_asleep || does(Act::kRest), look.speaks = scene.speaks;
    look.blinks = world.frame() % 230 < 8;
    return look;
}

void draw_hand(Canvas& canvas, const Stage& stage, const Scene& scene) {
    const Hand& hand = scene.world.hand();
    if (!hand.is_here) return;
    const float s = 0.55f * stage.scale(hand.position.y);
    const float lift = hand.sign == Sign::kHigh ? 2.6f : 0.9f;
    const vec2 palm = stage.at(hand.position) + s * vec2(0, -lift);
    draw_shadow(canvas, stage.at(hand.position), 0.6f * s);
    const Color skin = Color::hex(0xfff6ea), line = Color::hex(0xc9a98f);
    const Color halo = scene.voice >= 0 ? Color::hex(0xffe27a) : Color::hex(0x5a6ad0);
    canvas.disc(palm, 2.2f * s, halo.with_alpha(0.5f * std::abs(scene.voice)), halo.with_alpha(0),
                32);
    for (int i = -1; i <= 2; ++i)
        canvas.rounded_box(palm + s * vec2(0.2f * static_cast<float>(i) - 0.1f, -0.55f),
                           {0.09f * s, 0.32f * s}, 0.12f * static_cast<float>(i), 0.09f * s, skin);
    canvas.rounded_box(palm + s * vec2(-0.5f, -0.05f), {0.1f * s, 0.28f * s}, -0.8f, 0.1f * s,
                       skin);
    canvas.disc(palm, 0.45f * s, skin, skin.mix(line, 0.4f));
    if (hand.sign == Sign::kRound)
        canvas.ring(palm, 1.1f * s, 0.08f * s, Color::hex(0xfff2b0).with_alpha(0.9f));
}

}  // namespace

vec2 Stage::at(vec2 ground) const {
    const float depth = 1 - ground.y / kDepth;
    return {0.5f * pixels_.x + (ground.x - camera_) * scale(ground.y),
            horizon() + (0.08f + 0.86f * depth) * (pixels_.y - horizon())};
}

vec2 Stage::ground(vec2 pixel) const {
    const float depth = ((pixel.y - horizon()) / (pixels_.y - horizon()) - 0.08f) / 0.86f;
    const float y = std::clamp((1 - depth) * kDepth, 0.0f, kDepth);
    return {camera_ + (pixel.x - 0.5f * pixels_.x) / scale(y), y};
}

void draw_scene(Canvas& canvas, const Stage& stage, const Scene& scene) {
    const World& world = scene.world;
    const float light = world.daylight();
    draw_sky(canvas, stage, world);
    draw_hills(canvas, stage, light);
    draw_ground(canvas, stage, scene.palette, light);
    draw_places(canvas, stage, light);
    // From the back to the front.
    std::vector<const Item*> items;
    for (const Item& item : world.items()) items.push_back(&item);
    std::ranges::sort(items, {}, [](const Item* item) { return -item->position.y; });
    bool is_drawn = false;
    for (const Item* const item : items) {
        if (!is_drawn && item->position.y < world.body().position.y) {
            draw_creature(canvas, stage.at(world.body().position),
                          0.9f * stage.scale(world.body().position.y), look_of(scene));
            is_drawn = true;
        }
        draw_item(canvas, stage, scene.palette, *item, light);
    }
    if (!is_drawn)
        draw_creature(canvas, stage.at(world.body().position),
                      0.9f * stage.scale(world.body().position.y), look_of(scene));
    draw_hand(canvas, stage, scene);
}

}  // namespace hearth::ember
