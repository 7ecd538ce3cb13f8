// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The car on the circuit as tensor code, with the formulas and their order in car.cpp, track.cpp
// and racer.cpp.

#include "ghost_lap/simulation.hpp"

#include <numbers>
#include <utility>
#include <vector>

namespace hearth::ghost_lap {

using agents::StepResult;
using agents::VectorEnv;

namespace {

constexpr double kFullCircle = 2 * std::numbers::pi;

constexpr double number_of(float value) {
    return static_cast<double>(value);
}

Tensor number(const Tensor& condition) {
    return cast(condition, DType::kF32);
}

/// The centre line, as segments from each sample to the next.
struct Segments {
    std::vector<float> x, y, along_x, along_y, heading, turn;
    double length, spacing, full_turn, half_width;
    int64_t count, reach;

    explicit Segments(const Track& track)
        : length(number_of(track.length())),
          spacing(number_of(track.spacing())),
          full_turn(number_of(track.full_turn())),
          half_width(number_of(track.half_width())),
          count(static_cast<int64_t>(track.samples().size())),
          reach(static_cast<int64_t>(Track::kFollowMetres / track.spacing())) {
        const auto samples = track.samples();
        for (size_t i = 0; i < samples.size(); ++i) {
            const bool is_last = i + 1 == samples.size();
            const Track::Sample &a = samples[i], &b = samples[is_last ? 0 : i + 1];
            x.push_back(a.position.x);
            y.push_back(a.position.y);
            along_x.push_back(b.position.x - a.position.x);
            along_y.push_back(b.position.y - a.position.y);
            heading.push_back(a.heading);
            turn.push_back(b.heading + (is_last ? track.full_turn() : 0.0f) - a.heading);
        }
    }

    /// Gathers the values of the segments with these indices (i32).
    static Tensor at(const std::vector<float>& column, const Tensor& index) {
        if (!index.ok()) return index;
        return take(
            index.trace()->constant(HostTensor::of({static_cast<int64_t>(column.size())}, column)),
            index);
    }
    Tensor wrapped(const Tensor& index) const {
        if (!index.ok()) return index;
        return mod(index, index.trace()->constant(static_cast<double>(count), DType::kI32));
    }

