// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Steps the clearing and computes observations.

#include "hatchlings/world.hpp"

#include "random.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace hearth::hatchlings {
namespace {

constexpr float kGlowSeconds = 0.7f;

float finite_in_unit(float value) {
    return std::isfinite(value) ? std::clamp(value, -1.0f, 1.0f) : 0.0f;
}

/// Finds the `kSeen` nearest, sorted by distance; fewer if there are fewer.
int nearest(std::span<const Drifter> drifters, glm::vec2 from, std::array<int, kSeen>& found) {
    std::array<float, kSeen> distance{};
    int count = 0;
    for (int i = 0; i < static_cast<int>(drifters.size()); ++i) {
        const glm::vec2 offset = drifters[static_cast<size_t>(i)].position - from;
        const float d = glm::dot(offset, offset);
        int at = count;
        while (at > 0 && d < distance[static_cast<size_t>(at - 1)]) --at;
        if (at == kSeen) continue;
        count = std::min(count + 1, kSeen);
        for (int k = count - 1; k > at; --k) {
            found[static_cast<size_t>(k)] = found[static_cast<size_t>(k - 1)];
            distance[static_cast<size_t>(k)] = distance[static_cast<size_t>(k - 1)];
        }
        found[static_cast<size_t>(at)] = i;
        distance[static_cast<size_t>(at)] = d;
    }
    return count;
}

/// Returns direction times closeness.
glm::vec2 toward(glm::vec2 offset) {
    const float distance = std::sqrt(glm::dot(offset, offset));
    if (distance >= kSight || distance <= 0.0f) return {0, 0};
    return offset / distance * (1.0f - distance / kSight);
}

void stay_inside(glm::vec2& position, glm::vec2& velocity, float radius, float bounce) {
    for (int axis = 0; axis < 2; ++axis) {
        const float limit = kHalfSize[axis] - radius;
        if (std::abs(position[axis]) <= limit) continue;
        position[axis] = std::clamp(position[axis], -limit, limit);
        if (velocity[axis] * position[axis] > 0) velocity[axis] *= -bounce;
    }
}

Drifter appear(float speed, Draw place, uint32_t index, const Chance& chance) {
    return {.position = kHalfSize * kAppears * chance.pair(place, 4 * index),
            .velocity = speed * chance.pair(place, 4 * index + 2)};
}

}  // namespace

Rules varied_rules(const Chance& chance) {
    const auto unit = [&](uint32_t index) {
        return 0.5f + 0.5f * chance.number(Draw::kRules, index);
    };
    Rules rules;
    rules.is_hot_night = chance.number(Draw::kRules, 0) >= 0;
    rules.mote_count =
        kFewestMotes + static_cast<uint32_t>(unit(1) * float{kMostVariedMotes - kFewestMotes + 1});
    rules.frost_reward = -(kLeastPenalty + unit(2) * (kMostPenalty - kLeastPenalty));
    rules.wind = kMostWind * chance.pair(Draw::kRules, 3);
    return rules;
}

World::World(const WorldOptions& options)
    : World(options, {.key = stream_key("begin", options.seed)}) {}

World::World(const WorldOptions& options, const Chance& chance) {
    state_.seed = options.seed;
    state_.rules = options.rules;
    state_.hatchlings.resize(options.hatchling_count);
    for (uint32_t i = 0; i < options.hatchling_count; ++i)
        state_.hatchlings[i].position = kHalfSize * kHatches * chance.pair(Draw::kHatch, 2 * i);
    events_.reserve(2 * state_.hatchlings.size());
    state_.embers.reserve(kMaxEmbers);
    state_.motes.reserve(kMaxMotes);
    for (uint32_t i = 0; i < std::min(state_.rules.ember_count, kMaxEmbers); ++i)
        state_.embers.push_back(appear(kEmberSpeed, Draw::kEmberPlace, i, chance));
    for (uint32_t i = 0; i < std::min(state_.rules.mote_count, kMaxMotes); ++i)
        state_.motes.push_back(appear(kMoteSpeed, Draw::kMotePlace, i, chance));
}

