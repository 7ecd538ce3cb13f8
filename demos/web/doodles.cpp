// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws doodles: lines and arcs of each kind with random proportions and details, an unsteady hand,
// and a random slant, scale and rotation of the whole.

#include "doodles.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::web {

namespace {

constexpr float kPi = 3.14159265f;

/// Draws strokes with a hand that shakes.
class Hand {
  public:
    Hand(DoodleRandom& random, Drawing& drawing)
        : random_(random), drawing_(drawing), shake_(random.uniform(0.002f, 0.014f)) {
        drawing_.count = 0;
    }

    void move(float x, float y) { add(x, y, 1); }
    /// A straight line from the last point.
    void line(float x, float y) {
        const float from_x = x_, from_y = y_;
        constexpr int kParts = 6;
        for (int i = 1; i <= kParts; ++i) {
            const float t = static_cast<float>(i) / kParts;
            add(from_x + (x - from_x) * t, from_y + (y - from_y) * t, 0);
        }
    }
    /// A part of an ellipse, angles in radians, clockwise from the right.
    void arc(float x, float y, float rx, float ry, float first, float turn, float tilt = 0) {
        constexpr int kParts = 22;
        for (int i = 0; i <= kParts; ++i) {
            const float angle = first + turn * static_cast<float>(i) / kParts;
            const float u = rx * std::cos(angle), v = ry * std::sin(angle);
            add(x + u * std::cos(tilt) - v * std::sin(tilt),
                y + u * std::sin(tilt) + v * std::cos(tilt), i == 0);
        }
    }
    void ellipse(float x, float y, float rx, float ry, float tilt = 0) {
        // Hands begin circles at different places, and close them more or less.
        arc(x, y, rx, ry, random_.uniform(0, 2 * kPi), 2 * kPi * random_.uniform(0.93f, 1.04f),
            tilt);
    }
    void rectangle(float left, float top, float right, float bottom) {
        move(left, top);
        line(right, top);
        line(right, bottom);
        line(left, bottom);
        line(left, top);
    }
    void triangle(float ax, float ay, float bx, float by, float cx, float cy) {
        move(ax, ay);
        line(bx, by);
        line(cx, cy);
        line(ax, ay);
    }

    /// Mirrors, slants, scales and rotates the whole.
    void place(bool may_mirror, float most_rotation) {
        const float mirror = may_mirror && random_.chance(0.5f) ? -1.0f : 1.0f;
        const float wide = random_.uniform(0.78f, 1.28f) * mirror;
        const float slant = random_.uniform(-0.15f, 0.15f);
        const float angle = random_.uniform(-most_rotation, most_rotation);
        for (int i = 0; i < drawing_.count; ++i) {
            DoodlePoint& p = drawing_.points[i];
            const float x = (p.x - 0.5f) * wide + (p.y - 0.5f) * slant, y = p.y - 0.5f;
            p.x = 0.5f + x * std::cos(angle) - y * std::sin(angle);
            p.y = 0.5f + x * std::sin(angle) + y * std::cos(angle);
        }
    }

  private:
    void add(float x, float y, float begins) {
        x_ = x;
        y_ = y;
        if (drawing_.count == Drawing::kCapacity) return;
        drawing_.points[drawing_.count++] = {x + random_.uniform(-shake_, shake_),
                                             y + random_.uniform(-shake_, shake_), begins};
    }

