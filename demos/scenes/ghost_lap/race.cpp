// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ghost_lap/race.hpp"

#include "random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hearth::ghost_lap {
namespace {

constexpr float kGridSpread = 0.3f;  // half-widths; how far to the side a car may stand on the grid

enum WorldDraw : uint64_t { kPlayerGrid, kGhostGrid };

float grid_lateral(uint64_t seed, WorldDraw draw) {
    return kGridSpread * scenes::random_signed(seed, scenes::Stream::kWorld, draw);
}

std::vector<Line> completed_lines(const Racer& racer) {
    std::vector<Line> lines;
    for (const Lap& lap : racer.laps())
        if (lap.is_completed()) lines.push_back(lap.line);
    return lines;
}

RaceTable::Laps summarize(const Racer& racer, const Line& player_line) {
    RaceTable::Laps out;
    float completed = 0.0f;
    for (const Lap& lap : racer.laps()) {
        out.rows.push_back({.seconds = lap.seconds,
                            .mean_offset = mean_offset(lap.line),
                            .line_error = line_error(lap.line, player_line),
                            .off_tracks = lap.off_tracks,
                            .is_completed = lap.is_completed()});
        if (!lap.is_completed()) continue;
        // Running means.
        completed += 1.0f;
        out.seconds += (lap.seconds - out.seconds) / completed;
        out.mean_offset += (out.rows.back().mean_offset - out.mean_offset) / completed;
    }
    out.off_tracks = racer.off_tracks();
    out.resets = racer.resets();
    return out;
}

uint64_t hash_car(const Car& car) {
    uint64_t hash = 0;
    for (const float value : {car.position.x, car.position.y, car.heading, car.speed})
        hash = scenes::mix64(hash ^ std::bit_cast<uint32_t>(value)) + 1;
    return hash;
}

}  // namespace

bool RaceTable::has_ghost_lapped(int lap_count, float tolerance) const {
    int in_a_row = 0;
    for (const Row& lap : ghost.rows) {
        const bool is_good = lap.is_completed &&
                             std::abs(lap.seconds - player.seconds) <= tolerance * player.seconds;
        in_a_row = is_good ? in_a_row + 1 : 0;
        if (in_a_row >= lap_count) return true;
    }
    return false;
}

Race::Race(const Track& track, const RaceOptions& options)
    : options_(options),
      player_(track, grid_lateral(options.seed, kPlayerGrid), false),
      ghost_(track, grid_lateral(options.seed, kGhostGrid), true),
      demonstrations_(options.seed) {
    options_.action_latency_frames = std::min(options.action_latency_frames, kMaxLatency);
    options_.reaction_frames = std::min(options.reaction_frames, kMaxReaction);
}

void Race::set_ghost_action(uint64_t observed, const ActionVector& action) {
    if (observed > frame_ || observed + options_.action_latency_frames < frame_) return;
    posted_[observed % posted_.size()] = {observed, action};
}

void Race::step(Action player_action) {
    player_action = clamp_action(player_action);
    seen_[frame_ % seen_.size()] = player_.observation();
    if (frame_ % kFramesPerSample == 0 && frame_ >= options_.reaction_frames)
        demonstrations_.add(seen_[(frame_ - options_.reaction_frames) % seen_.size()],
                            player_action);
    player_.step(player_action);
    if (ghost_is_driving_) ghost_.step(next_ghost_action());
    ghost_is_driving_ = std::ranges::count_if(player_.laps(), &Lap::is_completed) >=
                        options_.ghost_starts_after_laps;
    ++frame_;
    state_hash_ = scenes::mix64(scenes::mix64(state_hash_ ^ hash_car(player_.car())) ^
                                hash_car(ghost_.car()));
}

Action Race::next_ghost_action() {
    const uint64_t observed = frame_ - options_.action_latency_frames;
    const auto& posted = posted_[observed % posted_.size()];
    if (posted && posted->frame == observed)
        ghost_action_ = clamp_action({posted->action[0], posted->action[1]});
    else
        ++missed_actions_;
    return ghost_action_;
}

RaceTable Race::table() const {
    const Line player_line = mean_line(completed_lines(player_));
    return {.player = summarize(player_, player_line), .ghost = summarize(ghost_, player_line)};
}

}  // namespace hearth::ghost_lap
