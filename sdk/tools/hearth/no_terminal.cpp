// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Terminal output of `hearth watch` in builds without ncurses: returns an error.

#include "terminal.hpp"

namespace hearth::tool {

Result<int> watch_in_terminal(std::span<RunLogFile>, const WatchOptions&) {
    return unsupported(
        "there are no live curves on this system, which has no ncurses; expected --png FILE, "
        "--html FILE or --json");
}

}  // namespace hearth::tool