/// Adjusts the number of drifters to `count`, and moves each.
void World::drift(std::vector<Drifter>& drifters, uint32_t count, float speed, Draw turn,
                  Draw place, const Chance& chance) {
    if (drifters.size() > count) drifters.resize(count);
    const Chance beginning{.key = stream_key("begin", state_.seed),
                           .counter = static_cast<uint32_t>(state_.frame) + 1};
    while (drifters.size() < count)
        drifters.push_back(appear(speed, place, static_cast<uint32_t>(drifters.size()), beginning));
    for (uint32_t i = 0; i < count; ++i) {
        Drifter& d = drifters[i];
        d.velocity += chance.pair(turn, 2 * i) * (kTurn * speed * 4.0f * kFrameSeconds) +
                      0.2f * state_.rules.wind * kFrameSeconds;
        const float v = std::sqrt(glm::dot(d.velocity, d.velocity));
        if (v > speed) d.velocity *= speed / v;
        d.position += d.velocity * kFrameSeconds;
        stay_inside(d.position, d.velocity, kDrifterEdge, 1.0f);
        d.age_s += kFrameSeconds;
    }
}

Observation World::observe_as(const Hatchling& h) const {
    Observation o{};
    o[0] = h.velocity.x / kTopSpeed;
    o[1] = h.velocity.y / kTopSpeed;
    o[2] = h.position.x / kHalfSize.x;
    o[3] = h.position.y / kHalfSize.y;
    std::array<int, kSeen> found{};
    const int ember_count = nearest(state_.embers, h.position, found);
    for (int i = 0; i < ember_count; ++i) {
        const auto k = static_cast<size_t>(i);
        const glm::vec2 d =
            toward(state_.embers[static_cast<size_t>(found[k])].position - h.position);
        o[4 + 2 * k] = d.x;
        o[5 + 2 * k] = d.y;
    }
    const int mote_count = nearest(state_.motes, h.position, found);
    for (int i = 0; i < mote_count; ++i) {
        const auto k = static_cast<size_t>(i);
        const Drifter& mote = state_.motes[static_cast<size_t>(found[k])];
        const glm::vec2 offset = mote.position - h.position;
        const glm::vec2 d = toward(offset), v = (mote.velocity - h.velocity) / kTopSpeed;
        o[10 + 5 * k] = d.x;
        o[11 + 5 * k] = d.y;
        o[12 + 5 * k] = v.x;
        o[13 + 5 * k] = v.y;
        o[14 + 5 * k] = std::max(0.0f, 1.0f - std::sqrt(glm::dot(offset, offset)) / kReach);
    }
    o[25] = h.chilled_s > 0 ? 1.0f : 0.0f;
    o[26] = state_.rules.is_hot_night ? 1.0f : 0.0f;
    return o;
}

void World::set_thrust(uint32_t index, glm::vec2 thrust) {
    state_.hatchlings[index].thrust = {finite_in_unit(thrust.x), finite_in_unit(thrust.y)};
}

float World::take_reward(uint32_t index) {
    const float reward = state_.hatchlings[index].reward;
    state_.hatchlings[index].reward = 0;
    return reward;
}

void World::move(Hatchling& h) const {
    const bool is_chilled = h.chilled_s > 0;
    glm::vec2 thrust = is_chilled ? glm::vec2(0) : h.thrust;
    const float length = std::sqrt(glm::dot(thrust, thrust));
    if (length > 1.0f) thrust /= length;
    h.velocity += (thrust * kThrust - h.velocity * kDrag + state_.rules.wind) * kFrameSeconds;
    h.position += h.velocity * kFrameSeconds;
    stay_inside(h.position, h.velocity, kHatchlingRadius, kBounce);
    h.chilled_s = std::max(0.0f, h.chilled_s - kFrameSeconds);
    h.immune_s = std::max(0.0f, h.immune_s - kFrameSeconds);
    h.glow = std::max(0.0f, h.glow - kFrameSeconds / kGlowSeconds);
}

