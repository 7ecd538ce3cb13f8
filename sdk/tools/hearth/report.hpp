// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Report of `hearth verify` over the cases it ran.

#pragma once

#include "tables.hpp"

#include <hearth/status.hpp>

#include <string>
#include <vector>

namespace hearth::tool {

/// Outcome of one case on one device.
struct Outcome {
    enum class Kind { kPassed, kFailed, kSkipped };
    Kind kind = Kind::kPassed;
    std::string text;
};

Outcome failed(std::string text);
Outcome skipped(std::string text);
/// kUnsupported is a skip, every other error a failure.
Outcome from_error(const Status& status);

/// `device` is empty for an outcome that was determined before any device ran.
struct DeviceOutcome {
    std::string device;
    Outcome outcome;
};

struct ReportOptions {
    bool json = false;         ///< print only one JSON object, at the end
    bool list_passed = false;  ///< also list the cases that pass
};

/// Prints outcomes as they arrive, and a summary.  A case fails if it failed on any device;
/// otherwise it is skipped if it was skipped on any.
class Report {
  public:
    explicit Report(const ReportOptions& options) : options_(options) {}

    void count(const std::string& label, const std::vector<DeviceOutcome>& outcomes);
    /// Prints the summary.  Returns kExitFailed if a case failed, kExitSkipped if all were skipped.
    ExitCode finish() const;

  private:
    struct Line {
        std::string label;
        std::vector<DeviceOutcome> outcomes;
        Outcome::Kind kind;
        std::string why_skipped;
    };
    int count_of(Outcome::Kind kind) const;
    void print_json() const;

    ReportOptions options_;
    std::vector<Line> lines_;
};

}  // namespace hearth::tool
