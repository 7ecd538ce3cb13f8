// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The tool as a function: parses the command line and runs one subcommand.

#include "run_tool.hpp"

#include "commands.hpp"
#include "companion.hpp"
#include "runner.hpp"
#include "tables.hpp"

#include <hearth/hearth.h>

#include <programs/command_line.hpp>
#include <programs/streams.hpp>

#include <string_view>

namespace hearth::tool {

namespace {

/// The value of --device, if given.
std::string_view device_in(int argc, char** argv) {
    constexpr std::string_view kOption = "--device";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == kOption && i + 1 < argc) return argv[i + 1];
        if (word.starts_with(kOption) && word.size() > kOption.size() + 1 &&
            word[kOption.size()] == '=')
            return word.substr(kOption.size() + 1);
    }
    return {};
}

int parse_and_run(int argc, char** argv) {
    // LibTorch is linked only into a separate program.
    if (device_in(argc, argv) == "libtorch" && make_registered_executor("libtorch") == nullptr)
        return start_companion("hearth_libtorch", argc, argv,
                               "switch HEARTH_WITH_LIBTORCH, by ./dev libtorch");
    CLI::App app("Hearth's command-line tool", "hearth");
    app.require_subcommand(1);
    app.set_version_flag("--version", hearth_build_info());
    app.allow_windows_style_options(false);  // "/x" is a path on all systems
    int exit_code = 0;
    add_new(app, exit_code);
    add_info(app, exit_code);
    add_inspect(app, exit_code);
    add_verify(app, exit_code);
    add_cook(app, exit_code);
    add_run(app, exit_code);
    add_bench(app, exit_code);
    add_replay(app, exit_code);
    add_diff(app, exit_code);
    add_export(app, exit_code);
    add_brain(app, exit_code);
    add_tune(app, exit_code);
    add_watch(app, exit_code);
    add_demo(app, exit_code);
    add_doctor(app, exit_code);
    add_train(app, exit_code);
    add_evaluate(app, exit_code);
    add_league(app, exit_code);
    add_gates(app, exit_code);
    CLI11_PARSE(app, argc, argv);
    return exit_code;
}

}  // namespace

int run_tool(int argc, char** argv) {
    return programs::run_program("hearth", [&] {
        programs::CommandLine line(argc, argv);
        return parse_and_run(line.argc(), line.argv());
    });
}

}  // namespace hearth::tool
