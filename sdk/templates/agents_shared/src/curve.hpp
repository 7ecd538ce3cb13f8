// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The learning curve: a line of text for each sample, and a run log for `hearth watch`.

#pragma once

#include "game.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

class Curve {
  public:
    /// path: the run log, or null for none.
    static hearth::Result<Curve> open(const char* path) {
        Curve curve;
        if (path != nullptr) {
            HEARTH_ASSIGN(curve.log_, hearth::RunLogWriter::open(path));
        }
        HEARTH_TRY(
            curve.log_.write(hearth::run_log_begin("my_game", "frames", hearth::kAllRunRequests)));
        return curve;
    }
    hearth::Status add(Game& game, int frame) {
        // An episode's return is 1 for the flag, and up to 2.8 for the way there.
        const float score = game.score();
        const auto length = static_cast<size_t>(std::clamp(score * 15, 0.0f, 50.0f));
        std::printf("%6d frames: return %5.2f %s\n", frame, static_cast<double>(score),
                    std::string(length, '#').c_str());
        std::fflush(stdout);
        return log_.write(hearth::agents::run_log_sample(game.agents(), frame));
    }
    /// Follows `hearth watch run.jsonl`: waits while it pauses, freezes the agents; true: it stops.
    bool follow(Game& game) {
        const bool is_stopped = log_.waits_or_stops();
        game.agents().freeze(log_.control().freeze);
        return is_stopped;
    }

  private:
    hearth::RunLogWriter log_;
};
