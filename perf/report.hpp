// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The benchmark's result table.

#pragma once

#include "bench.hpp"

#include <string>
#include <vector>

namespace hearth::perf {

/// Prints rows as they are added, and writes them as JSON.
class Report {
  public:
    Report(const standalone::Device& device, const Roof& roof, const Settings& settings,
           const ClockGuard& clock);

    void add(Row row);
    /// Lists the marked rows: taken at a lower clock, or bimodal (Row::is_bimodal).
    void finish() const;
    /// True if no row has failed.
    bool is_ok() const;
    /// Errors: those of write_file_atomically().
    Status write_json(const std::string& path) const;

  private:
    /// Reason why the row's figures are unreliable: "low clock", "bimodal", both, or nothing.
    std::string mark_of(const Row& row) const;

    std::string device_, driver_, api_version_;
    Roof roof_;
    Settings settings_;
    const ClockGuard& clock_;
    std::vector<Row> rows_;
};

}  // namespace hearth::perf
