// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Output of a run: JSON lines, the final table, the picture of the learning curve.

#pragma once

#include "host/cost.hpp"
#include "host/overlap.hpp"
#include "host/ui.hpp"
#include "play.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hearth::ghost_lap {

using demo::Cost;

/// Effect of a coach's corrections: the ghost's distance from the right line, in half-widths, in
/// the last lap before the corrections and in the laps after them.
struct HandOver {
    size_t corner = 0;  ///< from 0
    float before = 0.0f, after = 0.0f;
    float others_before = 0.0f, others_after = 0.0f;  ///< the mean of all other corners
    bool is_complete = false;  ///< a lap was driven after the last correction

    /// right: the line of a driver who takes that corner correctly.
    static HandOver of(const Race& race, size_t corner, const Line& right);
};

/// Everything needed to assess a run.
struct RunResult {
    std::string device;
    std::string presenter;
    std::string driver;
    std::string program;  ///< how the net was compiled
    std::string rival;    ///< file of the rival's brain; empty: no rival
    uint64_t seed = 0;
    uint64_t frames = 0;
    bool is_headless = false;
    bool is_interrupted = false;  ///< a signal ended it
    bool is_learning_on = true;
    RaceTable table;
    float lead_seconds = 0.0f;  ///< Race::lead_seconds()
    std::optional<HandOver> hand_over;
    uint64_t corrected_frames = 0;
    uint64_t learning_steps = 0;
    uint64_t missed_actions = 0;
    uint64_t state_hash = 0;
    uint64_t weights_hash = 0;
    std::vector<float> losses;
    Cost render_ms, brain_ms;  ///< GPU time
    Cost frame_ms;             ///< everything on the graphics queue in a frame
    demo::Overlap overlap;     ///< of brain_ms, on a queue of its own, with frame_ms
    Cost frame_period_ms;      ///< wall-clock time between frames
    bool has_async_compute = false;
    bool is_native = false;  ///< networks run on the CPU
    bool has_gpu_times = false;
    double record_us = 0.0;  ///< CPU time of recording, per frame
    uint64_t cpu_allocations = 0;
    uint64_t device_allocations = 0;
    uint64_t failed_writes = 0;  ///< file writes that failed and were retried
    uint32_t validation_messages = 0;
    bool is_validated = false;

    /// True if the ghost drove three laps in a row within 10 % of the player's time, and a coach's
    /// corrections, if any, brought it closer to the right line in the corrected corner.
    bool has_passed() const {
        return table.has_ghost_lapped(3, 0.1f) &&
               (!hand_over || (hand_over->is_complete && hand_over->after < hand_over->before));
    }
};

/// Writes JSON lines with values that are reproducible for a seed, so without times of this
/// machine.
class RunLog {
  public:
    /// Call once per frame: reports new laps, and the progress every 15 simulated seconds. Returns
    /// true if lines were added.
    bool add(const Play& play);
    void finish(const RunResult& result);
    /// All lines so far.
    const std::string& text() const { return text_; }

  private:
    void add_line(const nlohmann::ordered_json& line);

    std::string text_;
    size_t player_laps_ = 0;
    size_t ghost_laps_ = 0;
    size_t rival_laps_ = 0;
};

/// Formats the final table.
std::string report_text(const RunResult& result);

/// Draws loss, lap times and line errors onto ImGui's whole display.
void draw_learning_curve(const RunResult& result, const demo::Ui& ui);

}  // namespace hearth::ghost_lap
