// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ember/world.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::ember {
namespace {

constexpr float kTwoPi = 2 * std::numbers::pi_v<float>;

/// Seconds that it looks up between two acts: long enough for a person to react.
constexpr float kLookUp = 0.8f;
/// Longest duration of each act in seconds.
constexpr float kRestSeconds = 2.0f, kTrickSeconds = 1.4f, kWalkSeconds = 6.0f, kFleeSeconds = 2.0f;
constexpr float kFleeDistance = 6.0f;

/// Change of each need per second.
constexpr float kHungerRate = 1 / 110.0f, kColdRate = 1 / 50.0f, kWarmRate = 1 / 25.0f;
constexpr float kFatigueRate = 1 / 160.0f, kRestRate = 1 / 8.0f;
constexpr float kWarmth = 2.2f;  ///< distance from a lantern within which it warms
constexpr float kGrowSeconds = 14.0f;

/// Frustration of an act that failed, and the small effort of every act.
constexpr float kFailure = -0.12f, kEffort = -0.03f;

float decay(float rate) {
    return 1 - std::exp(-rate * kFrameSeconds);
}

float closeness(float distance) {
    return std::clamp(1 - distance / kSight, 0.0f, 1.0f);
}

float lower(float need, float by) {
    return std::clamp(need - by, 0.0f, 1.0f);
}

glm::vec2 inside_garden(glm::vec2 p) {
    return glm::clamp(p, glm::vec2(0.5f), kGarden - 0.5f);
}

glm::vec2 place_corner(Place place) {
    return {kPlaceWidth * static_cast<float>(place), 0};
}

glm::vec2 spot_in(Place place, Dice& dice) {
    const glm::vec2 corner = place_corner(place);
    return dice.inside(corner + glm::vec2(1.2f, 0.8f),
                       corner + glm::vec2(kPlaceWidth - 1.2f, kDepth - 0.8f));
}

/// Number of things of each kind in each place.
constexpr int kGrowing[kPlaceCount][kThingCount] = {
    // berry, mushroom, shell, lantern, thistle
    {2, 1, 0, 1, 1},
    {1, 2, 0, 1, 1},
    {1, 0, 3, 1, 1},
};

}  // namespace

World::World(uint64_t seed) {
    state_.dice.seed = seed;
    for (size_t place = 0; place < kPlaceCount; ++place)
        for (size_t kind = 0; kind < kThingCount; ++kind)
            for (int i = 0; i < kGrowing[place][kind]; ++i) {
                const Place where = static_cast<Place>(place);
                state_.items.push_back(
                    {static_cast<Thing>(kind), where, spot_in(where, state_.dice), 1});
            }
    state_.body.position = {0.5f * kPlaceWidth, 0.5f * kDepth};
    state_.body.heading = state_.dice.uniform(0, kTwoPi);
}

float World::day_time() const {
    return static_cast<float>(std::fmod(seconds() / double{kDaySeconds}, 1.0));
}

float World::daylight() const {
    return std::clamp(0.5f + 1.6f * std::sin(kTwoPi * day_time()), 0.0f, 1.0f);
}

Place World::place_at(glm::vec2 position) {
    const auto index = static_cast<int>(position.x / kPlaceWidth);
    return static_cast<Place>(std::clamp(index, 0, static_cast<int>(kPlaceCount) - 1));
}

// --- Senses --------------------------------------------------------------------------------------

std::optional<uint32_t> World::nearest(Thing kind) const {
    std::optional<uint32_t> found;
    float least = kSight;
    for (uint32_t i = 0; i < state_.items.size(); ++i) {
        const Item& item = state_.items[i];
        const float distance = glm::distance(item.position, state_.body.position);
        if (item.kind != kind || !item.is_ripe() || distance >= least) continue;
        least = distance;
        found = i;
    }
    return found;
}

std::optional<uint32_t> World::nearest_item(float distance) const {
    std::optional<uint32_t> found;
    for (uint32_t i = 0; i < state_.items.size(); ++i) {
        const float away = glm::distance(state_.items[i].position, state_.body.position);
        if (!state_.items[i].is_ripe() || away >= distance) continue;
        distance = away;
        found = i;
    }
    return found;
}

