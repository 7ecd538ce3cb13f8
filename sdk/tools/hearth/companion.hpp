// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Subcommands that are separate programs next to this one: they contain training tasks, which are
// not part of the tool.

#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace hearth::tool {

/// Adds a subcommand that passes all of its arguments to `program`, after `first` if that is not
/// empty.
/// built_with: names what builds the program, for the error message if it is missing.
void add_companion(CLI::App& app, int& exit_code, const std::string& name,
                   const std::string& description, const std::string& program,
                   const std::string& first, const std::string& built_with);

/// Passes this program's arguments to another program.  Returns only if that cannot be started: the
/// exit code, after printing an error.
int start_companion(const std::string& program, int argc, char** argv,
                    const std::string& built_with);

}  // namespace hearth::tool
