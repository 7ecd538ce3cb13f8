// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A race of a player, a ghost that learns from the player, and an optional rival.

#pragma once

#include "ghost_lap/racer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace hearth::ghost_lap {

/// The person's seat.
enum class Seat : uint8_t {
    kOwnCar,
    kGhost,  ///< at the ghost's wheel: a correction; kOwnCar until the ghost drives
    kNone,   ///< watches
};

/// An action of the person and the observation it responds to.
///
/// The action is the one that moved the car, steering noise included: a learner gets no more from a
/// scripted driver than it could get from a person.
struct Demonstration {
    Observation observation;
    ActionVector action;
};

/// Delays a network's outputs until the frames in which they are due.
class Autopilot {
  public:
    static constexpr uint32_t kMaxLatency = 4;

    /// latency_frames: between an observation and its action, 0..kMaxLatency.
    explicit Autopilot(uint32_t latency_frames);

    /// Adds, in frame `now`, the action for the observation of frame `observed`. Ignored if too
    /// late or too early.
    void post(uint64_t now, uint64_t observed, const ActionVector& action);
    /// Returns the action of frame `now`; if it has not arrived, repeats the last one and counts a
    /// miss. Before the first one the car rolls.
    Action take(uint64_t now);
    uint64_t missed() const { return missed_; }

  private:
    struct Posted {
        uint64_t frame;
        ActionVector action;
    };
    uint32_t latency_;
    std::array<std::optional<Posted>, kMaxLatency + 1> posted_{};
    Action last_{};
    bool has_begun_ = false;
    uint64_t missed_ = 0;
};

struct RaceOptions {
    uint64_t seed = 1;
    /// A network's action in frame t comes from its observation of frame t - this, as in Autopilot.
    uint32_t action_latency_frames = 1;
    /// Laps that the player must have completed before the ghost starts.
    uint32_t ghost_starts_after_laps = 1;
    /// A demonstration pairs an action with the observation this many frames earlier,
    /// 0..kMaxReaction: a person responds to what was seen a moment ago, and the ghost's actions
    /// are late, too.
    uint32_t reaction_frames = 2;
};

/// Statistics of a race so far.
struct RaceTable {
    struct Row {
        float seconds;
        float mean_offset;  ///< of the lap's line, in half-widths
        float line_error;   ///< of the lap's line to the player's mean line, in half-widths
        uint32_t off_tracks;
        bool is_completed;  ///< false: the car was put back on the track during the lap
    };
    struct Laps {
        std::vector<Row> rows;     ///< every lap that ended at the line, failed ones included
        float seconds = 0.0f;      ///< mean of the completed laps; 0 if there are none
        float mean_offset = 0.0f;  ///< mean of the completed laps; 0 if there are none
        uint32_t off_tracks = 0;   ///< since the start, the unfinished lap included
        uint32_t resets = 0;       ///< since the start, the unfinished lap included
    };
    Laps player;
    Laps ghost;
    std::optional<Laps> rival;

    /// True if the ghost drove `lap_count` laps in a row, each completed and within `tolerance`
    /// (0.1: ten per cent) of the player's mean lap time.
    bool has_ghost_lapped(int lap_count, float tolerance) const;
};

/// A time trial of a player, a ghost that learns from the player, and optionally a trained rival.
///
/// The player and the rival drive from the start. When the player has completed
/// ghost_starts_after_laps laps, the ghost starts from the grid. From then on its network's outputs
/// drive it, with two exceptions: a stuck ghost is put back on the track, which fails its lap, and
/// the person may take its wheel. The same holds for the rival, except that nobody takes its wheel.
/// Cars do not collide.
///
/// While the person sits elsewhere, the player's car, the rival and their clocks stand still:
/// correcting the ghost costs no time.
///
/// Every kFramesPerSample frames the person's action at either wheel, and the observation
/// reaction_frames before it, become a demonstration.
///
/// A frame is
///
///     // give race.ghost().observation() of frame t = race.frame() to the network, and when its
///     // result for a frame s arrives, at most action_latency_frames later:
///     race.set_ghost_action(s, result);
///     race.step(driver.drive(race.driven(seat), race.frame()), seat);
///
/// Fixed step, no clock: equal options and inputs give equal races, bit for bit, on one machine.
class Race {
  public:
    static constexpr int kFramesPerSample = 3;  // 20 Hz
    static constexpr uint32_t kMaxReaction = 15;

