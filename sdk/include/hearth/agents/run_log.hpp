// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lines of run logs (run_log.hpp) with the metrics of agents.  Header-only; needs no compiler library.
//
//     std::fputs(run_log_begin("my_game", "seconds").c_str(), log);
//     every few seconds: std::fputs(run_log_sample(agents, seconds).c_str(), log);

#pragma once

#include <hearth/agents.hpp>
#include <hearth/agents/schema.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/run_log.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::agents {

/// Keys of a sample whose objects have the shares of samples by name of the observation.
inline constexpr std::string_view kAtLimitKey = "at_limit", kUnresolvedKey = "unresolved";
/// Keys whose objects have, by name, the value of observations that never changed in
/// kLeastSamplesOfConstant samples, and the number of values that were not finite.
inline constexpr std::string_view kConstantKey = "constant", kNonFiniteKey = "non_finite";
inline constexpr uint64_t kLeastSamplesOfConstant = 2048;  ///< two rollouts of the defaults

namespace detail {

using hearth::detail::json_number, hearth::detail::json_text;

}  // namespace detail

using hearth::run_log_begin, hearth::run_log_event;

/// A float of the observation that was at a limit in a share of the samples.
struct ObservationAtLimit {
    std::string name;  ///< such as "enemies[2]/place.x"
    ObservationLimit limit = ObservationLimit::kClamped;
    double share = 0;  ///< of the samples, 0 to 1
};
/// Smaller shares are not reported.
inline constexpr double kLeastShareAtLimit = 0.01;

/// The observations that reach a limit in at least kLeastShareAtLimit of the samples.
/// words  the state agents.observation_limits after a readback
inline std::vector<ObservationAtLimit> observations_at_limit(const AgentSpec& schema,
                                                             std::span<const uint32_t> words) {
    std::vector<ObservationAtLimit> found;
    for_each_observation_limit(
        words, kLeastShareAtLimit, [&](size_t index, ObservationLimit limit, double share) {
            found.push_back({schema.observation_name(static_cast<int64_t>(index)), limit, share});
        });
    return found;
}
/// The same of agents, as of their last poll.
inline std::vector<ObservationAtLimit> observations_at_limit(const Agents& agents) {
    std::vector<ObservationAtLimit> found;
    for (uint32_t i = 0; i < agents.observation_size(); ++i) {
        const Agents::ObservationLimits shares = agents.observation_limits(i);
        for (const auto& [limit, share] : {std::pair(ObservationLimit::kClamped, shares.clamped),
                                           {ObservationLimit::kUnresolved, shares.unresolved}})
            if (static_cast<double>(share) >= kLeastShareAtLimit)
                found.push_back(
                    {std::string(agents.observation_name(i)), limit, static_cast<double>(share)});
    }
    return found;
}

/// Describes an observation: "place.x: 80 % of samples at the limit".
inline std::string observation_warning(const ObservationAtLimit& observation) {
    return observation.name + ": " + std::to_string(std::lround(100 * observation.share)) +
           " % of samples " +
           (observation.limit == ObservationLimit::kClamped
                ? "at the limit"
                : "too far away for an f32 to tell them apart; subtract an offset from the "
                  "observation");
}