    DoodleRandom& random_;
    Drawing& drawing_;
    const float shake_;
    float x_ = 0, y_ = 0;
};

void draw_sun(Hand& hand, DoodleRandom& r) {
    const float radius = r.uniform(0.17f, 0.27f);
    hand.ellipse(0.5f, 0.5f, radius, radius);
    const int rays = r.integer(6, 13);
    const float first = r.uniform(0, 2 * kPi), gap = r.uniform(0, 0.08f);
    for (int i = 0; i < rays; ++i) {
        const float angle = first + 2 * kPi * (static_cast<float>(i) + r.uniform(-0.2f, 0.2f)) /
                                        static_cast<float>(rays);
        const float from = radius + gap, to = from + r.uniform(0.1f, 0.2f);
        hand.move(0.5f + from * std::cos(angle), 0.5f + from * std::sin(angle));
        hand.line(0.5f + to * std::cos(angle), 0.5f + to * std::sin(angle));
    }
    if (!r.chance(0.25f)) return;
    hand.ellipse(0.43f, 0.46f, 0.015f, 0.015f);
    hand.ellipse(0.57f, 0.46f, 0.015f, 0.015f);
    hand.arc(0.5f, 0.52f, 0.08f, 0.06f, 0.2f, kPi - 0.4f);
}

void draw_house(Hand& hand, DoodleRandom& r) {
    const float left = r.uniform(0.18f, 0.28f), right = 1 - left;
    const float eaves = r.uniform(0.38f, 0.52f), top = r.uniform(0.08f, 0.22f);
    const float over = r.uniform(0, 0.1f), bottom = r.uniform(0.82f, 0.95f);
    hand.rectangle(left, eaves, right, bottom);
    hand.triangle(left - over, eaves, 0.5f + r.uniform(-0.05f, 0.05f), top, right + over, eaves);
    if (r.chance(0.75f)) {
        const float x = r.uniform(left + 0.05f, right - 0.2f);
        hand.rectangle(x, r.uniform(0.6f, 0.7f), x + r.uniform(0.1f, 0.15f), bottom);
    }
    if (r.chance(0.6f)) {
        const float x = r.uniform(left + 0.05f, right - 0.2f), side = r.uniform(0.09f, 0.14f);
        hand.rectangle(x, eaves + 0.06f, x + side, eaves + 0.06f + side);
    }
    if (!r.chance(0.3f)) return;
    hand.move(0.68f, eaves - 0.1f);
    hand.line(0.68f, top + 0.02f);
    hand.line(0.76f, top + 0.02f);
    hand.line(0.76f, eaves - 0.04f);
}

void draw_tree(Hand& hand, DoodleRandom& r) {
    const float half = r.uniform(0.03f, 0.07f), bottom = r.uniform(0.88f, 0.97f);
    if (r.chance(0.4f)) {  // a fir
        const int tiers = r.integer(1, 3);
        const float low = r.uniform(0.68f, 0.78f);
        for (int i = 0; i < tiers; ++i) {
            const float base = low - 0.19f * static_cast<float>(i);
            const float wide = 0.32f - 0.06f * static_cast<float>(i);
            const float peak = tiers == 1 ? 0.06f : base - 0.3f;
            hand.triangle(0.5f - wide, base, 0.5f, peak, 0.5f + wide, base);
        }
        hand.move(0.5f - half, low);
        hand.line(0.5f - half, bottom);
        hand.line(0.5f + half, bottom);
        hand.line(0.5f + half, low);
        return;
    }
    const float middle = r.uniform(0.3f, 0.38f), rx = r.uniform(0.24f, 0.34f);
    const float ry = r.uniform(0.22f, 0.28f);
    if (r.chance(0.5f)) {
        hand.ellipse(0.5f, middle, rx, ry);
    } else {  // a cloud of leaves
        const int bumps = r.integer(5, 8);
        for (int i = 0; i < bumps; ++i) {
            const float angle = 2 * kPi * static_cast<float>(i) / static_cast<float>(bumps);
            hand.arc(0.5f + 0.75f * rx * std::cos(angle), middle + 0.75f * ry * std::sin(angle),
                     0.4f * rx, 0.4f * ry, angle - 1.5f, 3.0f);
        }
    }
    const float top = middle + 0.85f * ry;
    hand.move(0.5f - half, top);
    hand.line(0.5f - half, bottom);
    if (r.chance(0.5f)) hand.line(0.5f + half, bottom);
    hand.move(0.5f + half, bottom);
    hand.line(0.5f + half, top);
}

void draw_fish(Hand& hand, DoodleRandom& r) {
    const float rx = r.uniform(0.26f, 0.34f), ry = r.uniform(0.13f, 0.22f);
    const float end = 0.42f + rx, tail = r.uniform(0.1f, 0.18f);
    const float to = end + r.uniform(0.12f, 0.2f);
    if (r.chance(0.5f)) {  // one line that crosses itself
        hand.move(to, 0.5f - tail);
        for (int i = 0; i <= 24; ++i) {
            const float angle = 0.35f + (2 * kPi - 0.7f) * static_cast<float>(i) / 24;
            hand.line(0.42f + rx * std::cos(angle), 0.5f + ry * std::sin(angle));
        }
        hand.line(to, 0.5f + tail);
        if (r.chance(0.7f)) hand.line(to, 0.5f - tail);
    } else {
        hand.ellipse(0.42f, 0.5f, rx, ry);
        hand.triangle(end, 0.5f, to, 0.5f - tail, to, 0.5f + tail);
    }
    if (r.chance(0.8f)) hand.ellipse(0.42f - 0.6f * rx, 0.5f - 0.3f * ry, 0.02f, 0.02f);
    if (r.chance(0.3f)) hand.arc(0.42f - 0.2f * rx, 0.5f, 0.06f, 0.8f * ry, -kPi / 2, kPi);
}

void draw_star(Hand& hand, DoodleRandom& r) {
    const float first = -kPi / 2;
    const auto corner = [&](int i, float radius) {
        const float angle = first + 2 * kPi * static_cast<float>(i) / 10;
        return DoodlePoint{0.5f + radius * std::cos(angle), 0.5f + radius * std::sin(angle), 0};
    };
    const bool crosses = r.chance(0.5f);
    const float inner = r.uniform(0.16f, 0.24f);
    for (int i = 0; i <= (crosses ? 5 : 10); ++i) {
        const DoodlePoint p =
            crosses ? corner(4 * i, 0.42f) : corner(i, i % 2 == 0 ? 0.42f : inner);
        i == 0 ? hand.move(p.x, p.y) : hand.line(p.x, p.y);
    }
}

void draw_heart(Hand& hand, DoodleRandom& r) {
    const float dip = r.uniform(4, 7), size = r.uniform(0.022f, 0.027f);
    for (int i = 0; i <= 36; ++i) {
        const float t = 2 * kPi * static_cast<float>(i) / 36, s = std::sin(t);
        const float x = 0.5f + size * 16 * s * s * s;
        const float y = 0.46f - size * (13 * std::cos(t) - dip * std::cos(2 * t) -
                                        2 * std::cos(3 * t) - std::cos(4 * t));
        i == 0 ? hand.move(x, y) : hand.line(x, y);
    }
}

void draw_boat(Hand& hand, DoodleRandom& r) {
    const float deck = r.uniform(0.6f, 0.7f), keel = r.uniform(0.8f, 0.9f);
    const float cut = r.uniform(0.08f, 0.18f), mast = r.uniform(0.42f, 0.58f);
    const float top = r.uniform(0.06f, 0.16f);
    if (r.chance(0.7f)) {
        hand.move(0.1f, deck);
        hand.line(0.9f, deck);
        hand.line(0.9f - cut, keel);
        hand.line(0.1f + cut, keel);
        hand.line(0.1f, deck);
    } else {
        hand.arc(0.5f, deck, 0.4f, keel - deck + 0.05f, 0, kPi);
        hand.move(0.1f, deck);
        hand.line(0.9f, deck);
    }
    hand.move(mast, deck);
    hand.line(mast, top);
    const float sail = deck - r.uniform(0.04f, 0.12f);
    hand.triangle(mast, top + 0.02f, mast, sail, mast + r.uniform(0.22f, 0.34f), sail);
    if (r.chance(0.5f))
        hand.triangle(mast, top + 0.08f, mast, sail, mast - r.uniform(0.15f, 0.28f), sail);
    if (r.chance(0.25f)) hand.triangle(mast, top, mast + 0.1f, top + 0.04f, mast, top + 0.08f);
}

void draw_flower(Hand& hand, DoodleRandom& r) {
    const float middle = r.uniform(0.28f, 0.36f), heart = r.uniform(0.05f, 0.09f);
    const int petals = r.integer(4, 8);
    const float reach = heart + r.uniform(0.08f, 0.12f), first = r.uniform(0, 2 * kPi);
    hand.ellipse(0.5f, middle, heart, heart);
    for (int i = 0; i < petals; ++i) {
        const float angle = first + 2 * kPi * static_cast<float>(i) / static_cast<float>(petals);
        hand.ellipse(0.5f + reach * std::cos(angle), middle + reach * std::sin(angle),
                     reach - heart, r.uniform(0.05f, 0.08f), angle);
    }
    const float from = middle + 2 * reach - heart;
    hand.move(0.5f, from);
    hand.line(0.5f + r.uniform(-0.06f, 0.06f), r.uniform(0.88f, 0.98f));
    if (r.chance(0.6f)) hand.ellipse(0.58f, 0.78f, 0.09f, 0.04f, r.uniform(-0.9f, -0.3f));
    if (r.chance(0.4f)) hand.ellipse(0.42f, 0.82f, 0.09f, 0.04f, r.uniform(0.3f, 0.9f));
}

void draw_cat(Hand& hand, DoodleRandom& r) {
    const float rx = r.uniform(0.27f, 0.34f), ry = r.uniform(0.24f, 0.3f), y = 0.56f;
    hand.ellipse(0.5f, y, rx, ry);
    const float ear = r.uniform(0.12f, 0.22f);
    for (const float side : {-1.0f, 1.0f}) {
        const float out = 0.5f + side * 0.88f * rx, in = 0.5f + side * 0.3f * rx;
        hand.move(out, y - 0.5f * ry);
        hand.line(0.5f + side * 0.85f * rx, y - ry - ear);
        hand.line(in, y - 0.93f * ry);
        hand.ellipse(0.5f + side * 0.35f * rx, y - 0.2f * ry, 0.025f, 0.03f);
    }
    const int whiskers = r.integer(0, 3);
    for (int i = 0; i < whiskers; ++i)
        for (const float side : {-1.0f, 1.0f}) {
            const float tilt = 0.05f * static_cast<float>(i - 1);
            hand.move(0.5f + side * 0.1f, y + 0.1f + 0.4f * tilt);
            hand.line(0.5f + side * (rx + r.uniform(0, 0.12f)), y + 0.1f + 1.6f * tilt);
        }
    if (r.chance(0.7f)) hand.triangle(0.47f, y + 0.03f, 0.53f, y + 0.03f, 0.5f, y + 0.07f);
    if (!r.chance(0.6f)) return;
    hand.arc(0.45f, y + 0.1f, 0.05f, 0.04f, 0, kPi);
    hand.arc(0.55f, y + 0.1f, 0.05f, 0.04f, 0, kPi);
}

void draw_cup(Hand& hand, DoodleRandom& r) {
    const float top = r.uniform(0.28f, 0.38f), bottom = r.uniform(0.76f, 0.86f);
    const float narrow = r.uniform(0, 0.1f), left = 0.22f, right = 0.66f;
    hand.move(left, top);
    hand.line(left + narrow, bottom);
    hand.line(right - narrow, bottom);
    hand.line(right, top);
    if (r.chance(0.5f))
        hand.line(left, top);
    else
        hand.ellipse((left + right) / 2, top, (right - left) / 2, r.uniform(0.03f, 0.06f));
    const float middle = (top + bottom) / 2 - 0.03f;
    hand.arc(right - narrow / 2, middle, r.uniform(0.12f, 0.18f), r.uniform(0.1f, 0.16f), -kPi / 2,
             kPi);
    if (!r.chance(0.35f)) return;
    for (const float x : {0.36f, 0.5f}) {
        hand.move(x, top - 0.06f);
        hand.line(x + 0.04f, top - 0.12f);
        hand.line(x, top - 0.18f);
        hand.line(x + 0.04f, top - 0.25f);
    }
}

/// Squared distance of a point from a line between two.
float squared_distance(float x, float y, const DoodlePoint& a, const DoodlePoint& b) {
    const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    float t = length > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length : 0;
    t = std::min(std::max(t, 0.0f), 1.0f);
    const float ex = x - a.x - t * dx, ey = y - a.y - t * dy;
    return ex * ex + ey * ey;
}

}  // namespace

