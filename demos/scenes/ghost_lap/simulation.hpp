// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A car alone on the circuit as tensor code: the rules of racer.hpp in f32, many cars in parallel,
// on the device.

#pragma once

#include "ghost_lap/racer.hpp"

#include <hearth/agents/simulation.hpp>

#include <cstdint>

namespace hearth::ghost_lap {

/// Frames per decision; the action is held in between.
constexpr int kFramesPerDecision = 3;
/// Maximum decisions per episode: 20 s, which is more than a lap.
constexpr int64_t kEpisodeDecisions = 20 * kFramesPerSecond / kFramesPerDecision;

// The reward of a frame: metres driven along the centre line, minus one of these.
constexpr float kOffTrackMetres = 0.5f;  ///< off the track: as far as a fast car drives in a frame
constexpr float kPutBackMetres = 20.0f;  ///< the car must be put back, which terminates the episode

/// Return of an episode of the fastest scripted driver, from the grid; the slowest has 324.
constexpr float kFastestDriverMetres = 371.0f;

/// Drives a frame in C++ and returns its reward. racer: one that is put back when stuck.
float drive_frame(Racer& racer, Action action);

/// Columns of the state, in order.
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

/// A step is a decision of a car for schema()'s agents. An episode begins anywhere on the track,
/// rolling, and terminates where a Racer would be put back. track: copied.
agents::VectorEnv make_simulation(const Track& track);

}  // namespace hearth::ghost_lap
