// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing as tensor code, with the formulas and their order in world.cpp. The state of a
// clearing is a row of f32: the rules, then each property of all hatchlings, embers and motes.
// Unused embers and motes drift invisibly.

#include "hatchlings/simulation.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearth::hatchlings {

using agents::StepResult;
using agents::VectorEnv;

namespace {

constexpr int64_t kRuleCount = 7;
constexpr int64_t kHatchlingNumbers = 6, kDrifterNumbers = 4;
constexpr double kSeconds = static_cast<double>(kFrameSeconds);
constexpr double kNowhere = 1e9;  // squared metres: beyond everything

/// Capacities of a state row; at least one each, so that no tensor is empty.
struct Room {
    int64_t hatchlings, embers, motes;

    explicit Room(const SimulationOptions& options)
        : hatchlings(options.hatchlings),
          embers(std::clamp(options.rules.ember_count, 1u, kMaxEmbers)),
          motes(options.varies_rules ? kMostVariedMotes
                                     : std::clamp(options.rules.mote_count, 1u, kMaxMotes)) {}
    int64_t width() const {
        return kRuleCount + kHatchlingNumbers * hatchlings + kDrifterNumbers * (embers + motes);
    }
};

/// Last extent of the shape; 0 for a failed trace.
int64_t width_of(const Tensor& x) {
    return x.ok() && x.shape().rank() > 0 ? x.shape()[x.shape().rank() - 1].count : 0;
}

/// Coordinates; each tensor is [worlds, count].
struct Points {
    Tensor x, y;
};
struct Drifters {
    Points place, velocity;
};

/// Unpacked state. Each rule is [worlds, 1].
struct Clearing {
    Tensor ember_reward, frost_reward, ember_count, mote_count;
    Points wind;
    Tensor is_hot;  // 1 or 0
    Points place, velocity;
    Tensor chilled_s, immune_s;  // of hatchlings, [worlds, count]
    Drifters embers, motes;
};

Clearing unpacked(const Tensor& state, const Room& room) {
    int64_t at = 0;
    const auto take = [&](int64_t count) {
        at += count;
        return slice(state, -1, at - count, at);
    };
    const auto points = [&](int64_t count) {
        Points p;
        p.x = take(count);
        p.y = take(count);
        return p;
    };
    Clearing c;
    for (Tensor* const rule : {&c.ember_reward, &c.frost_reward, &c.ember_count, &c.mote_count})
        *rule = take(1);
    c.wind = points(1);
    c.is_hot = take(1);
    c.place = points(room.hatchlings);
    c.velocity = points(room.hatchlings);
    c.chilled_s = take(room.hatchlings);
    c.immune_s = take(room.hatchlings);
    for (auto& [drifters, count] : {std::pair{&c.embers, room.embers}, {&c.motes, room.motes}}) {
        drifters->place = points(count);
        drifters->velocity = points(count);
    }
    return c;
}

Tensor packed(const Clearing& c) {
    std::vector<Tensor> parts = {c.ember_reward, c.frost_reward, c.ember_count, c.mote_count,
                                 c.wind.x,       c.wind.y,       c.is_hot,      c.place.x,
                                 c.place.y,      c.velocity.x,   c.velocity.y,  c.chilled_s,
                                 c.immune_s};
    for (const Drifters* const d : {&c.embers, &c.motes})
        for (const Tensor& part : {d->place.x, d->place.y, d->velocity.x, d->velocity.y})
            parts.push_back(part);
    return concat(parts, -1);
}

/// Uniform random values in [-1, 1), [rows, count]; equal to those of Chance.
Tensor numbers(const Tensor& counter, uint64_t key, Draw what, int64_t count, int64_t rows) {
    return transpose(random_uniform(counter, Chance::key_of(key, what), {count, rows}, -1.0, 1.0));
}

/// Selects value `part` of each group of `of` values: [rows, count].
Tensor part_of(const Tensor& numbers, int64_t part, int64_t of) {
    return slice(numbers, -1, part, width_of(numbers), of);
}

Tensor square_of(const Points& p) {
    return p.x * p.x + p.y * p.y;
}

void stay_inside(Tensor& place, Tensor& velocity, float half, float radius, float bounce) {
    const double limit = static_cast<double>(half - radius);
    const Tensor is_outside = greater(abs(place), limit);
    place = clamp(place, -limit, limit);
    velocity = where(logical_and(is_outside, greater(velocity * place, 0)),
                     velocity * static_cast<double>(-bounce), velocity);
}

void stay_inside(Points& place, Points& velocity, float radius, float bounce) {
    stay_inside(place.x, velocity.x, kHalfSize.x, radius, bounce);
    stay_inside(place.y, velocity.y, kHalfSize.y, radius, bounce);
}

void drift(Drifters& d, const Points& turn, const Points& wind, float speed) {
    const double turns = static_cast<double>(kTurn * speed * 4.0f * kFrameSeconds);
    const double blown = static_cast<double>(0.2f * kFrameSeconds);
    d.velocity.x = d.velocity.x + (turn.x * turns + wind.x * blown);
    d.velocity.y = d.velocity.y + (turn.y * turns + wind.y * blown);
    const Tensor v = sqrt(square_of(d.velocity));
    const Tensor factor = where(greater(v, static_cast<double>(speed)),
                                static_cast<double>(speed) / v, v * 0.0 + 1.0);
    d.velocity = {d.velocity.x * factor, d.velocity.y * factor};
    d.place = {d.place.x + d.velocity.x * kSeconds, d.place.y + d.velocity.y * kSeconds};
    stay_inside(d.place, d.velocity, kDrifterEdge, 1.0f);
}

/// thrust: within [-1, 1].
void move(Clearing& c, const Points& thrust) {
    const Tensor length = sqrt(square_of(thrust));
    const Tensor factor = where(greater(length, 1), 1.0 / length, length * 0.0 + 1.0);
    const Tensor full = where(greater(c.chilled_s, 0), 0.0, factor) * static_cast<double>(kThrust);
    const auto step = [&](Tensor& place, Tensor& velocity, const Tensor& push, const Tensor& wind) {
        velocity =
            velocity + (push * full - velocity * static_cast<double>(kDrag) + wind) * kSeconds;
        place = place + velocity * kSeconds;
    };
    step(c.place.x, c.velocity.x, thrust.x, c.wind.x);
    step(c.place.y, c.velocity.y, thrust.y, c.wind.y);
    stay_inside(c.place, c.velocity, kHatchlingRadius, kBounce);
    c.chilled_s = maximum(c.chilled_s - kSeconds, 0.0);
    c.immune_s = maximum(c.immune_s - kSeconds, 0.0);
}

/// Offsets from each hatchling to each of `to`: [worlds, hatchlings, count].
Points offsets(const Points& from, const Points& to) {
    return {unsqueeze(to.x, {1}) - unsqueeze(from.x, {2}),
            unsqueeze(to.y, {1}) - unsqueeze(from.y, {2})};
}

void part_hatchlings(Clearing& c) {
    constexpr double kBoth = 2 * static_cast<double>(kHatchlingRadius);
    const Points offset = offsets(c.place, c.place);
    const Tensor square = square_of(offset);
    const Tensor touches = logical_and(less(square, kBoth * kBoth), greater(square, 0));
    const Tensor distance = sqrt(where(touches, square, 1.0));
    const Tensor push = where(touches, 0.5 * (kBoth - distance) / distance, 0.0);
    c.place = {c.place.x - sum(offset.x * push, {2}), c.place.y - sum(offset.y * push, {2})};
}

/// Indices 0, 1, 2, ... along the last axis, as f32.
Tensor places_of(const Tensor& like, int64_t count) {
    return cast(arange(*like.trace(), {count}), DType::kF32);
}

/// Mask of the elements that exist: [worlds, count].
Tensor is_there(const Tensor& count, int64_t room) {
    return less(places_of(count, room), count);
}

Tensor touches(const Clearing& c, const Drifters& d, const Tensor& count, float radius) {
    const float both = kHatchlingRadius + radius;
    return logical_and(
        less_equal(square_of(offsets(c.place, d.place)), static_cast<double>(both * both)),
        unsqueeze(is_there(count, width_of(d.place.x)), {1}));
}

Tensor number(const Tensor& claim) {
    return cast(claim, DType::kF32);
}

/// Returns this frame's rewards [worlds, hatchlings]. fresh: [worlds, 4 * embers], new positions of
/// eaten embers.
Tensor touch(Clearing& c, const Tensor& fresh, const Room& room) {
    const Tensor sign = 1.0 - 2.0 * c.is_hot;
    Tensor reward = c.place.x * 0.0;
    const Tensor reaches = touches(c, c.embers, c.ember_count, kEmberRadius);
    const Tensor ember = places_of(c.place.x, room.embers);
    const auto beyond = static_cast<double>(room.embers + room.hatchlings);
    // First ember that each hatchling touches, and first hatchling that reaches for each; `beyond`
    // if none.
    const Tensor first = min(where(reaches, ember, beyond), {2}, true);
    const Tensor wants = equal(first, ember);
    const Tensor who = unsqueeze(places_of(c.place.x, room.hatchlings), {1});
    const Tensor eater = min(where(wants, who, beyond), {1}, true);
    const Tensor eats = number(logical_and(wants, equal(eater, who)));
    reward = reward + sum(eats, {2}) * (sign * c.ember_reward);
    const Tensor is_eaten = less(squeeze(eater, {1}), beyond - 0.5);
    const auto appear = [&](Tensor& value, int64_t part, double most) {
        value = where(is_eaten, part_of(fresh, part, 4) * most, value);
    };
    appear(c.embers.place.x, 0, static_cast<double>(kHalfSize.x * kAppears));
    appear(c.embers.place.y, 1, static_cast<double>(kHalfSize.y * kAppears));
    appear(c.embers.velocity.x, 2, static_cast<double>(kEmberSpeed));
    appear(c.embers.velocity.y, 3, static_cast<double>(kEmberSpeed));

    const Tensor meets = max(number(touches(c, c.motes, c.mote_count, kMoteRadius)), {2});
    const Tensor is_chilled = logical_and(greater(meets, 0.5), less_equal(c.immune_s, 0));
    reward = reward + where(is_chilled, sign * c.frost_reward, 0.0);
    c.chilled_s = where(is_chilled, static_cast<double>(kChilledSeconds), c.chilled_s);
    c.immune_s = where(is_chilled, static_cast<double>(kImmuneSeconds), c.immune_s);
    return reward;
}

/// The `kSeen` nearest drifters: their offsets, and velocities relative to the hatchling's; zeros
/// if they do not exist. Each tensor is [worlds, hatchlings].
struct Nearest {
    Points offset, velocity;
    Tensor exists;
};
std::vector<Nearest> nearest(const Clearing& c, const Drifters& d, const Tensor& count) {
    const int64_t room = width_of(d.place.x);
    std::vector<Nearest> found;
    const Points offset = offsets(c.place, d.place), relative = offsets(c.velocity, d.velocity);
    const Tensor place = places_of(c.place.x, room);
    const Tensor there = unsqueeze(is_there(count, room), {1});
    Tensor square = where(there, square_of(offset), kNowhere);
    for (int i = 0; i < kSeen; ++i) {
        const Tensor which = cast(argmin(square, 2, true), DType::kF32);
        const Tensor is_it = logical_and(equal(which, place), less(square, kNowhere / 2));
        const auto of_it = [&](const Tensor& all) { return sum(where(is_it, all, 0.0), {2}); };
        found.push_back({{of_it(offset.x), of_it(offset.y)},
                         {of_it(relative.x), of_it(relative.y)},
                         greater(max(number(is_it), {2}), 0.5)});
        square = where(is_it, kNowhere, square);
    }
    return found;
}

Points toward(const Points& offset, const Tensor& distance) {
    constexpr double kFar = static_cast<double>(kSight);
    const Tensor is_seen = logical_and(less(distance, kFar), greater(distance, 0));
    const Tensor factor =
        where(is_seen, (1.0 - distance / kFar) / where(is_seen, distance, 1.0), 0.0);
    return {offset.x * factor, offset.y * factor};
}

Tensor observe(const Tensor& state, const Room& room) {
    if (!state.ok()) return state;
    const Clearing c = unpacked(state, room);
    constexpr double kTop = static_cast<double>(kTopSpeed);
    std::vector<Tensor> seen = {c.velocity.x / kTop, c.velocity.y / kTop,
                                c.place.x / static_cast<double>(kHalfSize.x),
                                c.place.y / static_cast<double>(kHalfSize.y)};
    for (const Nearest& ember : nearest(c, c.embers, c.ember_count)) {
        const Points direction = toward(ember.offset, sqrt(square_of(ember.offset)));
        seen.insert(seen.end(), {direction.x, direction.y});
    }
    for (const Nearest& mote : nearest(c, c.motes, c.mote_count)) {
        const Tensor distance = sqrt(square_of(mote.offset));
        const Points direction = toward(mote.offset, distance);
        const Tensor cold =
            where(mote.exists, maximum(1.0 - distance / static_cast<double>(kReach), 0.0), 0.0);
        seen.insert(seen.end(), {direction.x, direction.y, mote.velocity.x / kTop,
                                 mote.velocity.y / kTop, cold});
    }
    seen.push_back(number(greater(c.chilled_s, 0)));
    seen.push_back(c.place.x * 0.0 + c.is_hot);
    for (Tensor& column : seen) column = unsqueeze(column, {-1});
    return reshape(concat(seen, -1), {state.shape()[0].count * room.hatchlings, kObservationWidth});
}

StepResult step(const Tensor& state, const Tensor& action, const Tensor& counter, uint64_t key,
                const Room& room) {
    if (!state.ok() || !action.ok()) return {};
    Clearing c = unpacked(state, room);
    const int64_t worlds = state.shape()[0].count, rows = kFramesPerDecision * worlds;
    const Tensor thrust = reshape(clamp(action, -1, 1), {worlds, room.hatchlings, kActionWidth});
    const Points push = {squeeze(slice(thrust, -1, 0, 1), {-1}),
                         squeeze(slice(thrust, -1, 1, 2), {-1})};
    const Tensor ember_turns = numbers(counter, key, Draw::kEmberTurn, 2 * room.embers, rows);
    const Tensor ember_places = numbers(counter, key, Draw::kEmberPlace, 4 * room.embers, rows);
    const Tensor mote_turns = numbers(counter, key, Draw::kMoteTurn, 2 * room.motes, rows);
    Tensor reward = c.place.x * 0.0;
    for (int64_t frame = 0; frame < kFramesPerDecision; ++frame) {
        const auto now = [&](const Tensor& of_all) {
            return slice(of_all, 0, frame * worlds, (frame + 1) * worlds);
        };
        const auto turn = [&](const Tensor& of_all) {
            return Points{part_of(now(of_all), 0, 2), part_of(now(of_all), 1, 2)};
        };
        drift(c.embers, turn(ember_turns), c.wind, kEmberSpeed);
        drift(c.motes, turn(mote_turns), c.wind, kMoteSpeed);
        move(c, push);
        part_hatchlings(c);
        reward = reward + touch(c, now(ember_places), room);
    }
    return {packed(c), reshape(reward, {worlds * room.hatchlings}),
            greater(squeeze(c.is_hot, {-1}), 1.5)};  // never
}

Tensor begin(const Tensor& counter, uint64_t key, int64_t worlds, const SimulationOptions& options,
             const Room& room) {
    if (!counter.ok()) return counter;
    const auto drawn = [&](Draw what, int64_t count) {
        return numbers(counter, key, what, count, worlds);
    };
    Clearing c;
    const Tensor rules = drawn(Draw::kRules, 5);
    const auto rule = [&](int64_t i) { return slice(rules, -1, i, i + 1); };
    const auto all = [&](double value) { return rule(0) * 0.0 + value; };
    const Rules& fixed = options.rules;
    c.ember_reward = all(static_cast<double>(fixed.ember_reward));
    c.ember_count = all(static_cast<double>(std::min(fixed.ember_count, kMaxEmbers)));
    if (options.varies_rules) {
        const auto unit = [&](int64_t i) { return 0.5 + 0.5 * rule(i); };
        c.is_hot = number(greater_equal(rule(0), 0));
        c.mote_count =
            floor(unit(1) * double{kMostVariedMotes - kFewestMotes + 1}) + double{kFewestMotes};
        c.frost_reward = neg(unit(2) * static_cast<double>(kMostPenalty - kLeastPenalty) +
                             static_cast<double>(kLeastPenalty));
        c.wind = {rule(3) * static_cast<double>(kMostWind),
                  rule(4) * static_cast<double>(kMostWind)};
    } else {
        c.is_hot = all(fixed.is_hot_night ? 1 : 0);
        c.mote_count = all(static_cast<double>(std::min(fixed.mote_count, kMaxMotes)));
        c.frost_reward = all(static_cast<double>(fixed.frost_reward));
        c.wind = {all(static_cast<double>(fixed.wind.x)), all(static_cast<double>(fixed.wind.y))};
    }
    const Tensor hatch = drawn(Draw::kHatch, 2 * room.hatchlings);
    c.place = {part_of(hatch, 0, 2) * static_cast<double>(kHalfSize.x * kHatches),
               part_of(hatch, 1, 2) * static_cast<double>(kHalfSize.y * kHatches)};
    const Tensor none = c.place.x * 0.0;
    c.velocity = {none, none};
    c.chilled_s = c.immune_s = none;
    const auto appear = [&](Draw what, int64_t count, float speed) {
        const Tensor drifters = drawn(what, 4 * count);
        return Drifters{{part_of(drifters, 0, 4) * static_cast<double>(kHalfSize.x * kAppears),
                         part_of(drifters, 1, 4) * static_cast<double>(kHalfSize.y * kAppears)},
                        {part_of(drifters, 2, 4) * static_cast<double>(speed),
                         part_of(drifters, 3, 4) * static_cast<double>(speed)}};
    };
    c.embers = appear(Draw::kEmberPlace, room.embers, kEmberSpeed);
    c.motes = appear(Draw::kMotePlace, room.motes, kMoteSpeed);
    return packed(c);
}

}  // namespace

