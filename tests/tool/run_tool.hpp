// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the `hearth` program, which lies beside the test's own.

#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace hearth::testing {

inline std::filesystem::path program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hearth";
}

struct Ran {
    int exit_code = -1;
    std::string text;

    bool says(const std::string& part) const { return text.find(part) != std::string::npos; }
};

/// Runs `hearth ARGUMENTS`, with what it prints to both streams.
/// environment   goes before the command: variables, or a program that starts it.
/// redirections  go behind it.
inline Ran run(const std::string& arguments, const std::string& environment = "",
               const std::string& redirections = " 2>&1") {
    Ran ran;
    const std::string command =
        environment + " '" + program().string() + "' " + arguments + redirections;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return ran;
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) ran.text.append(buffer, n);
    const int status = pclose(pipe);
    // A signal is no exit: -1 fails every expectation.
    if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
    return ran;
}

}  // namespace hearth::testing
