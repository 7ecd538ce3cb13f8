// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs cases in a process of their own, so that one that crashes or hangs costs itself alone.

#pragma once

#include "report.hpp"

#include <functional>

namespace hearth::tool {

/// Runs case `index`.
using RunCase = std::function<std::vector<DeviceOutcome>(size_t index)>;

struct IsolateOptions {
    double timeout_s = 0;  ///< for one case; 0: none
};

/// Runs cases 0..count-1 in order in a child process, which calls `start` once for what runs them
/// (so that devices are opened there).  Where the child dies or takes too long, that case has failed,
/// and a new child goes on with the next.  `done` is called here, once for each case, in order.
/// Windows: a child is this program started with the same words, so what comes before this call is done there, too.
void run_isolated(size_t count, const std::function<RunCase()>& start,
                  const std::function<void(size_t index, std::vector<DeviceOutcome>)>& done,
                  const IsolateOptions& options = {});

}  // namespace hearth::tool
