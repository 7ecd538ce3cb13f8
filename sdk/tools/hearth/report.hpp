// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What `hearth verify` says of the cases it ran.

#pragma once

#include <hearth/status.hpp>

#include <string>
#include <vector>

namespace hearth::tool {

/// What became of one case on one device.
struct Outcome {
    enum class Kind { kPassed, kFailed, kSkipped };
    Kind kind = Kind::kPassed;
    std::string text;
};

Outcome failed(std::string text);
Outcome skipped(std::string text);
/// A gap of Hearth's is a skip, everything else a failure.
Outcome from_error(const Status& status);

/// The device is empty for what came of a case before it reached any.
struct DeviceOutcome {
    std::string device;
    Outcome outcome;
};

struct ReportOptions {
    bool json = false;         ///< nothing but one JSON object, at the end
    bool list_passed = false;  ///< name the cases that pass, too
};

/// Prints outcomes as they come, and a summary.  A case that failed on one device has failed; else
/// one that was skipped on one is skipped.
class Report {
  public:
    explicit Report(const ReportOptions& options) : options_(options) {}

    void count(const std::string& label, const std::vector<DeviceOutcome>& outcomes);
    /// Prints the summary; whether nothing failed.
    bool finish() const;

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
