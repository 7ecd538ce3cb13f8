// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints the outcomes of `hearth verify` as text or JSON.

#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace hearth::tool {

namespace {

using Kind = Outcome::Kind;

const char* word_for(Kind kind) {
    return kind == Kind::kPassed ? "passed" : kind == Kind::kFailed ? "failed" : "skipped";
}

std::string place(const std::string& label, const DeviceOutcome& o) {
    return o.device.empty() ? label : label + " [" + o.device + "]";
}

}  // namespace

Outcome failed(std::string text) {
    return {Kind::kFailed, std::move(text)};
}

Outcome skipped(std::string text) {
    return {Kind::kSkipped, std::move(text)};
}

Outcome from_error(const Status& status) {
    return status.code() == StatusCode::kUnsupported ? skipped(status.message())
                                                     : failed(status.message());
}

void Report::count(const std::string& label, const std::vector<DeviceOutcome>& outcomes) {
    Line line{label, outcomes, Kind::kPassed, ""};
    for (const DeviceOutcome& o : outcomes) {
        if (o.outcome.kind == Kind::kFailed) {
            if (!options_.json) print("FAIL {}: {}\n", place(label, o), o.outcome.text);
            line.kind = Kind::kFailed;
        } else if (o.outcome.kind == Kind::kSkipped && line.why_skipped.empty()) {
            line.why_skipped = place(label, o) + ": " + o.outcome.text;
        }
    }
    if (line.kind == Kind::kPassed && !line.why_skipped.empty()) line.kind = Kind::kSkipped;
    if (line.kind == Kind::kPassed && options_.list_passed && !options_.json)
        print("pass {}\n", label);
    std::fflush(stdout);
    lines_.push_back(std::move(line));
}

int Report::count_of(Kind kind) const {
    return static_cast<int>(std::count_if(lines_.begin(), lines_.end(),
                                          [kind](const Line& line) { return line.kind == kind; }));
}

ExitCode Report::finish() const {
    const int passes = count_of(Kind::kPassed), failures = count_of(Kind::kFailed),
              skips = count_of(Kind::kSkipped);
    const ExitCode exit_code = failures > 0 ? kExitFailed : passes == 0 ? kExitSkipped : kExitOk;
    if (options_.json) {
        print_json();
        return exit_code;
    }
    if (skips > 0) {
        print("skipped:\n");
        for (const Line& line : lines_)
            if (line.kind == Kind::kSkipped) print("  {}\n", line.why_skipped);
    }
    print("{} passed, {} failed, {} skipped\n", passes, failures, skips);
    if (exit_code == kExitSkipped) print("nothing was checked: all cases were skipped\n");
    return exit_code;
}

void Report::print_json() const {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    for (const Line& line : lines_) {
        nlohmann::ordered_json devices = nlohmann::ordered_json::array();
        for (const DeviceOutcome& o : line.outcomes)
            devices.push_back({{"device", o.device},
                               {"outcome", word_for(o.outcome.kind)},
                               {"text", o.outcome.text}});
        cases.push_back(
            {{"case", line.label}, {"outcome", word_for(line.kind)}, {"devices", devices}});
    }
    const nlohmann::ordered_json report = {{"passed", count_of(Kind::kPassed)},
                                           {"failed", count_of(Kind::kFailed)},
                                           {"skipped", count_of(Kind::kSkipped)},
                                           {"cases", cases}};
    // Paths and messages may not be valid UTF-8.
    print("{}\n", report.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace hearth::tool
