// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ghost Lap for page/ghost.js: the game's simulation (demos/scenes/ghost_lap), and its learner as
// C. The page calls frame() sixty times per second and draws the views.

#include "ghost.h"
#include "ghost_lap/driver.hpp"
#include "page.h"
#include "person.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

using namespace hearth::ghost_lap;

namespace {

constexpr uint32_t kLatency = 2;  // frames; as in the game, where GPU results arrive this late
constexpr int kOutlinePoints = 512;

alignas(GHOST_ALIGNMENT) unsigned char weights[GHOST_WEIGHTS_BYTES];
alignas(GHOST_ALIGNMENT) unsigned char arena[GHOST_ARENA_BYTES];
alignas(16) unsigned char brain_bytes_[2 * GHOST_BRAIN_BYTES];
const hearth_c_memory memory = {weights,      sizeof weights, arena,
                                sizeof arena, ghost_cooked,   GHOST_COOKED_BYTES};
hearth_c_error error;

/// Data of one car for drawing.
struct CarView {
    float x, y, heading, speed, steer, throttle, laps, lap_seconds, last_lap_seconds,
        best_lap_seconds, is_on_track;
};
struct View {
    CarView player, ghost;
    float ghost_is_driving, loss, line_error;
};
static_assert(sizeof(View) == 25 * sizeof(float));

/// Driver indices on the page: the scripted drivers, then the person.
class Game {
  public:
    explicit Game(uint64_t seed)
        : race_(track_,
                {.seed = seed, .action_latency_frames = kLatency, .reaction_frames = kLatency}) {
        for (const DrivingStyle& style : driving_styles())
            scripted_.emplace_back(track_, style, seed);
    }

    const Track& track() const { return track_; }

    /// keys: bits for left, right, up, down, and holding the ghost's wheel.
    hearth_c_result frame(uint32_t driver, uint32_t keys, bool learns) {
        const Observation seen = race_.ghost().observation();
        const uint32_t id = 0;
        const float explore = 0;
        ghost_frame_tensors deciding = {};
        deciding.id = &id;
        deciding.observation = seen.data();
        deciding.exploration = &explore;
        if (const auto r = ghost_frame(&memory, &deciding, 1, &error); r != HEARTH_C_OK) return r;
        float action[2];
        std::memcpy(action, weights + GHOST_AT_LAST_ACTION, sizeof action);
        race_.set_ghost_action(race_.frame(), {action[0], action[1]});
        if (const auto& shown = race_.demonstration(); shown && learns) {
            const ghost_store_tensors store = {shown->observation.data(), shown->action.data()};
            if (const auto r = ghost_store(&memory, &store, 1, &error); r != HEARTH_C_OK) return r;
        }
        if (learns) {
            const ghost_learn_tensors learn = {};
            if (const auto r = ghost_learn(&memory, &learn, 1, &error); r != HEARTH_C_OK) return r;
            const ghost_publish_tensors publish = {};
            if (const auto r = ghost_publish(&memory, &publish, 1, &error); r != HEARTH_C_OK)
                return r;
        }
        drive(driver, keys);
        view_.ghost.steer = std::clamp(action[0], -1.0f, 1.0f);
        view_.ghost.throttle = std::clamp(action[1], -1.0f, 1.0f);
        look();
        return HEARTH_C_OK;
    }

    const View& view() const { return view_; }

  private:
    void drive(uint32_t driver, uint32_t keys) {
        hearth::demo::Input input;
        constexpr const char* kKeys[] = {"left", "right", "up", "down", "h"};
        for (uint32_t k = 0; k < 5; ++k)
            if ((keys >> k & 1) != 0) input.held.emplace_back(kKeys[k]);
        person_.set_input(input);
        const Seat seat = person_.seat(race_);
        const Racer& driven = race_.driven(seat);
        Action action = person_.drive(driven, race_.frame());
        if (driver < scripted_.size() && seat == Seat::kOwnCar)
            action = scripted_[driver].drive(driven, race_.frame());
        race_.step(action, seat);
        view_.player.steer = action.steer;
        view_.player.throttle = action.throttle;
    }

    static void look(const Racer& racer, CarView& view) {
        view.x = racer.car().position.x;
        view.y = racer.car().position.y;
        view.heading = racer.car().heading;
        view.speed = racer.car().speed;
        view.laps = static_cast<float>(racer.laps().size());
        view.lap_seconds = racer.lap_seconds();
        view.last_lap_seconds = racer.laps().empty() ? 0.0f : racer.laps().back().seconds;
        view.best_lap_seconds = 0;
        for (const Lap& lap : racer.laps())
            if (lap.is_completed() &&
                (view.best_lap_seconds == 0 || lap.seconds < view.best_lap_seconds))
                view.best_lap_seconds = lap.seconds;
        view.is_on_track = racer.is_on_track() ? 1 : 0;
    }

    void look() {
        look(race_.player(), view_.player);
        look(race_.ghost(), view_.ghost);
        view_.ghost_is_driving = race_.ghost_is_driving() ? 1 : 0;
        std::memcpy(&view_.loss, weights + GHOST_AT_AGENTS_STATUS_LEARN, sizeof view_.loss);
        const size_t laps = race_.ghost().laps().size();
        if (laps == seen_laps_) return;
        seen_laps_ = laps;
        view_.line_error = race_.table().ghost.rows.back().line_error;
    }

    Track track_ = Track::circuit();
    Race race_;
    Person person_;
    std::vector<ScriptedDriver> scripted_;
    size_t seen_laps_ = 0;
    View view_{};
};

std::optional<Game> game;

}  // namespace

extern "C" {

PAGE_EXPORT(error_text) const char* error_text() {
    return error.text;
}

/// Starts a new race; `forget` 1: with an untrained ghost, else the ghost keeps its brain.
PAGE_EXPORT(begin) int begin(uint32_t seed, int forget) {
    game.emplace(seed);
    return forget != 0 ? ghost_init(&memory, &error) : HEARTH_C_OK;
}

PAGE_EXPORT(frame) int frame(uint32_t driver, uint32_t keys, int learns) {
    return game->frame(driver, keys, learns != 0);
}

PAGE_EXPORT(view) const float* view() {
    return reinterpret_cast<const float*>(&game->view());
}

/// Returns kOutlinePoints of x, y, `lateral` half-widths to the left of the centre line.
PAGE_EXPORT(outline) const float* outline(float lateral) {
    static std::array<float, 2 * kOutlinePoints> points;
    for (int i = 0; i < kOutlinePoints; ++i) {
        const auto at = game->track().position(
            game->track().length() * static_cast<float>(i) / kOutlinePoints, lateral);
        points[2 * i] = at.x;
        points[2 * i + 1] = at.y;
    }
    return points.data();
}

PAGE_EXPORT(weights) unsigned char* weights_of() {
    return weights;
}
PAGE_EXPORT(brain) unsigned char* brain() {
    return brain_bytes_;
}
PAGE_EXPORT(brain_bytes) int brain_bytes() {
    return GHOST_BRAIN_BYTES;
}
PAGE_EXPORT(most_brain_bytes) int most_brain_bytes() {
    return sizeof brain_bytes_;
}
PAGE_EXPORT(load) int load(int bytes) {
    return ghost_load(&memory, brain_bytes_, static_cast<size_t>(bytes), &error);
}
PAGE_EXPORT(save) int save() {
    return ghost_save(&memory, brain_bytes_, GHOST_BRAIN_BYTES, &error);
}

}  // extern "C"
