// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The tool as a function: for `hearth`, and for programs that register executors of their own
// (hearth/executor.hpp).

#pragma once

namespace hearth::tool {

/// Returns the program's exit code.
int run_tool(int argc, char** argv);

}  // namespace hearth::tool
