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
    Report(const standalone::Device& device, const Roof& roof, const Settings& settings);

    void add(Row row);
    /// Whether no row has failed.
    bool is_ok() const;
    /// Returns false if the file cannot be written.
    bool write_json(const std::string& path) const;

  private:
    std::string device_, driver_, api_version_;
    Roof roof_;
    Settings settings_;
    std::vector<Row> rows_;
};

}  // namespace hearth::perf