Senses World::senses() const {
    Senses senses{};
    for (size_t kind = 0; kind < kThingCount; ++kind)
        if (const auto item = nearest(static_cast<Thing>(kind)))
            senses[kind] =
                closeness(glm::distance(state_.items[*item].position, state_.body.position));
    if (hand_.is_here) {
        senses[5] = 1;
        senses[6] = closeness(glm::distance(hand_.position, state_.body.position));
        senses[7] = hand_.sign == Sign::kHigh ? 1.0f : 0.0f;
        senses[8] = hand_.sign == Sign::kRound ? 1.0f : 0.0f;
    }
    senses[9] = state_.needs.hunger, senses[10] = state_.needs.cold;
    senses[11] = state_.needs.fatigue;
    senses[12] = is_night() ? 1.0f : 0.0f;
    senses[13 + static_cast<size_t>(place_at(state_.body.position))] = 1;
    return senses;
}

Stride World::stride() const {
    return stride_of(state_.body, target().value_or(state_.body.position));
}

Stride stride_of(const Body& body, glm::vec2 target) {
    const glm::vec2 way = target - body.position;
    const float angle = std::atan2(way.y, way.x) - body.heading;
    return {std::cos(angle), std::sin(angle), std::min(glm::length(way) / 4, 1.0f),
            body.speed / kTopSpeed, body.turning / kTopTurn};
}

ActMask World::possible() const {
    ActMask mask{};
    mask.fill(true);
    for (size_t kind = 0; kind < kThingCount; ++kind) {
        const Thing thing = static_cast<Thing>(kind);
        mask[static_cast<size_t>(visit(thing))] = nearest(thing).has_value();
    }
    mask[static_cast<size_t>(Act::kToHand)] = hand_.is_here;
    mask[static_cast<size_t>(Act::kFromHand)] = hand_.is_here;
    return mask;
}

// --- Acts ----------------------------------------------------------------------------------------

bool World::is_waiting() const {
    return state_.doing.is_over && state_.doing.seconds >= kLookUp;
}

std::optional<glm::vec2> World::target() const {
    const Doing& doing = state_.doing;
    if (doing.is_over) return std::nullopt;
    if (doing.act == Act::kToHand) return hand_.position;
    if (is_visit(doing.act) || doing.act == Act::kWander || doing.act == Act::kFromHand)
        return doing.target;
    return std::nullopt;
}

glm::vec2 World::somewhere() {
    const float angle = state_.dice.uniform(0, kTwoPi), far = state_.dice.uniform(3, 8);
    return inside_garden(state_.body.position +
                         far * glm::vec2(std::cos(angle), 0.6f * std::sin(angle)));
}

void World::begin(Act act) {
    if (!possible()[static_cast<size_t>(act)]) act = Act::kRest;
    Doing& doing = state_.doing;
    doing = {.act = act, .is_over = false};
    if (is_visit(act)) {
        doing.item = *nearest(thing_of(act));
        doing.target = state_.items[doing.item].position;
    }
    if (act == Act::kWander) doing.target = somewhere();
    if (act == Act::kFromHand) {
        const glm::vec2 away = state_.body.position - hand_.position;
        const float length = glm::length(away);
        const glm::vec2 way = length > 0.1f ? away / length : glm::vec2(1, 0);
        doing.target = inside_garden(state_.body.position + kFleeDistance * way);
    }
}

void World::finish_led(Act act, uint32_t item) {
    state_.doing = {.act = act, .is_over = false, .item = item};
    if (is_visit(act)) use(state_.items[item]);
    end(true);
}

void World::end(bool succeeded) {
    state_.doing.is_over = true;
    state_.doing.seconds = 0;
    state_.doing.succeeded = succeeded;
    feel(Feeling::Cause::kEffort, succeeded ? kEffort : kFailure);
}

void World::feel(Feeling::Cause cause, float amount) {
    if (amount != 0) feelings_.push_back({cause, std::clamp(amount, -1.0f, 1.0f)});
}

void World::hear(float voice) {
    feel(Feeling::Cause::kVoice, voice);
}

