// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The hatchlings' performance in bars of fifteen seconds, and a judgement of its trend.

#pragma once

#include "hatchlings/world.hpp"

#include <string>
#include <utility>
#include <vector>

namespace hearth::hatchlings {

enum class Mood : uint8_t {
    kWatching,  ///< too early to say
    kLearning,  ///< better than at first, or no worse
    kStuck,     ///< a minute far below the start: reset, soften penalties, explore more
    kDegraded,  ///< worse than before: the rules may have changed, which adapt() is for
};

class Progress {
  public:
    static constexpr int kBarSeconds = 15;
    static constexpr uint64_t kBarFrames = uint64_t{kBarSeconds} * kFramesPerSecond;

    struct Bar {
        float embers = 0;  ///< touched per hatchling and minute
        float motes = 0;
        float score = 0;  ///< rewards minus penalties, by the rules at its end
        bool is_hot_night = false;
    };
    /// A player's action, for the curve.
    struct Mark {
        uint64_t frame;
        std::string text;
    };

    struct State {
        std::vector<Bar> bars;
        std::vector<Mark> marks;
        uint64_t embers = 0, motes = 0;  ///< touched before the current bar
    };

    Progress() = default;
    explicit Progress(State state) : state_(std::move(state)) {}
    const State& state() const { return state_; }

    /// Call after each step of the world; true when a bar is complete.
    bool add(const World& world);
    void mark(uint64_t frame, std::string text) {
        state_.marks.push_back({frame, std::move(text)});
    }

    const std::vector<Bar>& bars() const { return state_.bars; }
    const std::vector<Mark>& marks() const { return state_.marks; }
    Mood mood() const;
    /// Ratio of the latest bars to the first one; 0 while there are fewer than two.
    float gain() const;

  private:
    State state_;
};

}  // namespace hearth::hatchlings
