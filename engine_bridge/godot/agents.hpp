// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Agents that learn while they act.  Independent of Godot.

#pragma once

#include "host.hpp"

#include <hearth/hearth_agents.h>

namespace hearth_godot {

/// Agents that share a brain.  Each frame: observations and rewards, then decide(), then actions.
class Agents : public Model {
  public:
    ~Agents() { close(); }

    /// enable_saved_games  save_game() works, which takes memory for a copy of everything
    bool open(const std::string& path, const Bytes& bytes, const std::string& device,
              bool enable_saved_games);
    void close();

    /// Returns a handle of an agent, which is valid until remove(); -1 on failure.
    int64_t add();
    bool remove(int64_t agent);
    int64_t count();
    int64_t observation_size();
    int64_t action_size();

    /// The observation that the agent decides by next.  Values that are not finite are rejected.
    bool observe(int64_t agent, const Floats& observation);
    /// As observe(), for some fields by name; the others stay.
    bool observe_fields(int64_t agent, const Fields& fields);
    bool add_reward(int64_t agent, double amount);
    bool end_episode(int64_t agent, bool is_truncated);

    struct Frame {
        double exploration = 1;
        double learning_budget_us = 500;  // infinity: all that is due, whatever it takes
        bool is_threaded = true;
    };
    /// Decides and learns on the device.  With is_threaded it returns at once; the other calls wait
    /// until the frame has ended.
    bool decide(const Frame& frame);
    /// Waits for the frame.  Returns false if it failed.
    bool wait();
    /// The newest decision; empty on failure.
    Floats action(int64_t agent);
    Floats action_field(int64_t agent, const std::string& name);

    void freeze(bool is_frozen);
    std::vector<std::pair<std::string, double>> status();

    /// Returns what was learned.  Finishes the update in progress, by frames without decisions.
    Bytes save();
    /// As save(), with everything that is needed to go on to the bit: samples, agents and what was
    /// reported since their last decisions.
    Bytes save_game();
    bool load(const Bytes& brain);
    bool reset();

  private:
    bool check(hearth_result result, const char* call);
    bool decide_and_learn(const Frame& frame, std::string& error);
    bool record_frame(const Frame& frame, bool is_deciding, std::string& error);
    bool run_without_decisions(const char* call, bool finish_update,
                               const std::function<bool()>& has_arrived);
    float* find_observation(int64_t agent, const char* call);

    hearth_agents* agents_ = nullptr;
    Worker worker_;
    std::string frame_error_;  // of the frame on the worker
};

}  // namespace hearth_godot