/// Applies a thing's effect on the body.
void World::use(Item& item) {
    Needs& needs = state_.needs;
    const auto take = [&] {
        item.grown = 0;
        item.position = spot_in(item.place, state_.dice);
    };
    switch (item.kind) {
        case Thing::kBerry:
            feel(Feeling::Cause::kThing, 0.1f + 0.8f * needs.hunger);
            needs.hunger = lower(needs.hunger, 0.5f);
            return take();
        case Thing::kMushroom:
            feel(Feeling::Cause::kThing, 0.5f * needs.hunger - 0.2f);
            needs.hunger = lower(needs.hunger, 0.25f);
            return take();
        case Thing::kShell:
            feel(Feeling::Cause::kThing, 0.12f);
            return;
        case Thing::kLantern:
            feel(Feeling::Cause::kThing, 0.9f * needs.cold);
            needs.cold = lower(needs.cold, 0.5f);
            return;
        case Thing::kThistle:
            feel(Feeling::Cause::kThing, -0.7f);
            return;
    }
}

/// Ends acts that have reached their goal, or taken too long.
void World::carry_on() {
    Doing& doing = state_.doing;
    doing.seconds += kFrameSeconds;
    if (doing.is_over) return;
    const auto goal = target();
    const bool is_there = goal && glm::distance(*goal, state_.body.position) < kReach;
    if (is_visit(doing.act)) {
        Item& item = state_.items[doing.item];
        if (is_there) use(item);
        if (is_there || doing.seconds > kWalkSeconds) end(is_there);
        return;
    }
    switch (doing.act) {
        case Act::kRest:
            if (doing.seconds < kRestSeconds) return;
            feel(Feeling::Cause::kRest, 0.5f * state_.needs.fatigue);
            state_.needs.fatigue = lower(state_.needs.fatigue, kRestRate * kRestSeconds);
            return end(true);
        case Act::kSing:
        case Act::kSpin:
            if (doing.seconds >= kTrickSeconds) end(true);
            return;
        case Act::kFromHand:
            if (is_there || doing.seconds > kFleeSeconds) end(true);
            return;
        default:  // to the hand, or somewhere
            if (is_there || doing.seconds > kWalkSeconds ||
                (doing.act == Act::kToHand && !hand_.is_here))
                end(is_there);
    }
}

// --- Time ----------------------------------------------------------------------------------------

Body moved(Body body, const Steps& steps) {
    const float turn = std::clamp(std::isfinite(steps.turn) ? steps.turn : 0, -1.0f, 1.0f);
    const float push = std::clamp(std::isfinite(steps.push) ? steps.push : -1, -1.0f, 1.0f);
    body.turning += (turn * kTopTurn - body.turning) * decay(10);
    body.speed += (0.5f * (push + 1) * kTopSpeed - body.speed) * decay(6);
    body.heading = std::remainder(body.heading + body.turning * kFrameSeconds, kTwoPi);
    const glm::vec2 way(std::cos(body.heading), std::sin(body.heading));
    body.position = inside_garden(body.position + body.speed * kFrameSeconds * way);
    return body;
}

void World::move(const Steps& steps) {
    state_.body = moved(state_.body, steps);
}

void World::live() {
    Needs& needs = state_.needs;
    const auto change = [](float& need, float rate) {
        need = std::clamp(need + rate * kFrameSeconds, 0.0f, 1.0f);
    };
    bool is_warm = !is_night();
    for (const Item& item : state_.items)
        is_warm |= item.kind == Thing::kLantern &&
                   glm::distance(item.position, state_.body.position) < kWarmth;
    change(needs.hunger, kHungerRate);
    change(needs.cold, is_warm ? -kWarmRate : kColdRate);
    change(needs.fatigue, kFatigueRate * (0.3f + state_.body.speed / kTopSpeed));
}

void World::grow() {
    for (Item& item : state_.items)
        if (!item.is_ripe()) item.grown += kFrameSeconds / kGrowSeconds;
}

void World::sleep(double hours) {
    constexpr double kHungryAfter = 24, kRestedAfter = 4;
    constexpr float kMostHunger = 0.6f;  ///< from sleep alone
    Needs& needs = state_.needs;
    const auto hunger = static_cast<float>(std::min(hours / kHungryAfter, 1.0));
    needs.hunger = std::max(needs.hunger, std::min(needs.hunger + hunger, kMostHunger));
    needs.fatigue = lower(needs.fatigue, static_cast<float>(std::min(hours / kRestedAfter, 1.0)));
    needs.cold = 0;
}

void World::step(const Steps& steps, bool is_led) {
    ++state_.frame;
    move(is_led || target() ? steps : Steps{});
    live();
    grow();
    if (!is_led) carry_on();
}

}  // namespace hearth::ember
