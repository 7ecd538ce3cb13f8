// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The result table of the experiments.

#pragma once

#include "gpu.hpp"

#include <string>
#include <vector>

namespace hearth::experiments {

/// One line of the result table.
struct ResultRow {
    std::string name;     // experiment and batch, e.g. train_b256
    std::string variant;  // implementation variant
    int dispatches = 0;   // per repetition
    int barriers = 0;     // per repetition
    Timing timing;        // per repetition
    double first_ms = 0;  // time to create pipelines and run the first time
    double gflop_per_s = 0;
    double gb_per_s = 0;
    bool is_correct = false;
    std::string check;  // description of the check, and the error found
};

/// Collects rows, prints them as they are added, and writes them as JSON.
class Report {
  public:
    /// Keeps rows whose "name/variant" contains one of the comma-separated words (all if empty).
    Report(const Gpu& gpu, const std::string& filter);

    bool wants(const std::string& name, const std::string& variant) const;
    void add(ResultRow row);
    bool is_all_correct() const;
    /// Returns false if the file cannot be written.
    bool write_json(const std::string& path) const;

  private:
    const Gpu& gpu_;
    std::vector<std::string> words_;
    std::vector<ResultRow> rows_;
};

}  // namespace hearth::experiments
