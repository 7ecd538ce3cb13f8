// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs cases in a separate process, so that a crash or hang fails only one case.

#pragma once

#include "report.hpp"

#include <functional>

namespace hearth::tool {

/// Runs case `index`.
using RunCase = std::function<std::vector<DeviceOutcome>(size_t index)>;

struct IsolateOptions {
    double timeout_s = 0;  ///< for one case; 0: none
};

/// Runs cases 0..count-1 in order in a child process, which calls `start` once to create the
/// RunCase (so that devices are opened in the child).  If the child dies or exceeds the timeout,
/// the current case fails and a new child continues with the next.  `done` is called in the parent,
/// once per case, in order.
/// Windows: the child is this program started with the same command line, so code before this call
/// runs in the child as well.
void run_isolated(size_t count, const std::function<RunCase()>& start,
                  const std::function<void(size_t index, std::vector<DeviceOutcome>)>& done,
                  const IsolateOptions& options = {});

}  // namespace hearth::tool
