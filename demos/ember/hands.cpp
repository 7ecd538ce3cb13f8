// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "hands.hpp"

#include <glm/geometric.hpp>

#include <array>
#include <cctype>

namespace hearth::ember {
namespace {

constexpr double kSignSeconds = 5;
constexpr float kPointReach = 2.0f;  ///< metres from the hand to what it points at

std::optional<uint32_t> item_near(const World& world, glm::vec2 place) {
    std::optional<uint32_t> found;
    float least = kPointReach;
    for (uint32_t i = 0; i < world.items().size(); ++i) {
        const float distance = glm::distance(world.items()[i].position, place);
        if (distance >= least) continue;
        least = distance;
        found = i;
    }
    return found;
}

}  // namespace

Sign Hands::read_sign(const demo::Input& input, const World& world) {
    const auto give = [&](Sign sign) {
        sign_ = sign;
        sign_ends_ = world.seconds() + kSignSeconds;
    };
    if (input.was_pressed("q")) give(Sign::kHigh);
    if (input.was_pressed("e")) give(Sign::kRound);
    return world.seconds() < sign_ends_ ? sign_ : Sign::kNone;
}

void Hands::read_word(const demo::Input& input, const World& world, Gesture& gesture) {
    constexpr std::array<const char*, kThingCount> kKeys = {"1", "2", "3", "4", "5"};
    for (size_t i = 0; i < kKeys.size(); ++i) {
        if (!input.was_pressed(kKeys[i])) continue;
        gesture.points_at = item_near(world, gesture.hand.position);
        gesture.word = static_cast<Thing>(i);
    }
}

Gesture Hands::read(const demo::Input& input, const Stage& stage, const World& world) {
    Gesture gesture;
    gesture.hand.is_here = input.mouse.y > stage.horizon() && input.mouse.x >= 0;
    if (!gesture.hand.is_here) return gesture;
    gesture.hand.position = stage.ground(input.mouse);
    gesture.hand.sign = read_sign(input, world);
    if (input.was_pressed("+") || input.was_pressed("=")) gesture.voice = 1;
    if (input.was_pressed("-")) gesture.voice = -1;
    read_word(input, world, gesture);
    if (!input.is_held("space")) return gesture;
    gesture.leads = steps_towards(world.body(), gesture.hand.position);
    gesture.leads_to = gesture.hand.position;
    // Led to a thing, it is shown what to do there.
    if (const auto item = world.nearest_item(kReach)) gesture.shows = item;
    return gesture;
}

std::string typed(std::string name, const demo::Input& input) {
    constexpr size_t kMost = 24;
    for (const char c : input.text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_part = std::isalnum(byte) != 0 || ((c == ' ' || c == '-') && !name.empty());
        if (byte < 128 && is_part && name.size() < kMost) name += c;
    }
    for (const std::string& key : input.pressed)
        if (key == "backspace" && !name.empty()) name.pop_back();
    return name;
}

}  // namespace hearth::ember
