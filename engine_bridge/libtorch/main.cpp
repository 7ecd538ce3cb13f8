// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The command-line tool with an additional --device.

#include "libtorch/libtorch_executor.hpp"

#include <tools/hearth/run_tool.hpp>

int main(int argc, char** argv) {
    if (!hearth::register_executor("libtorch", hearth::make_libtorch_executor).ok()) return 1;
    return hearth::tool::run_tool(argc, argv);
}
