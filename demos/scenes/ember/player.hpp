// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A player: what a hand does in one frame. And scripted players of three tempers, for tests and
// measurements; they see what a person sees, never the brain.

#pragma once

#include "ember/world.hpp"

#include <optional>
#include <string_view>

namespace hearth::ember {

/// Everything that a player does in a frame.
struct Gesture {
    Hand hand;
    float voice = 0;  ///< praise up to 1, scolding down to -1
    /// The hand points at this item and says the word of a kind.
    std::optional<uint32_t> points_at;
    Thing word = Thing::kBerry;
    /// The player leads it by the hand: the steps of its legs.
    std::optional<Steps> leads;
    std::optional<glm::vec2> leads_to;  ///< where to; none: the steps are no lesson
    /// Led to this item, it is shown what to do there.
    std::optional<uint32_t> shows;
};

enum class Temper : uint8_t { kPatient, kCruel, kAbsent };
constexpr std::string_view kTemperNames[] = {"patient", "cruel", "absent"};

class ScriptedPlayer {
  public:
    ScriptedPlayer(Temper temper, uint64_t seed) : temper_(temper), dice_{seed * 977 + 13} {}

    /// Returns the player's gesture in the coming frame.
    Gesture play(const World& world);

  private:
    Gesture be_patient(const World& world);
    Gesture be_cruel(const World& world);
    void stay_near(const World& world, float least, float most);
    /// True once, a person's reaction time after an act was over.
    bool has_seen_an_end(const World& world);
    std::optional<Gesture> lead(const World& world);
    void point(const World& world, Gesture& gesture, float seconds, float right);
    float patient_voice(const World& world) const;
    bool every(float seconds, uint64_t& last, const World& world);

    Temper temper_;
    Dice dice_;
    Hand hand_;
    glm::vec2 aim_ = {0, 0};
    bool has_judged_ = true;
    std::optional<uint32_t> leads_to_;
    uint64_t moved_ = 0, pointed_ = 0, signed_ = 0, led_ = 0, came_ = 0, shouted_ = 0;
};

/// Steps of sure legs towards a target: how a person leads.
Steps steps_towards(const Body& body, glm::vec2 target);

}  // namespace hearth::ember