VectorEnv make_simulation(const SimulationOptions& options) {
    const Room room(options);
    VectorEnv s;
    s.n_agents = room.hatchlings;
    s.state_size = room.width();
    s.max_episode_steps = options.step_limit;
    s.reset = [=](const Tensor& counter, uint64_t key, int64_t worlds) {
        return begin(counter, key, worlds, options, room);
    };
    s.observe = [=](const Tensor& state) { return observe(state, room); };
    s.step = [=](const Tensor& state, const Tensor& action, const Tensor& counter, uint64_t key) {
        return step(state, action, counter, key, room);
    };
    return s;
}

Chance chance_of_frame(uint32_t counter, uint64_t key, uint32_t frame, uint32_t row,
                       uint32_t rows) {
    return {.key = key,
            .counter = counter,
            .row = frame * rows + row,
            .rows = uint32_t{kFramesPerDecision} * rows};
}

Chance chance_of_begin(uint32_t counter, uint64_t key, uint32_t row, uint32_t rows) {
    return {.key = key, .counter = counter, .row = row, .rows = rows};
}

std::vector<float> state_of(const SimulationOptions& options, const WorldState& world) {
    const Room room(options);
    assert(world.hatchlings.size() == options.hatchlings);
    const Rules& rules = world.rules;
    std::vector<float> state = {rules.ember_reward,
                                rules.frost_reward,
                                static_cast<float>(world.embers.size()),
                                static_cast<float>(world.motes.size()),
                                rules.wind.x,
                                rules.wind.y,
                                rules.is_hot_night ? 1.0f : 0.0f};
    const auto put = [&](const auto& all, int64_t count, auto number) {
        assert(static_cast<int64_t>(all.size()) <= count);
        for (const auto& each : all) state.push_back(number(each));
        state.resize(state.size() + static_cast<size_t>(count) - all.size());
    };
    const auto put_points = [&](const auto& all, int64_t count) {
        put(all, count, [](const auto& each) { return each.position.x; });
        put(all, count, [](const auto& each) { return each.position.y; });
        put(all, count, [](const auto& each) { return each.velocity.x; });
        put(all, count, [](const auto& each) { return each.velocity.y; });
    };
    put_points(world.hatchlings, room.hatchlings);
    put(world.hatchlings, room.hatchlings, [](const Hatchling& h) { return h.chilled_s; });
    put(world.hatchlings, room.hatchlings, [](const Hatchling& h) { return h.immune_s; });
    put_points(world.embers, room.embers);
    put_points(world.motes, room.motes);
    return state;
}

