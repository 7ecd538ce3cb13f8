// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "card_view.hpp"

#include "texts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth::ember {
namespace {

using demo::Color;
using glm::vec2;

constexpr Color kPaper = Color::hex(0xfff4e2), kEdge = Color::hex(0x8a3a22),
                kInk = Color::hex(0x3a2320), kFaint = Color::hex(0x7d6253);
constexpr float kPortrait = 0.46f;  ///< of the height

}  // namespace

CardBox CardBox::in(VkExtent2D extent, float margin) {
    const vec2 all(static_cast<float>(extent.width), static_cast<float>(extent.height));
    const vec2 shape(kCardPixels.width, kCardPixels.height);
    const float scale = std::min((all.x - 2 * margin) / shape.x, (all.y - 2 * margin) / shape.y);
    return {0.5f * (all - scale * shape), scale * shape};
}

void draw_card_shapes(demo::Canvas& canvas, const CardBox& box, const CardFace& face) {
    const float unit = box.size.y / 100;
    const vec2 middle = box.corner + 0.5f * box.size;
    canvas.rounded_box(middle + vec2(0.6f * unit, 0.9f * unit), 0.5f * box.size, 0, 3 * unit,
                       Color{0, 0, 0, 0.35f});
    canvas.rounded_box(middle, 0.5f * box.size, 0, 3 * unit, kEdge);
    canvas.rounded_box(middle, 0.5f * box.size - unit, 0, 2.2f * unit, kPaper);
    // The portrait: a sky, a meadow, and the creature.
    const vec2 from = box.corner + 2.5f * unit;
    const vec2 to(box.corner.x + box.size.x - 2.5f * unit, box.corner.y + kPortrait * box.size.y);
    const float horizon = from.y + 0.62f * (to.y - from.y);
    const auto band = [&](float top, float bottom, Color above, Color below) {
        const std::array<vec2, 2> left = {vec2(from.x, top), vec2(to.x, top)};
        const std::array<vec2, 2> right = {vec2(from.x, bottom), vec2(to.x, bottom)};
        const std::array<std::array<vec2, 2>, 2> sides = {std::array<vec2, 2>{left[0], right[0]},
                                                          std::array<vec2, 2>{left[1], right[1]}};
        canvas.band(sides[0], sides[1], std::array<Color, 2>{above, below});
    };
    band(from.y, horizon, Color::hex(0x7fbbe6), Color::hex(0xfbe3c0));
    const Color ground = face.look.palette->ground[0].day;
    band(horizon, to.y, ground, ground.mix(kInk, 0.12f));
    canvas.disc({to.x - 9 * unit, from.y + 9 * unit}, 9 * unit, Color::hex(0xfff2c0, 0.7f),
                Color::hex(0xfff2c0, 0), 32);
    canvas.disc({to.x - 9 * unit, from.y + 9 * unit}, 3.5f * unit, Color::hex(0xfff2c0),
                Color::hex(0xfff2c0), 32);
    draw_creature(canvas, {middle.x, to.y - 5 * unit}, 20 * unit, face.look);
}

void draw_card_words(ImDrawList& list, const demo::Ui& ui, const CardBox& box,
                     const CardFace& face) {
    const float unit = box.size.y / 100, left = box.corner.x + 5 * unit;
    const float wide = box.size.x - 10 * unit;
    float y = box.corner.y + (kPortrait + 0.015f) * box.size.y;
    const auto write = [&](ImFont* font, float size, Color color, std::string_view text) {
        const char* const end = text.data() + text.size();
        list.AddText(font, size, {left, y}, color.packed(), text.data(), end, wide);
        y += font->CalcTextSizeA(size, 1e6f, wide, text.data(), end).y;
    };
    write(ui.display(), 6.5f * unit, kInk, face.name);
    y += 0.8f * unit;
    // As large as fits above the foot.
    const float foot = box.corner.y + box.size.y - 6.5f * unit;
    float size = 3.3f * unit;
    const auto height = [&] {
        float sum = 0;
        for (const std::string& sentence : face.sentences)
            sum += ui.body()->CalcTextSizeA(size, 1e6f, wide, sentence.c_str()).y + 0.35f * size;
        return sum;
    };
    while (y + height() > foot && size > 1.2f * unit) size *= 0.95f;
    for (const std::string& sentence : face.sentences) {
        write(ui.body(), size, kInk, sentence);
        y += 0.35f * size;
    }
    y = box.corner.y + box.size.y - 5.2f * unit;
    write(ui.small(), 2.0f * unit, kFaint, texts::kCardFoot);
}

}  // namespace hearth::ember