    /// Position of a progress in [0, 2 length).
    struct Place {
        Tensor index;  ///< i32 index of the sample
        Tensor t;      ///< fraction of the way to the next sample
        Tensor laps;   ///< whole laps
    };
    Place locate(const Tensor& progress) const {
        const Tensor at = progress / spacing, whole = floor(at);
        const Tensor index = cast(whole, DType::kI32);
        return {wrapped(index), at - whole,
                number(greater_equal(index, static_cast<double>(count)))};
    }
    Tensor heading_at(const Place& p) const {
        return at(heading, p.index) + at(turn, p.index) * p.t + p.laps * full_turn;
    }
    Tensor x_at(const Place& p) const { return at(x, p.index) + at(along_x, p.index) * p.t; }
    Tensor y_at(const Place& p) const { return at(y, p.index) + at(along_y, p.index) * p.t; }
};

/// Per-environment state; each tensor is [worlds].
struct Row {
    Tensor x, y, heading, speed, progress, lateral, off_frames, idle_frames;
};

Row unpacked(const Tensor& state) {
    const auto column = [&](CarNumber number) {
        const auto i = static_cast<int64_t>(number);
        return squeeze(slice(state, -1, i, i + 1), {-1});
    };
    using enum CarNumber;
    return {column(kX),        column(kY),       column(kHeading),   column(kSpeed),
            column(kProgress), column(kLateral), column(kOffFrames), column(kIdleFrames)};
}

Tensor packed(const Row& r) {
    std::vector<Tensor> columns = {r.x,        r.y,       r.heading,    r.speed,
                                   r.progress, r.lateral, r.off_frames, r.idle_frames};
    for (Tensor& column : columns) column = unsqueeze(column, {-1});
    return concat(columns, -1);
}

Tensor is_on_track(const Row& r) {
    return less_equal(abs(r.lateral), 1.0);
}

void move(Row& r, const Tensor& steer, const Tensor& throttle) {
    const Tensor on_track = is_on_track(r);
    const Tensor grip =
        where(on_track, number_of(kGrip), r.x * 0.0 + number_of(kGrip * kRoughGripFactor));
    const Tensor per_steer =
        number_of(kMaxCurvature) / (1.0 + r.speed * r.speed / number_of(kSteerSpeedSquared));
    const Tensor wanted = steer * per_steer * r.speed * r.speed;
    const Tensor sideways = minimum(maximum(wanted, neg(grip)), grip);
    Tensor along =
        throttle * where(greater(throttle, 0), number_of(kEngine), r.x * 0.0 + number_of(kBraking));
    along = along - number_of(kDrag) * r.speed * r.speed;
    along = along - number(not_equal(sideways, wanted)) * number_of(kScrub);
    along = along - where(on_track, 0.0, r.speed * number_of(kRoughDrag));
    constexpr double kSeconds = number_of(kFrameSeconds);
    const Tensor speed = maximum(r.speed + along * kSeconds, 0.0);
    const Tensor heading = r.heading + sideways / maximum(r.speed, 1.0) * kSeconds;
    const Tensor middle = 0.5 * (r.heading + heading);
    r.x = r.x + cos(middle) * (speed * kSeconds);
    r.y = r.y + sin(middle) * (speed * kSeconds);
    r.speed = speed;
    r.heading = heading;
}

/// Finds the nearest point within Track::kFollowMetres. Returns the distance advanced.
Tensor follow(Row& r, const Segments& track) {
    if (!r.x.ok()) return r.x;
    const Tensor first = cast(floor(r.progress / track.spacing), DType::kI32) +
                         static_cast<double>(track.count - track.reach);
    const Tensor index =
        track.wrapped(unsqueeze(first, {-1}) + arange(*r.x.trace(), {2 * track.reach + 1}));
    const Tensor along_x = track.at(track.along_x, index), along_y = track.at(track.along_y, index);
    const Tensor from_x = unsqueeze(r.x, {-1}) - track.at(track.x, index);
    const Tensor from_y = unsqueeze(r.y, {-1}) - track.at(track.y, index);
    const Tensor t = clamp(
        (from_x * along_x + from_y * along_y) / (along_x * along_x + along_y * along_y), 0, 1);
    const Tensor off_x = from_x - along_x * t, off_y = from_y - along_y * t;
    const Tensor nearest = cast(argmin(off_x * off_x + off_y * off_y, -1, true), DType::kI32);
    const auto of_it = [&](const Tensor& all) {
        return squeeze(gather_elements(all, nearest, -1), {-1});
    };
    const Segments::Place place{of_it(index), of_it(t), r.x * 0.0};
    const Tensor angle = track.heading_at(place);
    r.lateral = ((r.y - track.y_at(place)) * cos(angle) - (r.x - track.x_at(place)) * sin(angle)) /
                track.half_width;
    const Tensor reached = (cast(place.index, DType::kF32) + place.t) * track.spacing;
    const Tensor progress = where(less(reached, track.length), reached, 0.0);
    const Tensor gap = progress - r.progress;
    r.progress = progress;
    return gap - track.length * round(gap / track.length);
}

Tensor observe(const Tensor& state, const Segments& track) {
    if (!state.ok()) return state;
    const Row r = unpacked(state);
    const Tensor here = track.heading_at(track.locate(r.progress));
    const Tensor error = r.heading - here;
    std::vector<Tensor> seen = {
        (r.speed - number_of(kMeanSpeed)) * number_of(kSpeedScale),
        r.lateral * number_of(kLateralScale),
        (error - kFullCircle * round(error / kFullCircle)) * number_of(kErrorScale)};
    for (const float metres : kLookAheadMetres) {
        const Tensor ahead = track.heading_at(track.locate(r.progress + number_of(metres)));
        seen.push_back((ahead - here) * number_of(kTurnScale) / number_of(metres));
    }
    for (Tensor& column : seen) column = unsqueeze(column, {-1});
    return concat(seen, -1);
}

StepResult step(const Tensor& state, const Tensor& action, const Segments& track) {
    if (!state.ok() || !action.ok()) return {};
    Row r = unpacked(state);
    const Tensor held = clamp(action, -1, 1);
    const Tensor steer = squeeze(slice(held, -1, 0, 1), {-1}),
                 throttle = squeeze(slice(held, -1, 1, 2), {-1});
    Tensor reward = r.x * 0.0, is_over = greater(reward, 1);  // never
    for (int frame = 0; frame < kFramesPerDecision; ++frame) {
        move(r, steer, throttle);
        const Tensor advance = follow(r, track);
        const Tensor is_off = number(logical_not(is_on_track(r)));
        constexpr double kIdleMetres = number_of(Racer::kIdleSpeed * kFrameSeconds);
        r.off_frames = (r.off_frames + 1.0) * is_off;
        r.idle_frames = (r.idle_frames + 1.0) * number(less_equal(advance, kIdleMetres));
        const Tensor is_stuck =
            greater(maximum(r.off_frames, r.idle_frames), double{Racer::kStuckFrames});
        const Tensor is_put_back =
            logical_or(is_stuck, greater(abs(r.lateral), number_of(Racer::kLostLateral)));
        // Rewards after the end belong to no episode.
        const Tensor cost =
            where(is_put_back, number_of(kPutBackMetres), is_off * number_of(kOffTrackMetres));
        reward = reward + where(is_over, 0.0, advance - cost);
        is_over = logical_or(is_over, is_put_back);
    }
    return {packed(r), reward, is_over};
}

Tensor begin(const Tensor& counter, uint64_t key, int64_t worlds, const Segments& track) {
    if (!counter.ok()) return counter;
    const Tensor u = random_uniform(counter, key, {worlds, 2});
    const auto drawn = [&](int64_t i) { return squeeze(slice(u, -1, i, i + 1), {-1}); };
    Row r;
    r.progress = minimum(drawn(0) * track.length, track.length - track.spacing / 2);
    r.lateral = (drawn(1) * 2.0 - 1.0) * number_of(Racer::kGridSpread);
    const Segments::Place place = track.locate(r.progress);
    r.heading = track.heading_at(place);
    const Tensor left = r.lateral * track.half_width;
    r.x = track.x_at(place) - sin(r.heading) * left;
    r.y = track.y_at(place) + cos(r.heading) * left;
    r.off_frames = r.idle_frames = r.x * 0.0;
    r.speed = r.off_frames + number_of(Racer::kRollingSpeed);
    return packed(r);
}

}  // namespace

float drive_frame(Racer& racer, Action action) {
    const uint32_t resets = racer.resets();
    const float before = racer.distance();
    racer.step(action);
    const float advance = racer.distance() - before;
    if (racer.resets() > resets) return advance - kPutBackMetres;
    return racer.is_on_track() ? advance : advance - kOffTrackMetres;
}

VectorEnv make_simulation(const Track& track) {
    const Segments segments(track);
    VectorEnv s;
    s.state_size = static_cast<int64_t>(CarNumber::kCount);
    s.max_episode_steps = kEpisodeDecisions;
    s.reset = [segments](const Tensor& counter, uint64_t key, int64_t worlds) {
        return begin(counter, key, worlds, segments);
    };
    s.observe = [segments](const Tensor& state) { return observe(state, segments); };
    s.step = [segments](const Tensor& state, const Tensor& action, const Tensor&, uint64_t) {
        return step(state, action, segments);
    };
    return s;
}

}  // namespace hearth::ghost_lap
