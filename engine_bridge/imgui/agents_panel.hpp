// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A Dear ImGui panel for agents that learn in a game. First in a designer's words: is it learning, how
// good is it, what does it cost, and what is wrong; then, behind "details", metrics, counters and
// safety limits in a researcher's. With buttons to freeze, take and restore snapshots, reset, save and
// load. Two files to add to a game; they need Hearth's headers, Dear ImGui (1.86 or later) and C++20.
//
//     AgentsPanel panel(context, agents, {.save = to_file, .load = from_file});
//     each frame, after hearth_agents_poll:
//         panel.add({.seconds = time, .gpu_us = us, .budget_us = 500});
//     between NewFrame and Render:
//         panel.draw("Agents");

#pragma once

#include <hearth/hearth.h>
#include <hearth/hearth_agents.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace hearth::bridge {

/// Storage of brains; a button is hidden if its function is missing.
struct BrainFiles {
    /// Saves the bytes of the chosen snapshot, valid during the call. Returns false on failure.
    std::function<bool(std::span<const std::byte> brain)> save;
    /// Returns a saved brain; empty: there is none.
    std::function<std::vector<std::byte>()> load;
};

/// Per-frame input from the game.
struct AgentsPanelFrame {
    double seconds = 0;    ///< game time; never decreases
    double gpu_us = -1;    ///< of acting and learning in the last measured frame; -1: unknown
    double budget_us = 0;  ///< learning_budget_us as passed to hearth_agents_record
};

/// Threads: that of the agents and ImGui's; in games that is one.
class AgentsPanel {
  public:
    /// context, agents: must outlive the panel.
    AgentsPanel(const hearth_context* context, hearth_agents* agents, BrainFiles files = {});

    /// Samples the agents' status; call once per frame. Keeps a few hundred points, whatever the
    /// game's length.
    void add(const AgentsPanelFrame& frame);
    /// A return of an episode to reach, drawn into its curve; NaN: none.
    void set_bar(double episode_return) { bar_ = episode_return; }
    /// Shows the researcher's part, as its switch does.
    void show_details(bool has_details) { has_details_ = has_details; }
    /// Adds a mark to all curves: an action of the player or the game.
    void mark(std::string text);
    /// Draws the panel as a window that can be moved and resized.
    void draw(const char* title);

    /// Error of the last button, until the next one; empty: none.
    const std::string& message() const { return message_; }

  private:
    static constexpr size_t kCurves = HEARTH_AGENTS_METRICS + 1;  // the score is the last
    static constexpr size_t kReturnCurve = HEARTH_AGENTS_EPISODE_RETURN;
    struct Sample {
        double seconds;
        std::array<float, kCurves> values;
    };
    /// A float of the observation that was at a limit in a share of the samples.
    struct AtLimit {
        std::string text;
        float share;
    };
    struct Mark {
        double seconds;
        std::string text;
    };

    const char* curve_name(size_t index) const;
    size_t measure_curve() const;
    void draw_answers() const;
    void draw_warnings() const;
    void draw_head() const;
    void draw_curve();
    void draw_cost() const;
    void find_observations_at_limit();
    void draw_game() const;  ///< the game's own metrics, such as ratings of self-play
    void draw_limits() const;
    void draw_buttons();
    void check(hearth_result result, const char* done);
    void save();
    void load();

    const hearth_context* context_;
    hearth_agents* agents_;
    BrainFiles files_;
    hearth_agents_status status_;
    AgentsPanelFrame frame_;
    double mean_us_ = -1;  ///< gpu_us of about the last 60 frames; -1: unknown
    std::vector<Sample> samples_;
    std::vector<AtLimit> at_limit_;  ///< the largest share first
    std::vector<Mark> marks_;
    double period_ = 0.25;  ///< seconds between samples
    size_t curve_ = kReturnCurve;
    double bar_ = std::numeric_limits<double>::quiet_NaN();
    bool has_details_ = false;
    int snapshot_ = 0;
    bool confirms_reset_ = false;
    bool is_error_ = false;
    std::string message_;
};

}  // namespace hearth::bridge
