// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads curricula, and moves from lesson to lesson.

#include "device/agents/curriculum.hpp"

#include <hearth/core/philox.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace hearth::agents {

namespace {

constexpr const char kTitle[] = "curriculum";
constexpr double kFarthest = 1e30;  ///< signals beyond it count as it

int length_of(std::string_view text) {
    return static_cast<int>(std::min<size_t>(text.size(), 80));
}

/// Reports a value that is JSON and not what is expected.  Returns false.
bool refuse(JsonCursor& json, SpecText& error, const char* key, const char* expected) {
    error.set("%s, line %zu: %s: expected %s", kTitle, json.line(), key, expected);
    return false;
}

bool refuse_key(JsonCursor& json, SpecText& error, std::string_view key, const char* known) {
    error.set("%s, line %zu: unknown key '%.*s'; expected %s", kTitle, json.line(), length_of(key),
              key.data(), known);
    return false;
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= Curriculum::kMaxNameBytes;
}

template <class Name>
bool read_name(JsonCursor& json, SpecText& error, const char* key, Name& out) {
    std::string_view text;
    if (!json.text(text)) return false;
    if (!is_name(text)) return refuse(json, error, key, "a text of 1 to 63 bytes");
    out.set("%.*s", static_cast<int>(text.size()), text.data());
    return true;
}

bool read_count(JsonCursor& json, SpecText& error, const char* key, const char* expected,
                double most, double& out) {
    if (!json.number(out)) return false;
    return (out >= 0 && out <= most && out == std::floor(out)) ||
           refuse(json, error, key, expected);
}

}  // namespace

// --- Reading ---

