// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Run logs: JSON lines that a program appends to a file while its agents learn, read by `hearth
// watch` and other tools.  docs/reference/run_log.md describes the format.  Header-only; needs no
// compiler library.
//
//     std::fputs(run_log_begin("my_game", "seconds").c_str(), log);
//     every few seconds: std::fputs(run_log_sample(agents.status(), seconds).c_str(), log);

#pragma once

#include <hearth/agents.hpp>
#include <hearth/agents/schema.hpp>
#include <hearth/core/cpp20.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

namespace detail {

/// Quotes a JSON string.  Characters beyond ASCII must be UTF-8.
inline std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) {
            out += c;
            continue;
        }
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        out += code;
    }
    return out + '"';
}

/// Formats a JSON number; null if it is not finite.
inline std::string json_number(double value) {
    if (!(value - value == 0)) return "null";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    for (char& c : digits)
        if (c == ',') c = '.';  // decimal separator of some locales
    return digits;
}

}  // namespace detail

/// Returns the first line of a run.
/// x  unit of the horizontal axis: "seconds", "frames", "steps"
inline std::string run_log_begin(std::string_view program, std::string_view x) {
    return "{\"type\":\"run\",\"program\":" + detail::json_text(program) +
           ",\"at\":" + detail::json_text(x) + "}\n";
}

namespace detail {

/// Formats a line without its end.  AnyStatus has operator[] for metrics and counters.
template <class AnyStatus>
std::string sample_line(const AnyStatus& status, double x) {
    std::string line = "{\"type\":\"agents\",\"at\":" + json_number(x);
    const auto add = [&](std::string_view name, const std::string& number) {
        line += ",\"" + std::string(name) + "\":" + number;
    };
    for (size_t i = 0; i < kMetricCount; ++i)
        add(kMetricNames[i], json_number(static_cast<double>(status[static_cast<AgentMetric>(i)])));
    for (size_t i = 0; i < kCounterCount; ++i)
        add(kCounterNames[i], std::to_string(status[static_cast<Counter>(i)]));
    return line;
}

}  // namespace detail

/// Returns a line with all metrics and counters at position `x`, which must not decrease.
inline std::string run_log_sample(const AgentsStatus& status, double x) {
    return detail::sample_line(status, x) +
           ",\"minibatch_us_p95\":" + detail::json_number(status.minibatch_us_p95) + "}\n";
}
/// As above from the state agents.status, for programs that record entries without the driver.
inline std::string run_log_sample(const StatusView& status, double x) {
    return detail::sample_line(status, x) + "}\n";
}

/// Returns a line that marks an event, such as something the player or the game did.
inline std::string run_log_event(double x, std::string_view text) {
    return "{\"type\":\"event\",\"at\":" + detail::json_number(x) +
           ",\"text\":" + detail::json_text(text) + "}\n";
}

/// Names the observations that reach a limit in at least 1 % of the samples: "place.x: 80 % of
/// samples at the limit".  words: the state agents.observation_limits after a readback.
inline std::vector<std::string> observation_warnings(const AgentSpec& schema,
                                                     std::span<const uint32_t> words) {
    std::vector<std::string> warnings;
    for_each_observation_limit(
        words, 0.01, [&](size_t index, ObservationLimit limit, double share) {
            warnings.push_back(schema.observation_name(static_cast<int64_t>(index)) + ": " +
                               std::to_string(std::lround(100 * share)) + " % of samples " +
                               (limit == ObservationLimit::kClamped
                                    ? "at the limit"
                                    : "too far away for an f32 to tell them apart; subtract an "
                                      "offset from the observation"));
        });
    return warnings;
}

}  // namespace hearth::agents
