// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a race: cars, autopilots, demonstrations and statistics.

#include "ghost_lap/race.hpp"

#include "random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hearth::ghost_lap {
namespace {

enum WorldDraw : uint64_t { kPlayerGrid, kGhostGrid, kRivalGrid };

float grid_lateral(uint64_t seed, WorldDraw draw) {
    return Racer::kGridSpread * scenes::random_signed(seed, scenes::Stream::kWorld, draw);
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

Autopilot::Autopilot(uint32_t latency_frames) : latency_(std::min(latency_frames, kMaxLatency)) {}

void Autopilot::post(uint64_t now, uint64_t observed, const ActionVector& action) {
    if (observed > now || observed + latency_ < now) return;
    posted_[observed % posted_.size()] = {observed, action};
}

Action Autopilot::take(uint64_t now) {
    const uint64_t observed = now - latency_;
    const auto& posted = posted_[observed % posted_.size()];
    const bool has_arrived = posted && posted->frame == observed;
    if (has_arrived)
        last_ = clamp_action({posted->action[0], posted->action[1]});
    else if (has_begun_)
        ++missed_;
    has_begun_ = has_begun_ || has_arrived;
    return last_;
}

Race::Race(const Track& track, const RaceOptions& options)
    : options_(options),
      player_(track, grid_lateral(options.seed, kPlayerGrid), false),
      ghost_(track, grid_lateral(options.seed, kGhostGrid), true),
      ghost_pilot_(options.action_latency_frames),
      rival_pilot_(options.action_latency_frames) {
    options_.reaction_frames = std::min(options.reaction_frames, kMaxReaction);
}

void Race::add_rival() {
    rival_.emplace(track(), grid_lateral(options_.seed, kRivalGrid), true);
}

void Race::step(Action action, Seat seat) {
    action = clamp_action(action);
    if (seat == Seat::kGhost && !ghost_is_driving_) seat = Seat::kOwnCar;
    demonstrate(driven(seat).observation(), action, seat);
    if (seat == Seat::kOwnCar) {
        player_.step(action);
        if (rival_) rival_->step(rival_pilot_.take(frame_));
        ++duel_frame_;
    }
    if (ghost_is_driving_) {
        const Action own = ghost_pilot_.take(frame_);
        ghost_.step(seat == Seat::kGhost ? action : own);
        if (seat == Seat::kGhost) ++corrected_frames_;
    }
    const std::vector<Lap>& laps = player_.laps();
    ghost_is_driving_ = std::count_if(laps.begin(), laps.end(), [](const Lap& lap) {
                            return lap.is_completed();
                        }) >= options_.ghost_starts_after_laps;
    ++frame_;
    state_hash_ = scenes::mix64(scenes::mix64(state_hash_ ^ hash_car(player_.car())) ^
                                hash_car(ghost_.car()));
    if (!rival_) return;
    state_hash_ = scenes::mix64(state_hash_ ^ hash_car(rival_->car()));
    for (size_t car = 0; car < reached_.size(); ++car) {
        const float distance = (car == 0 ? player_ : *rival_).distance() + Racer::kGridMetres;
        while (static_cast<float>(reached_[car].size()) <= distance)
            reached_[car].push_back(duel_frame_);
    }
}

/// Pairs observation and action only within one seat.
void Race::demonstrate(const Observation& seen, Action action, Seat seat) {
    demonstration_.reset();
    if (seat != seat_) seated_since_ = frame_;
    seat_ = seat;
    seen_[frame_ % seen_.size()] = seen;
    const uint64_t reaction = options_.reaction_frames;
    if (seat == Seat::kNone || frame_ % kFramesPerSample != 0 || frame_ < seated_since_ + reaction)
        return;
    demonstration_ = {seen_[(frame_ - reaction) % seen_.size()], {action.steer, action.throttle}};
}

float Race::lead_seconds() const {
    const size_t common = std::min(reached_[0].size(), reached_[1].size());
    if (common == 0) return 0.0f;
    return kFrameSeconds * (static_cast<float>(reached_[1][common - 1]) -
                            static_cast<float>(reached_[0][common - 1]));
}

RaceTable Race::table() const {
    const Line line = mean_line(completed_lines(player_));
    RaceTable table{.player = summarize(player_, line), .ghost = summarize(ghost_, line)};
    if (rival_) table.rival = summarize(*rival_, line);
    return table;
}

std::vector<float> corner_errors(const Race& race, const Line& line, size_t first, size_t end) {
    const std::vector<Lap>& laps = race.ghost().laps();
    const float length = race.track().length();
    end = std::min(end, laps.size());
    std::vector<float> errors;
    for (const Corner& corner : race.track().corners()) {
        const float begin = corner.begin / length;
        float sum = 0.0f;
        for (size_t i = first; i < end; ++i)
            sum += line_error(laps[i].line, line, begin, begin + corner.length / length);
        errors.push_back(end > first ? sum / static_cast<float>(end - first) : 0.0f);
    }
    return errors;
}

}  // namespace hearth::ghost_lap
