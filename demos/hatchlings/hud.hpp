// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Panels: how they do, what learning costs, what the rails caught, and what the player can say.

#pragma once

#include "hatchlings/progress.hpp"
#include "host/ui.hpp"

#include <hearth/agents.hpp>

#include <string>

namespace hearth::hatchlings {

struct HudState {
    const World* world = nullptr;
    const Progress* progress = nullptr;
    agents::AgentsStatus status{};
    uint64_t published = 0;  ///< frame of the last publication that was seen
    double budget_us = 0;    ///< for learning, a frame; not finite: no limit
    bool is_frozen = false;
    std::string selected;  ///< who would be praised
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
