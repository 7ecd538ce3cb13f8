// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A Dear ImGui panel for agents that learn in a game: curves with marks, GPU time against the budget, memory,
// what the rails caught; and what a person may want to do: freeze, keep, rewind, forget, save, load.  Two files
// to take into a game; they need hearth.h, hearth_agents.h, Dear ImGui (1.86 or later) and C++20.
//
//     AgentsPanel panel(context, agents, {.save = to_file, .load = from_file});
//     each frame, behind hearth_agents_poll:  panel.add({.seconds = time, .gpu_us = us, .budget_us = 500});
//     between NewFrame and Render:            panel.draw("Agents");

#pragma once

#include <hearth/hearth.h>
#include <hearth/hearth_agents.h>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hearth::bridge {

/// Where brains are kept; without one of them its button is not shown.
struct BrainFiles {
    /// The bytes of the chosen snapshot, which last for the call; false: it could not be kept.
    std::function<bool(std::span<const std::byte> brain)> save;
    /// Empty: there is none.
    std::function<std::vector<std::byte>()> load;
};

/// What the game knows of a frame.
struct AgentsPanelFrame {
    double seconds = 0;  ///< of the game; never gets less
    double gpu_us =
        -1;  ///< of acting and learning in the last frame that was measured; -1: unknown
    double budget_us = 0;  ///< learn_us as it is given to hearth_agents_record
};

/// Threads: those of the agents it was made for, and ImGui's; in games that is one.
class AgentsPanel {
  public:
    /// context, agents  must outlive the panel.
    AgentsPanel(const hearth_context* context, hearth_agents* agents, BrainFiles files = {});

    /// Once a frame: how the agents are doing now.  Keeps some hundred points, whatever the game's length.
    void add(const AgentsPanelFrame& frame);
    /// A mark in all curves: what the player or the game did.
    void mark(std::string text);
    /// The panel as a window of its own, which the person can move and resize.
    void draw(const char* title);

    /// What went wrong with the last button, until the next one; empty: nothing.
    const std::string& message() const { return message_; }

  private:
    static constexpr size_t kCurves = HEARTH_AGENTS_DIAGNOSTICS + 1;  // the score is the last
    struct Sample {
        double seconds;
        std::array<float, kCurves> values;
    };
    struct Mark {
        double seconds;
        std::string text;
    };

    const char* curve_name(size_t index) const;
    void draw_head() const;
    void draw_curve();
    void draw_cost() const;
    void draw_rails() const;
    void draw_buttons();
    void check(hearth_result result, const char* done);
    void save();
    void load();

    const hearth_context* context_;
    hearth_agents* agents_;
    BrainFiles files_;
    hearth_agents_status status_;
    AgentsPanelFrame frame_;
    std::vector<Sample> samples_;
    std::vector<Mark> marks_;
    double period_ = 0.25;  ///< seconds between samples that are kept
    size_t curve_ = kCurves - 1;
    int snapshot_ = 0;
    bool wants_to_forget_ = false;
    bool is_error_ = false;
    std::string message_;
};

}  // namespace hearth::bridge
