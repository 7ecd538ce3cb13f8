// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The player's hand: what mouse and keys mean.

#pragma once

#include "ember/player.hpp"
#include "host/input.hpp"
#include "screen.hpp"

#include <string>

namespace hearth::ember {

/// Turns a frame of input into a gesture; keeps what lasts longer than a frame.
class Hands {
  public:
    Gesture read(const demo::Input& input, const Stage& stage, const World& world);

  private:
    Sign read_sign(const demo::Input& input, const World& world);
    static void read_word(const demo::Input& input, const World& world, Gesture& gesture);

    Sign sign_ = Sign::kNone;
    double sign_ends_ = 0;  ///< in seconds of the world
};

/// A name with what was typed in a frame; characters that no name has are dropped.
std::string typed(std::string name, const demo::Input& input);

}  // namespace hearth::ember