WorldState world_of(const SimulationOptions& options, std::span<const float> state) {
    const Room room(options);
    assert(static_cast<int64_t>(state.size()) == room.width());
    WorldState world;
    world.rules = {.ember_reward = state[0],
                   .frost_reward = state[1],
                   .ember_count = static_cast<uint32_t>(state[2]),
                   .mote_count = static_cast<uint32_t>(state[3]),
                   .wind = {state[4], state[5]},
                   .is_hot_night = state[6] > 0.5f};
    size_t at = kRuleCount;
    const auto take = [&](auto& all, int64_t count, auto set) {
        for (size_t i = 0; i < all.size(); ++i) set(all[i], state[at + i]);
        at += static_cast<size_t>(count);
    };
    const auto take_points = [&](auto& all, int64_t count) {
        take(all, count, [](auto& each, float value) { each.position.x = value; });
        take(all, count, [](auto& each, float value) { each.position.y = value; });
        take(all, count, [](auto& each, float value) { each.velocity.x = value; });
        take(all, count, [](auto& each, float value) { each.velocity.y = value; });
    };
    world.hatchlings.resize(options.hatchlings);
    world.embers.resize(world.rules.ember_count);
    world.motes.resize(world.rules.mote_count);
    take_points(world.hatchlings, room.hatchlings);
    take(world.hatchlings, room.hatchlings, [](Hatchling& h, float value) { h.chilled_s = value; });
    take(world.hatchlings, room.hatchlings, [](Hatchling& h, float value) { h.immune_s = value; });
    take_points(world.embers, room.embers);
    take_points(world.motes, room.motes);
    return world;
}

}  // namespace hearth::hatchlings