hearth_result Curriculum::read(HostAllocator& allocator, std::string_view text, uint32_t agents,
                               SpecText& error) {
    if (text.empty()) return HEARTH_OK;
    if (!lessons_.resize(allocator, kMostLessons) ||
        !parameters_.resize(allocator, kMostParameters) || !returns_.resize(allocator, agents)) {
        error.set("out of memory for a curriculum");
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    hash_ = Hash().text(text).value();
    JsonCursor json(text);
    error.clear();
    bool is_read = json.begin_object(), has_parameters = false;
    std::string_view key;
    double seed = 0;
    while (is_read && json.next_key(key)) {
        if (key == "environment_parameters") {
            is_read = !std::exchange(has_parameters, true)
                          ? read_parameters(json, error)
                          : refuse(json, error, "environment_parameters", "this key once");
        } else if (key == "max_steps") {
            is_read = read_count(json, error, "max_steps", "a whole number up to 2^53", 0x1p53,
                                 max_steps_);
        } else if (key == "seed") {
            is_read = read_count(json, error, "seed", "a whole number up to 2^53", 0x1p53, seed);
        } else {
            is_read = refuse_key(json, error, key,
                                 "environment_parameters, max_steps (of the measure progress) or "
                                 "seed");
        }
    }
    seed_ = static_cast<uint64_t>(seed);
    if (is_read) is_read = json.end();
    if (is_read && !has_parameters)
        is_read = refuse(json, error, "environment_parameters", "this key with an object");
    if (is_read) is_read = check(error);
    if (!is_read) {
        if (error.empty())
            error.set("%s, line %zu: expected %s", kTitle, json.line(), json.expected());
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < lesson_count_; ++i)
        measures_rewards_ = measures_rewards_ ||
                            (lessons_[i].has_criteria && lessons_[i].measure == Measure::kReward);
    uint32_t signals = 0;
    for (Parameter& p : parameters()) {
        p.first_signal = signals;
        for (const Lesson& lesson : std::span(&lessons_[p.first_lesson], p.lesson_count))
            if (lesson.has_criteria && lesson.measure != Measure::kProgress)
                p.signal_count = std::max({p.signal_count, lesson.min_lesson_length, 1u});
        signals += p.signal_count;
    }
    if (signals_.resize(allocator, signals)) return HEARTH_OK;
    error.set("out of memory for the %u episodes of a curriculum", signals);
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}

bool Curriculum::read_parameters(JsonCursor& json, SpecText& error) {
    if (!json.begin_object()) return false;
    std::string_view key;
    while (json.next_key(key)) {
        if (!is_name(key)) return refuse(json, error, "a parameter's name", "1 to 63 bytes");
        if (parameter_count_ == kMostParameters)
            return refuse(json, error, "environment_parameters", "at most 32 parameters");
        if (find(key) != UINT32_MAX)
            return refuse(json, error, "environment_parameters", "each parameter once");
        Parameter& p = parameters_[parameter_count_++];
        p.name.set("%.*s", static_cast<int>(key.size()), key.data());
        p.first_lesson = lesson_count_;
        if (!read_parameter(json, p, error)) return false;
        p.lesson_count = lesson_count_ - p.first_lesson;
    }
    if (json.failed()) return false;
    return parameter_count_ > 0 ||
           refuse(json, error, "environment_parameters", "at least one parameter");
}

Curriculum::Lesson* Curriculum::add_lesson(SpecText& error) {
    if (lesson_count_ < kMostLessons) return &lessons_[lesson_count_++];
    error.set("%s: expected at most %u lessons of all parameters", kTitle, kMostLessons);
    return nullptr;
}

/// A number, a sampler, or an object with a list of lessons.
bool Curriculum::read_parameter(JsonCursor& json, Parameter& parameter, SpecText& error) {
    if (json.peek() != '{') {
        Lesson* const lesson = add_lesson(error);
        return lesson != nullptr && json.number(lesson->a);
    }
    std::string_view key;
    if (!json.begin_object()) return false;
    if (!json.next_key(key))
        return refuse(json, error, parameter.name.c_str(),
                      "a number, a sampler or a curriculum, found an empty object");
    if (key != "curriculum") {
        if (key != "sampler_type")
            return refuse_key(json, error, key,
                              "curriculum, or sampler_type before sampler_parameters");
        Lesson* const lesson = add_lesson(error);
        return lesson != nullptr && read_sampler(json, *lesson, error, true);
    }
    if (!json.begin_array()) return false;
    while (json.next_element())
        if (!read_lesson(json, parameter, error)) return false;
    if (json.failed()) return false;
    if (lesson_count_ == parameter.first_lesson)
        return refuse(json, error, parameter.name.c_str(), "at least one lesson");
    if (!json.next_key(key)) return !json.failed();
    return refuse_key(json, error, key, "curriculum alone");
}

bool Curriculum::read_lesson(JsonCursor& json, const Parameter& parameter, SpecText& error) {
    Lesson* const lesson = add_lesson(error);
    if (lesson == nullptr || !json.begin_object()) return false;
    bool has_value = false, is_read = true;
    std::string_view key;
    while (is_read && json.next_key(key)) {
        if (key == "name") {
            is_read = read_name(json, error, "name", lesson->name);
        } else if (key == "value") {
            has_value = true;
            is_read = read_value(json, *lesson, error);
        } else if (key == "completion_criteria") {
            lesson->has_criteria = true;
            is_read = read_criteria(json, *lesson, error);
        } else {
            is_read = refuse_key(json, error, key, "name, value or completion_criteria");
        }
    }
    if (!is_read || json.failed()) return false;
    if (lesson->name.empty() || !has_value)
        return refuse(json, error, parameter.name.c_str(), "a name and a value in each lesson");
    return true;
}

bool Curriculum::read_value(JsonCursor& json, Lesson& lesson, SpecText& error) {
    if (json.peek() != '{') return json.number(lesson.a);
    return json.begin_object() && read_sampler(json, lesson, error, false);
}

/// is_begun: the key sampler_type was read.
bool Curriculum::read_sampler(JsonCursor& json, Lesson& lesson, SpecText& error, bool is_begun) {
    std::string_view key, type;
    if (!is_begun && (!json.next_key(key) || key != "sampler_type"))
        return refuse(json, error, "value", "a number, or sampler_type before sampler_parameters");
    if (!json.text(type)) return false;
    const bool is_uniform = type == "uniform";
    if (!is_uniform && type != "gaussian")
        return refuse(json, error, "sampler_type", "uniform or gaussian");
    lesson.sampler = is_uniform ? Sampler::kUniform : Sampler::kGaussian;
    if (!json.next_key(key) || key != "sampler_parameters")
        return refuse(json, error, "sampler_parameters", "this key after sampler_type");
    const char* const names[] = {is_uniform ? "min_value" : "mean",
                                 is_uniform ? "max_value" : "st_dev"};
    const char* const known = is_uniform ? "min_value and max_value" : "mean and st_dev";
    bool is_given[2] = {};
    if (!json.begin_object()) return false;
    while (json.next_key(key)) {
        const int at = key == names[0] ? 0 : key == names[1] ? 1 : -1;
        if (at < 0) return refuse_key(json, error, key, known);
        is_given[at] = true;
        if (!json.number(at == 0 ? lesson.a : lesson.b)) return false;
    }
    if (json.failed()) return false;
    if (!is_given[0] || !is_given[1]) return refuse(json, error, "sampler_parameters", known);
    if (is_uniform ? lesson.b < lesson.a : lesson.b < 0)
        return refuse(json, error, "sampler_parameters",
                      is_uniform ? "a max_value of at least min_value" : "a st_dev of 0 or more");
    if (json.next_key(key))
        return refuse_key(json, error, key, "sampler_type and sampler_parameters alone");
    return !json.failed();
}

bool Curriculum::read_criteria(JsonCursor& json, Lesson& lesson, SpecText& error) {
    if (!json.begin_object()) return false;
    bool has_threshold = false, is_read = true;
    std::string_view key;
    Name ignored;
    while (is_read && json.next_key(key)) {
        if (key == "measure") {
            is_read = read_name(json, error, "measure", lesson.metric);
            const std::string_view measure = lesson.metric.c_str();
            lesson.measure = measure == "reward"     ? Measure::kReward
                             : measure == "progress" ? Measure::kProgress
                                                     : Measure::kMetric;
        } else if (key == "threshold") {
            has_threshold = true;
            is_read = json.number(lesson.threshold);
        } else if (key == "min_lesson_length") {
            double length = 0;
            is_read = read_count(json, error, "min_lesson_length",
                                 "a whole number of episodes up to 4096", kMostEpisodes, length);
            lesson.min_lesson_length = is_read ? static_cast<uint32_t>(length) : 0;
        } else if (key == "signal_smoothing") {
            is_read = json.boolean(lesson.signal_smoothing);
        } else if (key == "behavior") {
            is_read = read_name(json, error, "behavior", ignored);  // agents have one
        } else {
            is_read = refuse_key(json, error, key,
                                 "measure, threshold, min_lesson_length, signal_smoothing or "
                                 "behavior");
        }
    }
    if (!is_read || json.failed()) return false;
    return has_threshold || refuse(json, error, "completion_criteria", "a threshold");
}

/// Every lesson but the last of a parameter can end, and progress has a length.
bool Curriculum::check(SpecText& error) const {
    return std::ranges::all_of(parameters(), [&](const Parameter& p) {
        for (uint32_t i = 0; i < p.lesson_count; ++i) {
            const Lesson& lesson = lessons_[p.first_lesson + i];
            const bool is_last = i + 1 == p.lesson_count;
            const bool needs_steps = lesson.has_criteria && lesson.measure == Measure::kProgress;
            if ((is_last || lesson.has_criteria) && (!needs_steps || max_steps_ > 0)) continue;
            error.set("%s: '%s', lesson '%s': expected %s", kTitle, p.name.c_str(),
                      lesson.name.c_str(),
                      needs_steps ? "max_steps above 0, which progress is a fraction of"
                                  : "completion_criteria, because another lesson follows");
            return false;
        }
        return true;
    });
}

// --- Parameters ---

uint32_t Curriculum::find(std::string_view name) const {
    for (uint32_t i = 0; i < size(); ++i)
        if (parameters_[i].name.c_str() == name) return i;
    return UINT32_MAX;
}

double Curriculum::draw(uint32_t parameter) {
    Parameter& p = parameters_[parameter];
    const Lesson& lesson = lesson_of(p);
    if (lesson.sampler == Sampler::kConstant) return lesson.a;
    const uint64_t key = stream_key(p.name.c_str(), seed_);
    const uint32_t step = p.progress.draws++;
    const double first = uniform_from_bits(philox_bits(key, step, 0));
    if (lesson.sampler == Sampler::kUniform) return lesson.a + (lesson.b - lesson.a) * first;
    // Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    const double second = uniform_from_bits(philox_bits(key, step, 1));
    return lesson.a +
           lesson.b * std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second);
}

