// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "ghost_lap/demonstrations.hpp"
#include "ghost_lap/racer.hpp"

#include <array>
#include <optional>

namespace hearth::ghost_lap {

struct RaceOptions {
    uint64_t seed = 1;
    /// The ghost's action in frame t comes from its observation of frame t - this, 0..kMaxLatency.
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

    /// The ghost drove `lap_count` laps in a row, each completed and each within `tolerance`
    /// (0.1: ten per cent) of the player's mean lap time.
    bool has_ghost_lapped(int lap_count, float tolerance) const;
};

/// A time trial of a player and of a ghost that learns from the player.
///
/// The player drives from the start.  Every kFramesPerSample frames the player's action, and the
/// observation reaction_frames before it, become a demonstration.  When the player has completed
/// ghost_starts_after_laps laps, the ghost starts from the grid; from then on it is moved by its
/// net's outputs and by nothing else, except that a stuck ghost is put back on the track, which
/// fails its lap.  The cars do not touch.
///
/// A frame is
///
///     // give race.ghost().observation() of frame t = race.frame() to the net, and when its result
///     // for a frame s arrives, at most action_latency_frames later:
///     race.set_ghost_action(s, result);
///     race.step(driver.drive(race.player(), race.frame()));
///
/// Fixed step, no clock: equal options and inputs give equal races, bit for bit, on one machine.
class Race {
  public:
    static constexpr int kFramesPerSample = 3;  // 20 Hz
    static constexpr uint32_t kMaxLatency = 4;
    static constexpr uint32_t kMaxReaction = 15;

    /// track  must outlive the race.
    Race(const Track& track, const RaceOptions& options);

    /// The frame that the next step() will drive; also the frame of all observations until then.
    uint64_t frame() const { return frame_; }

    const Racer& player() const { return player_; }
    /// Stands on the grid until ghost_is_driving(), so it can be observed from the start.
    const Racer& ghost() const { return ghost_; }
    bool ghost_is_driving() const { return ghost_is_driving_; }
    const Demonstrations& demonstrations() const { return demonstrations_; }

    /// Hands in the net's output for ghost().observation() of frame `observed`, which moves the
    /// ghost in frame observed + action_latency_frames, whenever it is handed in before that.  It
    /// is brought into [-1, 1] (not a number: 0); one that comes too late, or too early, is
    /// ignored.
    void set_ghost_action(uint64_t observed, const ActionVector& action);

    /// Drives one frame.
    void step(Action player_action);

    /// Frames in which the ghost had to hold its last action because no result had arrived.
    uint64_t missed_actions() const { return missed_actions_; }
    /// Laps, lines and faults so far.
    RaceTable table() const;
    /// A hash of every state of both cars since the start.
    uint64_t state_hash() const { return state_hash_; }

  private:
    struct PostedAction {
        uint64_t frame;
        ActionVector action;
    };

    Action next_ghost_action();

    RaceOptions options_;
    Racer player_;
    Racer ghost_;
    Demonstrations demonstrations_;
    std::array<Observation, kMaxReaction + 1> seen_{};  // by the player, by frame
    uint64_t frame_ = 0;
    bool ghost_is_driving_ = false;
    std::array<std::optional<PostedAction>, kMaxLatency + 1> posted_{};
    Action ghost_action_{};  // the last one used
    uint64_t missed_actions_ = 0;
    uint64_t state_hash_ = 0;
};

}  // namespace hearth::ghost_lap
