// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The colours of the garden by day and by night.

#pragma once

#include "ember/things.hpp"
#include "host/canvas.hpp"

#include <array>

namespace hearth::ember {

/// A colour by day and by night.
struct Tint {
    demo::Color day, night;
    constexpr Tint(uint32_t day_rgb, uint32_t night_rgb)
        : day(demo::Color::hex(day_rgb)), night(demo::Color::hex(night_rgb)) {}
    /// light: 0 in deep night, 1 at noon.
    demo::Color at(float light) const { return night.mix(day, light); }
};

struct Palette {
    std::array<Tint, kPlaceCount> ground;
    Tint leaf, berry;
    Tint cap, stem;  ///< of mushrooms
    Tint shell, rib;
    Tint stalk, spike;  ///< of thistles
    Tint coat, belly;   ///< of the creature
};

/// is_distinct: colours that stay apart for eyes that confuse red and green, or blue and yellow.
const Palette& palette_of(bool is_distinct);

}  // namespace hearth::ember
