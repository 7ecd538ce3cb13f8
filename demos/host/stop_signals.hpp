// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Signals that request the end of a program: the demo's loop ends and saves its results.

#pragma once

namespace hearth::demo {

/// Records SIGINT, SIGTERM and SIGHUP during its lifetime; one more than half a second after the
/// first ends the program at once. Signals that are ignored (nohup, a shell's background) stay
/// ignored. Writing to a closed pipe becomes an error instead of a signal.
///
/// Threads: at most one instance, created before other threads.
class StopSignals {
  public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// The first signal received; 0: none.
    static int received();
    /// Returns "SIGINT" etc.
    static const char* name_of(int signal);
};

}  // namespace hearth::demo
