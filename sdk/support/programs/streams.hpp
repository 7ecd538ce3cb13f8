// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reports failures to write to standard output (closed, full or gone). Output is binary, with UTF-8
// text, also on Windows: line ends are not changed.

#pragma once

#include <cstdio>
#include <exception>
#include <new>

#if defined(_WIN32)
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace hearth::programs {

/// Call first in main(): opens closed standard streams, because otherwise the first opened file
/// would take their place and receive the program's output.
inline void open_standard_streams() {
#if defined(_WIN32)
    (void)_setmode(1, _O_BINARY);
    (void)_setmode(2, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
#else
    for (int stream = 0; stream <= 2; ++stream) {
        if (fcntl(stream, F_GETFD) != -1) continue;
        // The opposite direction, so that reads and writes still fail.
        const int opened = open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
        if (opened != stream && opened >= 0) close(opened);
    }
#endif
}

/// True if a standard stream, 0 to 2, is a terminal.
inline bool is_terminal(int stream) {
#if defined(_WIN32)
    return _isatty(stream) != 0;
#else
    return isatty(stream) != 0;
#endif
}

/// Call last: returns true if all output was written; else reports it on standard error.
inline bool flush_standard_output(const char* program) {
    const bool had_error = std::ferror(stdout) != 0;
    if (std::fflush(stdout) == 0 && !had_error) return true;
    std::fprintf(stderr, "%s: cannot write to standard output\n", program);
    return false;
}

/// Runs a program's body. Exceptions and failed output print one message and return exit code 1.
template <class Body>
int run_program(const char* program, const Body& body) {
    open_standard_streams();
    int exit_code = 1;
    try {
        exit_code = body();
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: out of memory\n", program);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", program, e.what());
    }
    if (!flush_standard_output(program) && exit_code == 0) exit_code = 1;
    return exit_code;
}

}  // namespace hearth::programs
