// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A card as a picture: the creature, its name, and what its brain says of it.

#pragma once

#include "host/ui.hpp"
#include "screen.hpp"

#include <string>
#include <vector>

namespace hearth::ember {

constexpr VkExtent2D kCardPixels = {600, 840};

struct CardFace {
    std::string name;
    std::vector<std::string> sentences;
    Look look;
};

/// The largest card in the middle of a picture.
struct CardBox {
    glm::vec2 corner{0}, size{0};
    static CardBox in(VkExtent2D extent, float margin);
};

/// The shapes of a card.
void draw_card_shapes(demo::Canvas& canvas, const CardBox& box, const CardFace& face);
/// Its words, over the shapes.
void draw_card_words(ImDrawList& list, const demo::Ui& ui, const CardBox& box,
                     const CardFace& face);

}  // namespace hearth::ember
