// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Entry point of the `hearth` tool.

#include "run_tool.hpp"

int main(int argc, char** argv) {
    return hearth::tool::run_tool(argc, argv);
}