    /// track: must outlive the race.
    Race(const Track& track, const RaceOptions& options);
    /// Puts a rival on the grid; before the first step().
    void add_rival();

    /// The frame that the next step() will drive; also the frame of all observations until then.
    uint64_t frame() const { return frame_; }

    const Track& track() const { return player_.track(); }
    const Racer& player() const { return player_; }
    /// Stands on the grid until ghost_is_driving(), so it can be observed from the start.
    const Racer& ghost() const { return ghost_; }
    bool ghost_is_driving() const { return ghost_is_driving_; }
    /// Null if there is no rival.
    const Racer* rival() const { return rival_ ? &*rival_ : nullptr; }
    /// The car that a person in this seat drives, or would drive.
    const Racer& driven(Seat seat) const { return holds_ghost(seat) ? ghost_ : player_; }
    /// The person's seat in the last step.
    Seat seat() const { return seat_; }

    /// Sets a network's output for the car's observation of frame `observed`. It moves the car in
    /// frame observed + action_latency_frames and must be set before that. It is clamped to [-1, 1]
    /// (NaN: 0).
    void set_ghost_action(uint64_t observed, const ActionVector& action) {
        ghost_pilot_.post(frame_, observed, action);
    }
    void set_rival_action(uint64_t observed, const ActionVector& action) {
        rival_pilot_.post(frame_, observed, action);
    }

    /// Drives one frame. action: the person's, at the wheel of driven(seat).
    void step(Action action, Seat seat = Seat::kOwnCar);

    /// The demonstration that the last step() produced, if any.
    const std::optional<Demonstration>& demonstration() const { return demonstration_; }
    /// Frames in which the person held the ghost's wheel.
    uint64_t corrected_frames() const { return corrected_frames_; }

    /// Frames in which a network's car repeated its last action because no result had arrived.
    uint64_t missed_actions() const { return ghost_pilot_.missed() + rival_pilot_.missed(); }
    /// Time in seconds from the player to the rival at the last metre that both have reached;
    /// negative if the rival was first. 0 without a rival.
    float lead_seconds() const;
    /// Returns laps, lines and faults so far.
    RaceTable table() const;
    /// A hash of all states of all cars since the start.
    uint64_t state_hash() const { return state_hash_; }

  private:
    bool holds_ghost(Seat seat) const { return seat == Seat::kGhost && ghost_is_driving_; }
    void demonstrate(const Observation& seen, Action action, Seat seat);

    RaceOptions options_;
    Racer player_;
    Racer ghost_;
    std::optional<Racer> rival_;
    Autopilot ghost_pilot_, rival_pilot_;
    Seat seat_ = Seat::kOwnCar;
    uint64_t seated_since_ = 0;                         // frame
    std::array<Observation, kMaxReaction + 1> seen_{};  // by the person, by frame
    std::optional<Demonstration> demonstration_;
    uint64_t frame_ = 0, corrected_frames_ = 0;
    bool ghost_is_driving_ = false;
    /// Per metre from the grid: the frame of the duel in which the player, and the rival, reached
    /// it.
    std::array<std::vector<uint32_t>, 2> reached_;
    uint32_t duel_frame_ = 0;
    uint64_t state_hash_ = 0;
};

/// Returns, per corner of the track, the ghost's distance from `line` in half-widths: the mean over
/// its laps [first, end) that exist; 0 if none.
std::vector<float> corner_errors(const Race& race, const Line& line, size_t first, size_t end);

}  // namespace hearth::ghost_lap
