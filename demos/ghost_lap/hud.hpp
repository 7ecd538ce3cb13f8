// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Panels: lap times, lap table, the ghost's learning progress, and costs.

#pragma once

#include "host/ui.hpp"
#include "play.hpp"

#include <string>
#include <vector>

namespace hearth::ghost_lap {

/// Input of the panels besides the game itself.
struct HudState {
    const Play* play = nullptr;
    std::string driver;  ///< "you", or the scripted style
    Action player_action{};
    demo::View view;         ///< of this frame, onto the track
    double render_ms = 0.0;  ///< GPU time, averaged
    double brain_ms = 0.0;
    bool has_gpu_times = false;
    bool has_keys = false;  ///< a person can use the keyboard
};

/// Positions of the track and the panels in the picture.
struct Layout {
    float scale = 1.0f;    ///< of panels and text
    float sidebar = 0.0f;  ///< pixels on the right
    demo::View world;

    static Layout of(VkExtent2D extent, const demo::Ui& ui);
};

void draw_hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent);

/// Draws a line chart into [min, max]; values are scaled by their maximum unless `top` > 0.
void draw_curve(ImDrawList& list, ImVec2 min, ImVec2 max, const std::vector<float>& values,
                ImU32 color, float top = 0.0f, bool is_logarithmic = false);

/// Formats a lap time: "1:02.345", or "18.642".
std::string lap_time_text(float seconds);

}  // namespace hearth::ghost_lap
