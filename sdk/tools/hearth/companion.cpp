// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Starts the separate programs that implement some subcommands.

#include "companion.hpp"

#include "commands.hpp"
#include "tables.hpp"

#include <fmt/format.h>
#include <programs/command_line.hpp>

#include <filesystem>
#include <vector>

namespace hearth::tool {
namespace {

/// Replaces this process by the program.  Returns only if that fails.
Status become(const std::string& name, const std::vector<std::string>& arguments,
              const std::string& built_with) {
    const std::filesystem::path self = programs::this_program();
    std::filesystem::path program = self.parent_path() / name;
    program.replace_extension(self.extension());
    const std::string reason = programs::become(program, arguments);
    return not_found(fmt::format("cannot start '{}': {} (it is built with the {})",
                                 program.string(), reason, built_with));
}

}  // namespace

void add_companion(CLI::App& app, int& exit_code, const std::string& name,
                   const std::string& description, const std::string& program,
                   const std::string& first, const std::string& built_with) {
    CLI::App* command = app.add_subcommand(name, description);
    // All further arguments belong to that program.
    command->prefix_command();
    command->set_help_flag();
    command->callback([=, &exit_code] {
        std::vector<std::string> arguments = command->remaining();
        if (!first.empty()) arguments.insert(arguments.begin(), first);
        print_error(name.c_str(), become(program, arguments, built_with), false);
        exit_code = kExitFailed;
    });
}

int start_companion(const std::string& program, int argc, char** argv,
                    const std::string& built_with) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    print_error(argc > 1 ? argv[1] : "", become(program, arguments, built_with), false);
    return kExitFailed;
}

}  // namespace hearth::tool