hearth_agents_lesson Curriculum::lesson(uint32_t parameter) const {
    const Parameter& p = parameters_[parameter];
    const Lesson& lesson = lesson_of(p);
    return {p.name.c_str(),      lesson.name.c_str(),      p.progress.lesson,   p.lesson_count,
            p.progress.episodes, lesson.min_lesson_length, p.progress.smoothed, lesson.threshold};
}

// --- Signals ---

void Curriculum::begin_episode(uint32_t agent) {
    if (agent < returns_.size()) returns_[agent] = 0;
}

void Curriculum::add_reward(uint32_t agent, float amount) {
    if (agent < returns_.size()) returns_[agent] += static_cast<double>(amount);
}

void Curriculum::end_episode(uint32_t agent) {
    if (agent >= returns_.size()) return;
    const double value = std::exchange(returns_[agent], 0);
    for (Parameter& p : parameters()) {
        const Lesson& lesson = lesson_of(p);
        if (!lesson.has_criteria) continue;
        if (lesson.measure == Measure::kReward) add_signal(p, value);
        if (lesson.measure != Measure::kProgress) continue;
        ++p.progress.episodes;
        count_steps(0);
    }
}

void Curriculum::add_metric(std::string_view metric, double value) {
    for (Parameter& p : parameters()) {
        const Lesson& lesson = lesson_of(p);
        if (lesson.has_criteria && lesson.measure == Measure::kMetric &&
            lesson.metric.c_str() == metric)
            add_signal(p, value);
    }
}

