// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth gates: starts hearth_gates, which lies beside this program: it carries tasks to be learned, which
// are no part of the tool.

#include "commands.hpp"
#include "tables.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace hearth::tool {
namespace {

/// Returns only if it could not be started.
Status become_gates(const std::vector<std::string>& arguments) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string program = (self.parent_path() / "hearth_gates").string();
    std::vector<char*> words = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    return not_found(fmt::format("cannot start '{}': {} (it is built with the tests)", program,
                                 std::strerror(errno)));
}

}  // namespace

void add_gates(CLI::App& app, int& exit_code) {
    CLI::App* command = app.add_subcommand(
        "gates", "Run learning gates (docs/gates.md); `gates --help` tells the options.");
    // All that follows is for that program.
    command->prefix_command();
    command->set_help_flag();
    command->callback([command, &exit_code] {
        print_error("gates", become_gates(command->remaining()), false);
        exit_code = kExitFailed;
    });
}

}  // namespace hearth::tool
