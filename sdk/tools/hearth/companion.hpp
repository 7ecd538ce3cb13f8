// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Subcommands that are programs of their own, which lie beside this one: they carry tasks to be learned, which are
// no part of the tool.

#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace hearth::tool {

/// A subcommand whose arguments are all for `program`, behind `first` if that is not empty.
/// built_with: says in the message what builds the program, where it is missing.
void add_companion(CLI::App& app, int& exit_code, const std::string& name,
                   const std::string& description, const std::string& program,
                   const std::string& first, const std::string& built_with);

/// Has the program do what this one was asked for.  Returns only if it could not be started: the exit code, after
/// saying why.
int start_companion(const std::string& program, int argc, char** argv,
                    const std::string& built_with);

}  // namespace hearth::tool