/// Pushes overlapping bodies apart, all simultaneously.
void World::part_hatchlings() {
    constexpr float kBoth = 2 * kHatchlingRadius;
    const std::vector<Hatchling>& all = state_.hatchlings;
    pushes_.assign(all.size(), glm::vec2(0));
    for (size_t i = 0; i < all.size(); ++i)
        for (size_t k = i + 1; k < all.size(); ++k) {
            const glm::vec2 offset = all[k].position - all[i].position;
            const float square = glm::dot(offset, offset);
            if (square >= kBoth * kBoth || square == 0.0f) continue;
            const float distance = std::sqrt(square);
            const glm::vec2 push = offset / distance * (0.5f * (kBoth - distance));
            pushes_[i] -= push;
            pushes_[k] += push;
        }
    for (size_t i = 0; i < all.size(); ++i) state_.hatchlings[i].position += pushes_[i];
}

/// Each hatchling eats the first ember that it touches, one per frame. If several reach for the
/// same ember, the first one gets it.
void World::touch(const Chance& chance) {
    const float sign = state_.rules.is_hot_night ? -1.0f : 1.0f;
    std::array<bool, kMaxEmbers> is_eaten{};
    for (uint32_t i = 0; i < state_.hatchlings.size(); ++i) {
        Hatchling& h = state_.hatchlings[i];
        const auto touches = [&](const Drifter& d, float radius) {
            const glm::vec2 offset = d.position - h.position;
            const float both = kHatchlingRadius + radius;
            return glm::dot(offset, offset) <= both * both;
        };
        for (uint32_t k = 0; k < state_.embers.size(); ++k) {
            const Drifter& ember = state_.embers[k];
            if (!touches(ember, kEmberRadius)) continue;
            if (is_eaten[k]) break;
            is_eaten[k] = true;
            h.reward += sign * state_.rules.ember_reward;
            h.glow = 1;
            ++h.embers;
            state_.score += state_.rules.is_hot_night ? -1 : 1;
            events_.push_back({Event::Kind::kEmber, i, ember.position});
            break;
        }
        if (h.immune_s > 0) continue;
        for (const Drifter& mote : state_.motes) {
            if (!touches(mote, kMoteRadius)) continue;
            h.reward += sign * state_.rules.frost_reward;
            h.chilled_s = kChilledSeconds;
            h.immune_s = kImmuneSeconds;
            ++h.motes;
            state_.score -= state_.rules.is_hot_night ? -1 : 1;
            events_.push_back({Event::Kind::kFrost, i, mote.position});
            break;
        }
    }
    for (uint32_t k = 0; k < state_.embers.size(); ++k)
        if (is_eaten[k]) state_.embers[k] = appear(kEmberSpeed, Draw::kEmberPlace, k, chance);
}

void World::step() {
    step({.key = stream_key("step", state_.seed), .counter = static_cast<uint32_t>(state_.frame)});
}

void World::step(const Chance& chance) {
    events_.clear();
    drift(state_.embers, std::min(state_.rules.ember_count, kMaxEmbers), kEmberSpeed,
          Draw::kEmberTurn, Draw::kEmberPlace, chance);
    drift(state_.motes, std::min(state_.rules.mote_count, kMaxMotes), kMoteSpeed, Draw::kMoteTurn,
          Draw::kMotePlace, chance);
    for (Hatchling& h : state_.hatchlings) move(h);
    part_hatchlings();
    touch(chance);
    ++state_.frame;
    const auto fold = [&](glm::vec2 v) {
        state_.state_hash = scenes::mix64(state_.state_hash ^ std::bit_cast<uint32_t>(v.x));
        state_.state_hash = scenes::mix64(state_.state_hash ^ std::bit_cast<uint32_t>(v.y));
    };
    for (const Hatchling& h : state_.hatchlings) {
        fold(h.position);
        fold(h.velocity);
    }
    for (const Drifter& d : state_.embers) fold(d.position);
    for (const Drifter& d : state_.motes) fold(d.position);
}

}  // namespace hearth::hatchlings
