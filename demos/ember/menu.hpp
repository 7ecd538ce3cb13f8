// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Start screen, name, settings, pause and card: windows that are drawn over the garden.

#pragma once

#include "host/ui.hpp"
#include "keep.hpp"
#include "settings.hpp"

#include <string>
#include <vector>

namespace hearth::ember {

enum class Screen : uint8_t { kStart, kName, kSettings, kPlay, kPause, kCard };

/// What the player chose in a window.
enum class Order : uint8_t {
    kNone,
    kWake,  ///< MenuAnswer::name
    kName,
    kHatch,  ///< MenuAnswer::name
    kSurprise,
    kSettings,
    kBack,
    kResume,
    kCard,
    kExport,
    kStart,
    kQuit
};

struct MenuState {
    Screen screen = Screen::kStart;
    std::vector<Resident> residents;
    std::string name;               ///< typed so far
    std::string message;            ///< news of the last order
    std::vector<std::string> card;  ///< sentences
};

struct MenuAnswer {
    Order order = Order::kNone;
    std::string name;
    bool has_new_settings = false;
};

/// Draws the window of a screen, if it has one, between Ui::begin() and Ui::end(). settings: of the
/// sliders and switches.
MenuAnswer draw_menu(const MenuState& state, Settings& settings, const demo::Ui& ui,
                     VkExtent2D extent);

}  // namespace hearth::ember
