// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "commands.hpp"

#include <programs/streams.hpp>

namespace {

int run(int argc, char** argv) {
    CLI::App app("Hearth's command-line tool", "hearth");
    app.require_subcommand(1);
    int exit_code = 0;
    hearth::tool::add_info(app, exit_code);
    hearth::tool::add_inspect(app, exit_code);
    hearth::tool::add_verify(app, exit_code);
    hearth::tool::add_cook(app, exit_code);
    hearth::tool::add_run(app, exit_code);
    hearth::tool::add_bench(app, exit_code);
    hearth::tool::add_replay(app, exit_code);
    hearth::tool::add_diff(app, exit_code);
    hearth::tool::add_brain(app, exit_code);
    hearth::tool::add_tune(app, exit_code);
    hearth::tool::add_watch(app, exit_code);
    hearth::tool::add_train(app, exit_code);
    hearth::tool::add_evaluate(app, exit_code);
    hearth::tool::add_league(app, exit_code);
    hearth::tool::add_gates(app, exit_code);
    CLI11_PARSE(app, argc, argv);
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth", [&] { return run(argc, argv); });
}
