// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ember/player.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::ember {
namespace {

constexpr float kReaction = 0.4f;  // seconds
constexpr float kHandSpeed = 2.0f;

}  // namespace

Steps steps_towards(const Body& body, glm::vec2 target) {
    const Stride stride = stride_of(body, target);
    const float angle = std::atan2(stride[1], stride[0]);
    return {std::clamp(1.5f * angle, -1.0f, 1.0f), std::abs(angle) < 0.9f ? 0.8f : -0.4f};
}

bool ScriptedPlayer::every(float seconds, uint64_t& last, const World& world) {
    const auto frames = static_cast<uint64_t>(seconds * kFramesPerSecond);
    if (world.frame() < last + frames) return false;
    last = world.frame();
    return true;
}

void ScriptedPlayer::stay_near(const World& world, float least, float most) {
    if (every(4, moved_, world)) {
        const float angle = dice_.uniform(0, 6.28f), far = dice_.uniform(least, most);
        aim_ = world.body().position + far * glm::vec2(std::cos(angle), 0.6f * std::sin(angle));
        aim_ = glm::clamp(aim_, glm::vec2(0.5f), kGarden - 0.5f);
    }
    const glm::vec2 way = aim_ - hand_.position;
    const float length = glm::length(way), step = kHandSpeed * kFrameSeconds;
    hand_.position = length <= step ? aim_ : hand_.position + way * (step / length);
}

bool ScriptedPlayer::has_seen_an_end(const World& world) {
    const Doing& doing = world.doing();
    if (!doing.is_over || doing.seconds < kReaction) {
        has_judged_ = false;
        return false;
    }
    return !std::exchange(has_judged_, true);
}

void ScriptedPlayer::point(const World& world, Gesture& gesture, float seconds, float right) {
    const auto item = world.nearest_item(3.5f);
    if (!item || !every(seconds, pointed_, world)) return;
    gesture.points_at = item;
    gesture.word = dice_.chance(right) ? world.items()[*item].kind
                                       : static_cast<Thing>(dice_.below(kThingCount));
}

/// Leads it to a berry, and shows it how to eat.
std::optional<Gesture> ScriptedPlayer::lead(const World& world) {
    if (!leads_to_) {
        const float pause = world.seconds() < 60 ? 8.0f : 45.0f;
        if (world.needs().hunger < 0.3f || !every(pause, led_, world)) return std::nullopt;
        leads_to_ = world.nearest(Thing::kBerry);
        if (!leads_to_) return std::nullopt;
    }
    const Item& item = world.items()[*leads_to_];
    hand_.position = world.body().position;
    Gesture gesture{.hand = hand_};
    gesture.leads = steps_towards(world.body(), item.position);
    gesture.leads_to = item.position;
    if (glm::distance(item.position, world.body().position) < kReach)
        gesture.shows = std::exchange(leads_to_, std::nullopt);
    if (!item.is_ripe()) leads_to_.reset();
    return gesture;
}

/// Judges what it has just seen, as a person who wishes the creature well.
float ScriptedPlayer::patient_voice(const World& world) const {
    const Doing& doing = world.doing();
    if (!doing.succeeded) return 0;
    switch (doing.act) {
        case Act::kToHand:
            return 1;
        case Act::kVisitBerry:
            return 0.7f;
        case Act::kVisitShell:
            return 0.6f;
        case Act::kVisitLantern:
            return world.is_night() ? 0.7f : 0;
        case Act::kVisitThistle:
        case Act::kVisitMushroom:
            return -0.5f;
        case Act::kSpin:
            return hand_.sign == Sign::kRound ? 1.0f : hand_.sign == Sign::kHigh ? -0.3f : 0;
        case Act::kSing:
            return hand_.sign == Sign::kHigh ? 1.0f : hand_.sign == Sign::kRound ? -0.3f : 0;
        default:
            return 0;
    }
}

Gesture ScriptedPlayer::be_patient(const World& world) {
    if (every(hand_.is_here ? 45.0f : 15.0f, came_, world)) hand_.is_here = !hand_.is_here;
    if (auto led = lead(world)) return *led;
    stay_near(world, 1.5f, 4.0f);
    Gesture gesture;
    if (!hand_.is_here) return gesture;
    if (has_seen_an_end(world)) {
        gesture.voice = patient_voice(world);
        hand_.sign = Sign::kNone;
    }
    if (every(9, signed_, world)) hand_.sign = dice_.chance(0.5f) ? Sign::kHigh : Sign::kRound;
    point(world, gesture, 6, 1);
    gesture.hand = hand_;
    return gesture;
}

/// Follows it, and shouts at most of what it does, and without a reason, too.
Gesture ScriptedPlayer::be_cruel(const World& world) {
    if (every(hand_.is_here ? 40.0f : 20.0f, came_, world)) hand_.is_here = !hand_.is_here;
    stay_near(world, 0.5f, 2.0f);
    Gesture gesture;
    if (!hand_.is_here) return gesture;
    const bool is_close = glm::distance(hand_.position, world.body().position) < 4;
    if (has_seen_an_end(world)) {
        gesture.voice = is_close && dice_.chance(0.85f) ? -1.0f : 0.0f;
        hand_.sign = Sign::kNone;
    }
    if (is_close && every(3, shouted_, world)) gesture.voice = -1;
    if (every(15, signed_, world)) hand_.sign = dice_.chance(0.5f) ? Sign::kHigh : Sign::kRound;
    point(world, gesture, 60, 0.2f);
    gesture.hand = hand_;
    return gesture;
}

Gesture ScriptedPlayer::play(const World& world) {
    if (world.frame() == 0) {
        hand_ = {.is_here = true, .position = world.body().position + glm::vec2(1.5f, 0)};
        aim_ = hand_.position;
    }
    switch (temper_) {
        case Temper::kPatient:
            return be_patient(world);
        case Temper::kCruel:
            return be_cruel(world);
        case Temper::kAbsent:
            break;
    }
    // Looks on while it hatches, and goes.
    if (world.seconds() < 10) return {.hand = hand_};
    return {};
}

}  // namespace hearth::ember
