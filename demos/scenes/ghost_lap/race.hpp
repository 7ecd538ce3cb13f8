// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "ghost_lap/racer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace hearth::ghost_lap {

/// Where the person sits.
enum class Seat : uint8_t {
    kOwnCar,
    kGhost,  ///< at the ghost's wheel: a correction; before the ghost drives the same as kOwnCar
    kNone,   ///< watches
};

/// What the person did, and what they saw when they decided to.
///
/// The action is the one that moved the car, steering noise included: a learner gets from a
/// scripted driver no more than it could get from a person.
struct Demonstration {
    Observation observation;
    ActionVector action;
};

/// Outputs of a net on their way to its car, each for the frame in which it is due.
class Autopilot {
  public:
    static constexpr uint32_t kMaxLatency = 4;

    /// latency_frames  between an observation and the action that answers it, 0..kMaxLatency.
    explicit Autopilot(uint32_t latency_frames);

    /// Hands in the answer to the observation of frame `observed` in frame `now`.  What comes too
    /// late, or too early, is ignored.
    void post(uint64_t now, uint64_t observed, const ActionVector& action);
    /// The action of frame `now`; the last one again, and counted, if none has arrived for it.  Before
    /// the first one of all the car rolls.
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
    /// A net's action in frame t comes from its observation of frame t - this, as Autopilot.
    uint32_t action_latency_frames = 1;
    /// Laps that the player must have completed before the ghost starts.
    uint32_t ghost_starts_after_laps = 1;
    /// A demonstration pairs an action with the observation this many frames before it,
    /// 0..kMaxReaction: what a person does answers what was seen a moment ago, and what the ghost
    /// does is late too.
    uint32_t reaction_frames = 2;
};

/// The statistics of a race so far.
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

    /// The ghost drove `lap_count` laps in a row, each completed and each within `tolerance`
    /// (0.1: ten per cent) of the player's mean lap time.
    bool has_ghost_lapped(int lap_count, float tolerance) const;
};

/// A time trial of a player, of a ghost that learns from the player, and if wanted of a rival that
/// has learned before.
///
/// The player drives from the start, and the rival with them.  When the player has completed
/// ghost_starts_after_laps laps, the ghost starts from the grid; from then on it is moved by its
/// net's outputs and by nothing else, except that a stuck ghost is put back on the track, which
/// fails its lap, and that the person may take its wheel.  The same holds for the rival, whose wheel
/// nobody takes.  The cars do not touch.
///
/// While the person sits elsewhere, the player's car and the rival stand still, and so do their
/// clocks: who corrects the ghost loses nothing.
///
/// Every kFramesPerSample frames what the person does at either wheel, and the observation
/// reaction_frames before it, become a demonstration.
///
/// A frame is
///
///     // give race.ghost().observation() of frame t = race.frame() to the net, and when its result
///     // for a frame s arrives, at most action_latency_frames later:
///     race.set_ghost_action(s, result);
///     race.step(driver.drive(race.driven(seat), race.frame()), seat);
///
/// Fixed step, no clock: equal options and inputs give equal races, bit for bit, on one machine.
class Race {
  public:
    static constexpr int kFramesPerSample = 3;  // 20 Hz
    static constexpr uint32_t kMaxReaction = 15;

    /// track  must outlive the race.
    Race(const Track& track, const RaceOptions& options);
    /// Puts a rival on the grid, before the first step().
    void add_rival();

    /// The frame that the next step() will drive; also the frame of all observations until then.
    uint64_t frame() const { return frame_; }

    const Track& track() const { return player_.track(); }
    const Racer& player() const { return player_; }
    /// Stands on the grid until ghost_is_driving(), so it can be observed from the start.
    const Racer& ghost() const { return ghost_; }
    bool ghost_is_driving() const { return ghost_is_driving_; }
    /// Null without one.
    const Racer* rival() const { return rival_ ? &*rival_ : nullptr; }
    /// The car at whose wheel the person is, or would be who sits nowhere.
    const Racer& driven(Seat seat) const { return holds_ghost(seat) ? ghost_ : player_; }
    /// Where the person sat in the last step.
    Seat seat() const { return seat_; }

    /// Hand in a net's output for the car's observation of frame `observed`, which moves the car in
    /// frame observed + action_latency_frames, whenever it is handed in before that.  It is brought
    /// into [-1, 1] (not a number: 0).
    void set_ghost_action(uint64_t observed, const ActionVector& action) {
        ghost_pilot_.post(frame_, observed, action);
    }
    void set_rival_action(uint64_t observed, const ActionVector& action) {
        rival_pilot_.post(frame_, observed, action);
    }

    /// Drives one frame.  action: of the person, at the wheel of driven(seat).
    void step(Action action, Seat seat = Seat::kOwnCar);

    /// What the last step() showed of how the person drives; nothing after most.
    const std::optional<Demonstration>& demonstration() const { return demonstration_; }
    /// Frames in which the person held the ghost's wheel.
    uint64_t corrected_frames() const { return corrected_frames_; }

    /// Frames in which a net's car had to hold its last action because no result had arrived.
    uint64_t missed_actions() const { return ghost_pilot_.missed() + rival_pilot_.missed(); }
    /// How long after the player the rival reached the last metre that both have reached, in
    /// seconds: negative if it was there before.  0 without a rival.
    float lead_seconds() const;
    /// Laps, lines and faults so far.
    RaceTable table() const;
    /// A hash of every state of all cars since the start.
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
    /// By metre from the grid: the frame of the duel in which the player, and the rival, reached it.
    std::array<std::vector<uint32_t>, 2> reached_;
    uint32_t duel_frame_ = 0;
    uint64_t state_hash_ = 0;
};

/// For each corner of the track how far the ghost's line is from another one there, in half-widths: the
/// mean over its laps [first, end), as far as there are any; 0 otherwise.
std::vector<float> corner_errors(const Race& race, const Line& line, size_t first, size_t end);

}  // namespace hearth::ghost_lap
