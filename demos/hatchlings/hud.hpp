// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Panels: progress, cost of learning, safety limits that were hit, and the player's commands.

#pragma once

#include "host/ui.hpp"
#include "play.hpp"

namespace hearth::hatchlings {

struct HudState {
    const Play* play = nullptr;
    double budget_us = 0;     ///< for learning, per frame; not finite: no limit
    double mind_us = -1;      ///< GPU time of acting and learning in a frame; negative: unknown
    uint32_t rewinds_to = 0;  ///< index of the snapshot to restore, from the newest
    bool shows_thoughts = false, shows_hopes = false, shows_then = false;
    bool has_keys = false;
};

/// Positions of the clearing and the panels in the picture.
struct Layout {
    float scale = 1;
    float sidebar = 0;  ///< pixels on the right
    demo::View world;

    static Layout of(VkExtent2D extent, const demo::Ui& ui);
};

void draw_hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent);

}  // namespace hearth::hatchlings
