// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computes a car's observation.

#include "ghost_lap/observation.hpp"

#include <cmath>
#include <numbers>

namespace hearth::ghost_lap {

float heading_error(const Car& car, const Track& track, const TrackPoint& where) {
    return std::remainder(car.heading - track.heading(where.progress),
                          2.0f * std::numbers::pi_v<float>);
}

Observation observe(const Car& car, const Track& track, const TrackPoint& where) {
    Observation out = {(car.speed - kMeanSpeed) * kSpeedScale, where.lateral * kLateralScale,
                       heading_error(car, track, where) * kErrorScale};
    const float here = track.heading(where.progress);
    for (int i = 0; i < kLookAheadCount; ++i) {
        const float ahead = track.heading(where.progress + kLookAheadMetres[i]);
        out[3 + i] = (ahead - here) * kTurnScale / kLookAheadMetres[i];
    }
    return out;
}

}  // namespace hearth::ghost_lap
