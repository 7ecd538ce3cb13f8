// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Panels: how they do, what learning costs, what the rails caught, and what the player can say.

#pragma once

#include "host/ui.hpp"
#include "play.hpp"

namespace hearth::hatchlings {

struct HudState {
    const Play* play = nullptr;
    double budget_us = 0;     ///< for learning, a frame; not finite: no limit
    uint32_t rewinds_to = 0;  ///< how many snapshots before the newest
    bool shows_thoughts = false, shows_hopes = false, shows_then = false;
    bool has_keys = false;
};

/// Where on the picture the clearing and the panels go.
struct Layout {
    float scale = 1;
    float sidebar = 0;  ///< pixels on the right
    demo::View world;

    static Layout of(VkExtent2D extent, const demo::Ui& ui);
};

void draw_hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent);

}  // namespace hearth::hatchlings