namespace detail {

/// Formats those at one limit as an object of shares by name; "" if there are none.
inline std::string shares_at_limit(std::string_view key, ObservationLimit limit,
                                   std::span<const ObservationAtLimit> observations) {
    std::string object;
    for (const ObservationAtLimit& observation : observations)
        if (observation.limit == limit)
            object += (object.empty() ? "" : ",") + json_text(observation.name) + ":" +
                      json_number(observation.share);
    return object.empty() ? "" : "," + json_text(key) + ":{" + object + "}";
}

/// Formats a line without its end.  AnyStatus has operator[] for metrics and counters.
/// metrics  bit i: the learner has metric i
template <class AnyStatus>
std::string sample_line(const AnyStatus& status, double x,
                        std::span<const ObservationAtLimit> observations, uint32_t metrics = ~0u) {
    std::string line = "{\"type\":\"agents\",\"at\":" + json_number(x);
    const auto add = [&](std::string_view name, const std::string& number) {
        line += ",\"" + std::string(name) + "\":" + number;
    };
    for (size_t i = 0; i < kMetricCount; ++i)
        if ((metrics >> i & 1) != 0)
            add(kMetricNames[i],
                json_number(static_cast<double>(status[static_cast<AgentMetric>(i)])));
    for (size_t i = 0; i < kCounterCount; ++i)
        add(kCounterNames[i], std::to_string(status[static_cast<Counter>(i)]));
    return line + shares_at_limit(kAtLimitKey, ObservationLimit::kClamped, observations) +
           shares_at_limit(kUnresolvedKey, ObservationLimit::kUnresolved, observations);
}

/// Counts of the driver, by their names in hearth_agents_status.
inline std::vector<std::pair<std::string_view, double>> driver_counts(const AgentsStatus& status) {
    const auto count = [](uint64_t number) { return static_cast<double>(number); };
    return {{"rewards_rejected", count(status.rewards_rejected)},
            {"rewards_after_end", count(status.rewards_after_end)},
            {"repeated_ends", count(status.repeated_ends)},
            {"frames_without_update", count(status.frames_without_update)},
            {"samples_paused", count(status.samples_paused)},
            {"rollbacks", count(status.rollbacks)}};
}

/// Objects of what is odd about single observations; "" if nothing is.
inline std::string odd_observations(const Agents& agents) {
    std::string constant, non_finite;
    const AgentsStatus status = agents.status();
    const bool has_samples =
        status[Counter::kSamples] + status[Counter::kSamplesDropped] >= kLeastSamplesOfConstant;
    const auto add = [&](std::string& object, uint32_t index, double value) {
        object += (object.empty() ? "" : ",") + json_text(agents.observation_name(index)) + ":" +
                  json_number(value);
    };
    for (uint32_t i = 0; i < agents.observation_size(); ++i) {
        const Agents::ObservationRange range = agents.observation_range(i);
        if (has_samples && range.is_constant()) add(constant, i, static_cast<double>(range.low));
        if (range.non_finite_count > 0)
            add(non_finite, i, static_cast<double>(range.non_finite_count));
    }
    std::string objects;
    for (const auto& [key, object] :
         {std::pair(kConstantKey, constant), {kNonFiniteKey, non_finite}})
        if (!object.empty()) objects += "," + json_text(key) + ":{" + object + "}";
    return objects;
}

/// Means of the game's own metrics as an object; "" if none has a value.
inline std::string custom_metrics(const Agents& agents) {
    std::string object;
    for (const hearth_agents_custom_metric& metric : agents.custom_metrics())
        if (metric.count > 0)
            object += (object.empty() ? "" : ",") + json_text(metric.name) + ":" +
                      json_number(metric.mean);
    return object.empty() ? "" : ",\"game\":{" + object + "}";
}

/// Numbers of the lessons, by parameter, from 0; "" without a curriculum.
inline std::string lesson_numbers(const Agents& agents) {
    std::string object;
    for (const hearth_agents_lesson& lesson : agents.lessons())
        object += (object.empty() ? "" : ",") + json_text(lesson.parameter) + ":" +
                  std::to_string(lesson.index);
    return object.empty() ? "" : ",\"lesson\":{" + object + "}";
}

inline std::string driver_line(const AgentsStatus& status, double x,
                               std::span<const ObservationAtLimit> observations,
                               const std::string& more) {
    std::string line = sample_line(status, x, observations, status.metrics_available) +
                       ",\"minibatch_us_p95\":" + json_number(status.minibatch_us_p95);
    for (const auto& [name, value] : driver_counts(status))
        line += ",\"" + std::string(name) + "\":" + json_number(value);
    return line + more + "}\n";
}

}  // namespace detail

/// Returns a line with all metrics and counters at position `x`, which must not decrease.
/// observations  those at their limits: observations_at_limit()
inline std::string run_log_sample(const AgentsStatus& status, double x,
                                  std::span<const ObservationAtLimit> observations = {}) {
    return detail::driver_line(status, x, observations, "");
}
/// Returns a line with all metrics and counters, observations at their limits, that never change or
/// are not finite, the means of the game's own metrics, which begin their next period, and the
/// lessons of a curriculum.
inline std::string run_log_sample(Agents& agents, double x) {
    std::string line =
        detail::driver_line(agents.status(), x, observations_at_limit(agents),
                            detail::odd_observations(agents) + detail::custom_metrics(agents) +
                                detail::lesson_numbers(agents));
    agents.restart_custom_metrics();
    return line;
}
/// As above from the state agents.status, for programs that record entries without the driver.
inline std::string run_log_sample(const StatusView& status, double x,
                                  std::span<const ObservationAtLimit> observations = {}) {
    return detail::sample_line(status, x, observations) + "}\n";
}

}  // namespace hearth::agents