uint32_t DoodleRandom::next() {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}
float DoodleRandom::uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 8) / 16777216.0f;
}
int DoodleRandom::integer(int low, int high) {
    return low + static_cast<int>(next() % static_cast<uint32_t>(high - low + 1));
}

void draw_doodle(int kind, DoodleRandom& random, Drawing& drawing) {
    constexpr void (*kDraw[kDoodleKinds])(Hand&, DoodleRandom&) = {
        draw_sun,   draw_house, draw_tree,   draw_fish, draw_star,
        draw_heart, draw_boat,  draw_flower, draw_cat,  draw_cup};
    Hand hand(random, drawing);
    kDraw[kind](hand, random);
    hand.place(true, 0.25f);
}

void rasterize(const Drawing& drawing, float pen, float* image) {
    std::fill_n(image, kDoodlePixels, 0.0f);
    if (drawing.count == 0) return;
    const std::pair horizontal =
        std::minmax_element(drawing.points, drawing.points + drawing.count,
                            [](const DoodlePoint& a, const DoodlePoint& b) { return a.x < b.x; });
    const std::pair vertical =
        std::minmax_element(drawing.points, drawing.points + drawing.count,
                            [](const DoodlePoint& a, const DoodlePoint& b) { return a.y < b.y; });
    const float left = horizontal.first->x, right = horizontal.second->x;
    const float top = vertical.first->y, bottom = vertical.second->y;
    const float room = static_cast<float>(kDoodleSide) - pen - 1;
    const float scale = room / std::max({right - left, bottom - top, 1e-3f});
    constexpr float kMiddle = 0.5f * kDoodleSide;
    const auto placed = [&](const DoodlePoint& p) {
        return DoodlePoint{kMiddle + (p.x - 0.5f * (left + right)) * scale,
                           kMiddle + (p.y - 0.5f * (top + bottom)) * scale, p.begins_stroke};
    };
    const float reach = 0.5f * pen + 0.5f;
    DoodlePoint before = placed(drawing.points[0]);
    for (int i = 0; i < drawing.count; ++i) {
        const DoodlePoint to = placed(drawing.points[i]);
        const DoodlePoint from = to.begins_stroke > 0 ? to : before;
        before = to;
        const auto pixels = [&](float a, float b) {
            return std::pair(std::max(static_cast<int>(std::min(a, b) - reach), 0),
                             std::min(static_cast<int>(std::max(a, b) + reach), kDoodleSide - 1));
        };
        const auto [first_x, last_x] = pixels(from.x, to.x);
        const auto [first_y, last_y] = pixels(from.y, to.y);
        for (int y = first_y; y <= last_y; ++y)
            for (int x = first_x; x <= last_x; ++x) {
                const float distance = std::sqrt(squared_distance(
                    static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, from, to));
                float& pixel = image[y * kDoodleSide + x];
                pixel = std::max(pixel, std::min(reach - distance, 1.0f));
            }
    }
}

void make_doodle_image(int kind, DoodleRandom& random, float* image) {
    static Drawing drawing;  // of 12 kB, and modules have one thread
    draw_doodle(kind, random, drawing);
    rasterize(drawing, random.uniform(1.0f, 2.4f), image);
}

}  // namespace hearth::web
