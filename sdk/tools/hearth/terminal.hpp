// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "run_log.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth::tool {

struct WatchOptions {
    std::vector<std::string> metrics = {};  ///< only these, in this order; empty: all
    bool has_details = false;               ///< also the metrics of researchers
    std::optional<double> bar = {};         ///< return to reach
};

/// Shows the logs on this terminal and follows them as they grow, until the user quits.
/// Returns the exit code: 0, or 128 plus the number of the signal that ended it.  The terminal is
/// restored in either case.
/// Errors: a terminal unknown to ncurses (variable TERM), no ncurses at all (Windows), or files
/// that are not logs.
Result<int> watch_in_terminal(std::span<RunLogFile> files, const WatchOptions& options);

}  // namespace hearth::tool
