// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Signals that ask a program to end: the demo's loop ends instead, and saves what there is to save.

#pragma once

namespace hearth::demo {

/// While one of these lives, SIGINT, SIGTERM and SIGHUP are noted; one that comes more than half a second after the
/// first ends the program at once.  A signal that is ignored (nohup, a shell's background) stays so.  Writing to
/// a pipe that nobody reads is an error and no longer the end.
///
/// Threads: at most one at a time, made before other threads.
class StopSignals {
  public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// The first that came; 0: none has.
    static int received();
    /// "SIGINT" and so on.
    static const char* name_of(int signal);
};

}  // namespace hearth::demo
