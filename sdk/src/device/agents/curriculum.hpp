// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parameters of episodes, such as the height of a wall, and the lessons that change them as agents
// improve (Bengio et al., "Curriculum Learning", 2009).  Lessons and their criteria have the keys
// and the meaning of ML-Agents' environment_parameters (docs/reference/curriculum.md).

#pragma once

#include "core/alloc.hpp"
#include "core/fixed_text.hpp"
#include "core/json_cursor.hpp"
#include "device/agents/archive.hpp"
#include "program/agent_spec_view.hpp"

#include <hearth/hearth_agents.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

class Curriculum {
  public:
    static constexpr uint32_t kMostParameters = 32;
    static constexpr uint32_t kMostLessons = 128;  ///< of all parameters together
    static constexpr uint32_t kMostEpisodes = 4096;
    static constexpr size_t kMaxNameBytes = 63;

    /// Reads the JSON text; an empty one has no parameters.  Sets `error` if it fails.
    hearth_result read(HostAllocator& allocator, std::string_view json, uint32_t agents,
                       SpecText& error);

    // --- Parameters ---
    uint32_t size() const { return parameter_count_; }
    /// UINT32_MAX: there is none of this name.
    uint32_t find(std::string_view name) const;
    const char* name(uint32_t parameter) const { return parameters_[parameter].name.c_str(); }
    /// The value for the next episode: that of the lesson, or a new draw.
    double draw(uint32_t parameter);
    hearth_agents_lesson lesson(uint32_t parameter) const;

    // --- Signals ---
    bool measures_rewards() const { return measures_rewards_; }
    void begin_episode(uint32_t agent);
    void add_reward(uint32_t agent, float amount);
    void end_episode(uint32_t agent);
    /// A value of the game's own metric, of one episode.
    void add_metric(std::string_view metric, double value);
    void count_steps(uint32_t transitions);

    /// Returns to the first lessons.
    void restart();
    /// Lessons of a game with another curriculum begin anew.
    void archive(Archive& archive);

  private:
    enum class Measure : uint8_t { kReward, kProgress, kMetric };
    enum class Sampler : uint8_t { kConstant, kUniform, kGaussian };
    using Name = FixedText<kMaxNameBytes + 1>;
    struct Lesson {
        Name name;
        Sampler sampler = Sampler::kConstant;
        double a = 0, b = 0;  ///< value; minimum and maximum; mean and standard deviation
        bool has_criteria = false;
        Measure measure = Measure::kReward;
        Name metric;
        double threshold = 0;
        uint32_t min_lesson_length = 0;
        bool signal_smoothing = true;
    };
    struct Progress {
        uint32_t lesson = 0;    ///< of the parameter
        uint32_t episodes = 0;  ///< measured in this lesson
        uint32_t draws = 0;
        double smoothed = 0;  ///< signal; see Criteria in ML-Agents
    };
    struct Parameter {
        Name name;
        uint32_t first_lesson = 0, lesson_count = 0;
        uint32_t first_signal = 0, signal_count = 0;  ///< of its ring in signals_
        Progress progress;
    };

    bool read_parameters(JsonCursor& json, SpecText& error);
    bool read_parameter(JsonCursor& json, Parameter& parameter, SpecText& error);
    bool read_lesson(JsonCursor& json, const Parameter& parameter, SpecText& error);
    bool read_value(JsonCursor& json, Lesson& lesson, SpecText& error);
    bool read_sampler(JsonCursor& json, Lesson& lesson, SpecText& error, bool is_begun);
    bool read_criteria(JsonCursor& json, Lesson& lesson, SpecText& error);
    bool check(SpecText& error) const;
    Lesson* add_lesson(SpecText& error);
    const Lesson& lesson_of(const Parameter& p) const {
        return lessons_[p.first_lesson + p.progress.lesson];
    }
    void add_signal(Parameter& p, double value);
    void advance(Parameter& p, double signal);

    std::span<Parameter> parameters() { return std::span(parameters_).first(parameter_count_); }
    std::span<const Parameter> parameters() const {
        return std::span<const Parameter>(parameters_).first(parameter_count_);
    }

    Array<Parameter> parameters_;
    Array<Lesson> lessons_;
    uint32_t parameter_count_ = 0, lesson_count_ = 0;
    Array<float> signals_;   ///< newest signals of each parameter
    Array<double> returns_;  ///< by agent
    double max_steps_ = 0;
    uint64_t seed_ = 0, steps_ = 0, hash_ = 0;
    bool measures_rewards_ = false;
};

}  // namespace hearth::agents