void Curriculum::count_steps(uint32_t transitions) {
    steps_ += transitions;
    for (Parameter& p : parameters()) {
        const Lesson& lesson = lesson_of(p);
        if (!lesson.has_criteria || lesson.measure != Measure::kProgress) continue;
        p.progress.smoothed = static_cast<double>(steps_) / max_steps_;
        if (p.progress.episodes >= lesson.min_lesson_length) advance(p, p.progress.smoothed);
    }
}

/// The mean of the newest min_lesson_length signals decides, smoothed as in ML-Agents, except that
/// smoothing begins with the first mean and not with 0.
void Curriculum::add_signal(Parameter& p, double value) {
    const Lesson& lesson = lesson_of(p);
    const uint32_t length = std::max(lesson.min_lesson_length, 1u);
    Progress& progress = p.progress;
    signals_[p.first_signal + progress.episodes % length] =
        static_cast<float>(std::clamp(value, -kFarthest, kFarthest));
    const bool is_first = ++progress.episodes == length;
    if (progress.episodes < length) return;
    double mean = 0;
    for (uint32_t i = 0; i < length; ++i)
        mean += static_cast<double>(signals_[p.first_signal + i]) / length;
    progress.smoothed =
        lesson.signal_smoothing && !is_first ? 0.25 * progress.smoothed + 0.75 * mean : mean;
    // The ring begins anew before its position overflows.
    if (progress.episodes == UINT32_MAX) progress.episodes = length;
    advance(p, progress.smoothed);
}

void Curriculum::advance(Parameter& p, double signal) {
    if (!(signal > lesson_of(p).threshold) || p.progress.lesson + 1 == p.lesson_count) return;
    p.progress = {.lesson = p.progress.lesson + 1, .draws = p.progress.draws};
}

void Curriculum::restart() {
    for (Parameter& p : parameters()) p.progress = {};
    for (double& value : returns_) value = 0;
    steps_ = 0;
}

void Curriculum::archive(Archive& archive) {
    if (size() == 0) return;
    uint64_t hash = hash_;
    archive(hash, steps_);
    archive.array(signals_);
    archive.array(returns_);
    bool is_sound = hash == hash_;
    for (Parameter& p : parameters()) {
        archive(p.progress.lesson, p.progress.episodes, p.progress.draws, p.progress.smoothed);
        is_sound = is_sound && p.progress.lesson < p.lesson_count &&
                   std::isfinite(p.progress.smoothed) && p.progress.episodes < UINT32_MAX;
    }
    const auto is_finite = [](auto value) { return std::isfinite(value); };
    if (!is_sound || !std::ranges::all_of(signals_, is_finite) ||
        !std::ranges::all_of(returns_, is_finite))
        restart();
}

}  // namespace hearth::agents
