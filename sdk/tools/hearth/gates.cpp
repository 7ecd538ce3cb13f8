// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth gates: runs the learning gates, a separate program.

#include "commands.hpp"
#include "companion.hpp"

namespace hearth::tool {

void add_gates(CLI::App& app, int& exit_code) {
    add_companion(app, exit_code, "gates",
                  "Run learning gates (docs/reference/gates.md); `gates --help` tells the options.",
                  "hearth_gates", "", "tests");
}

}  // namespace hearth::tool
