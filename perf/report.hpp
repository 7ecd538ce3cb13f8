// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "bench.hpp"

#include <string>
#include <vector>

namespace hearth::perf {

/// Prints rows as they come, and writes them as JSON.
class Report {
  public:
    Report(const standalone::Device& device, const Roof& roof, const Settings& settings,
           const ClockGuard& clock);

    void add(Row row);
    /// Says which rows are marked: taken at a lower clock, or of two minds (Row::is_bimodal).
    void finish() const;
    /// Whether no row has failed.
    bool is_ok() const;
    /// Errors: those of write_file_atomically().
    Status write_json(const std::string& path) const;

  private:
    /// Why the row's figures say little: "low clock", "bimodal", both, or nothing.
    std::string mark_of(const Row& row) const;

    std::string device_, driver_, api_version_;
    Roof roof_;
    Settings settings_;
    const ClockGuard& clock_;
    std::vector<Row> rows_;
};

}  // namespace hearth::perf
