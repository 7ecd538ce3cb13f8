// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the `hearth` program, which lies beside the test's own.

#pragma once

#include <programs/command_line.hpp>

#if !defined(_WIN32)
#include <sys/wait.h>
#endif

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

namespace hearth::testing {

// Under Wine there is no compiler, which --device cpu needs, and a process takes long to start.
#if defined(_WIN32)
constexpr bool kIsWindows = true;
#else
constexpr bool kIsWindows = false;
#endif

inline std::filesystem::path program() {
    const std::filesystem::path self = programs::this_program();
    return self.parent_path() / ("hearth" + self.extension().string());
}

struct Ran {
    int exit_code = -1;
    std::string text;

    bool says(const std::string& part) const { return text.find(part) != std::string::npos; }
};

/// Runs `hearth ARGUMENTS`, with what it prints to both streams.
/// environment   goes before the command: variables, or a program that starts it.  Not on Windows.
/// redirections  go behind it.
inline Ran run(const std::string& arguments, const std::string& environment = "",
               const std::string& redirections = " 2>&1") {
    Ran ran;
    std::string command = environment + " '" + program().string() + "' " + arguments + redirections;
#if defined(_WIN32)
    // Its shell has other quotes and takes the outermost off, and calls /dev/null by another name.
    if (!environment.empty()) return ran;
    std::ranges::replace(command, '\'', '"');
    const std::string null = "/dev/null";
    if (const size_t at = command.find(null); at != command.npos)
        command.replace(at, null.size(), "nul");
    FILE* pipe = _popen(('"' + command + '"').c_str(), "rb");
#else
    FILE* pipe = popen(command.c_str(), "r");
#endif
    if (pipe == nullptr) return ran;
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) ran.text.append(buffer, n);
#if defined(_WIN32)
    ran.exit_code = _pclose(pipe);
#else
    const int status = pclose(pipe);
    // A signal is no exit: -1 fails every expectation.
    if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
#endif
    return ran;
}

}  // namespace hearth::testing
