// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A car alone on the circuit as tensor code: the rules of racer.hpp in f32, many cars at a time, on the device.

#pragma once

#include "ghost_lap/racer.hpp"

#include <hearth/agents/simulation.hpp>

#include <cstdint>

namespace hearth::ghost_lap {

/// Frames from one decision to the next; what was decided is held in between.
constexpr int kFramesPerDecision = 3;
/// Decisions of an episode: 20 s, which is more than a lap.
constexpr int64_t kEpisodeDecisions = 20 * kFramesPerSecond / kFramesPerDecision;

// What a frame is worth: metres driven along the centre line, less one of these.
constexpr float kOffTrackMetres = 0.5f;  ///< off the track: as far as a fast car drives in a frame
constexpr float kPutBackMetres = 20.0f;  ///< the car must be put back, and the episode is over

/// What an episode of the fastest scripted driver is worth, from the grid; the slowest has 324.
constexpr float kFastestDriverMetres = 371.0f;

/// Drives a frame in C++, and returns what it is worth.  racer: one that is put back when stuck.
float drive_frame(Racer& racer, Action action);

/// The numbers of a row of its state, in order.
enum class CarNumber : int64_t {
    kX,
    kY,
    kHeading,
    kSpeed,
    kProgress,  ///< in [0, Track::length())
    kLateral,
    kOffFrames,  ///< as Racer counts them
    kIdleFrames,
    kCount,
};

/// A step is a decision of a car for schema()'s agents.  An episode begins anywhere on the track, rolling, and ends
/// where a Racer would be put back.  track: copied.
agents::Simulation make_simulation(const Track& track);

}  // namespace hearth::ghost_lap
