// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The subcommands of `hearth`, one file each.

#pragma once

#include <CLI/CLI.hpp>

namespace hearth::tool {

/// Each function adds its subcommand; parsing that subcommand runs it and sets the exit code.
void add_bench(CLI::App& app, int& exit_code);
void add_brain(CLI::App& app, int& exit_code);
void add_cook(CLI::App& app, int& exit_code);
void add_demo(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_evaluate(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_gates(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_league(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_watch(CLI::App& app, int& exit_code);

}  // namespace hearth::tool
