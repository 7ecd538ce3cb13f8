// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Run logs: JSON lines that a program appends to a file while something learns, read by `hearth
// watch` (docs/reference/run_log.md), which can also ask the program to stop.  Header-only; agents
// have lines of their own (agents/run_log.hpp).

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/file.hpp>
#include <hearth/status.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace hearth {

namespace detail {

/// Quotes a JSON string.  Characters beyond ASCII must be UTF-8.
inline std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) {
            out += c;
            continue;
        }
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        out += code;
    }
    return out + '"';
}

/// Formats a JSON number; null if it is not finite.
inline std::string json_number(double value) {
    if (!(value - value == 0)) return "null";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    for (char& c : digits)
        if (c == ',') c = '.';  // decimal separator of some locales
    return digits;
}

}  // namespace detail

/// Returns the first line of a run.
/// x  unit of the horizontal axis: "seconds", "frames", "steps"
inline std::string run_log_begin(std::string_view program, std::string_view x) {
    return "{\"type\":\"run\",\"program\":" + detail::json_text(program) +
           ",\"at\":" + detail::json_text(x) + "}\n";
}

/// Returns a line that marks an event, such as something the player or the game did.
inline std::string run_log_event(double x, std::string_view text) {
    return "{\"type\":\"event\",\"at\":" + detail::json_number(x) +
           ",\"text\":" + detail::json_text(text) + "}\n";
}

/// The file beside a run log whose existence asks its program to stop: LOG.stop.
inline std::string run_log_stop_file(const std::string& log) {
    return log + ".stop";
}

/// Asks the program that writes this log to stop when it next looks.
/// Errors: kNotFound if there is no such log; those of write_file_atomically().
inline Status request_stop(const std::string& log) {
    os::FileInfo info;
    if (!os::query_file(log, &info)) return detail::file_error("look at", log);
    if (info.kind == os::FileKind::kNothing)
        return not_found("there is no run log '" + log + "'; give the file that a run writes");
    return write_file_atomically(run_log_stop_file(log), std::string_view());
}

/// For the program: true if it was asked to stop since the last call, which takes the request.
inline bool take_stop_request(const std::string& log) {
    os::FileInfo info;
    const std::string file = run_log_stop_file(log);
    return os::query_file(file, &info) && info.kind != os::FileKind::kNothing &&
           os::remove_file(file);
}

}  // namespace hearth
