// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Run logs: JSON lines that a program appends to a file while something learns, read by `hearth
// watch` (docs/reference/run_log.md), which can also ask the program to stop.  Header-only; agents
// have lines of their own (agents/run_log.hpp).

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/core/os_file.hpp>
#include <hearth/core/span.hpp>
#include <hearth/file.hpp>
#include <hearth/status.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

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

/// Requests of `hearth watch` (--control) to the program that writes a run log.
enum class RunRequest : uint32_t {
    kStop,    ///< end the run; once
    kPause,   ///< stand still until it is withdrawn
    kFreeze,  ///< go on without learning until it is withdrawn
};
inline constexpr std::array<std::string_view, 3> kRunRequestNames = {"stop", "pause", "freeze"};
inline constexpr std::array<RunRequest, 3> kAllRunRequests = {RunRequest::kStop, RunRequest::kPause,
                                                              RunRequest::kFreeze};

/// Returns the first line of a run.
/// x        unit of the horizontal axis: "seconds", "frames", "steps"
/// listens  the requests that the program looks for
inline std::string run_log_begin(std::string_view program, std::string_view x,
                                 span<const RunRequest> listens = {}) {
    std::string names;
    for (const RunRequest request : listens)
        names += (names.empty() ? "" : ",") +
                 detail::json_text(kRunRequestNames[static_cast<size_t>(request)]);
    return "{\"type\":\"run\",\"program\":" + detail::json_text(program) +
           ",\"at\":" + detail::json_text(x) +
           (names.empty() ? "" : ",\"listens\":[" + names + "]") + "}\n";
}

/// Returns a line that marks an event, such as something the player or the game did.
inline std::string run_log_event(double x, std::string_view text) {
    return "{\"type\":\"event\",\"at\":" + detail::json_number(x) +
           ",\"text\":" + detail::json_text(text) + "}\n";
}

/// The file beside a run log whose existence is the request: LOG.stop, LOG.pause, LOG.freeze.
inline std::string run_request_file(const std::string& log, RunRequest request) {
    return log + "." + std::string(kRunRequestNames[static_cast<size_t>(request)]);
}

/// Makes a request to the program that writes this log, or withdraws it; the program follows when
/// it next looks.
/// Errors: kNotFound if there is no such log; those of write_file_atomically().
inline Status request_run(const std::string& log, RunRequest request, bool is_wanted = true) {
    os::FileInfo info;
    if (!os::query_file(log, &info)) return detail::file_error("look at", log);
    if (info.kind == os::FileKind::kNothing)
        return not_found("there is no run log '" + log + "'; give the file that a run writes");
    const std::string file = run_request_file(log, request);
    if (is_wanted) return write_file_atomically(file, std::string_view());
    if (!os::query_file(file, &info)) return detail::file_error("look at", file);
    if (info.kind != os::FileKind::kNothing && !os::remove_file(file))
        return detail::file_error("remove", file);
    return {};
}

/// True while there is such a request.
inline bool has_run_request(const std::string& log, RunRequest request) {
    os::FileInfo info;
    return os::query_file(run_request_file(log, request), &info) &&
           info.kind != os::FileKind::kNothing;
}

/// For the program: true if it was asked to stop since the last call, which takes the request.
inline bool take_stop_request(const std::string& log) {
    return has_run_request(log, RunRequest::kStop) &&
           os::remove_file(run_request_file(log, RunRequest::kStop));
}

/// The requests to a program.
struct RunControl {
    bool stop = false, pause = false, freeze = false;
};

/// A run log that this program alone writes: whole lines, each call's at once, so that a reader or a
/// kill never finds two lines mixed.
///
///     HEARTH_ASSIGN(RunLogWriter log, RunLogWriter::open("run.jsonl"));
///     HEARTH_TRY(log.write(run_log_begin("my_game", "frames", kAllRunRequests)));
///     each frame: if (log.control().stop) break;
///
/// Threads: one at a time.
class RunLogWriter {
  public:
    enum class Mode { kReplace, kAppend };

    RunLogWriter() = default;  ///< writes nothing
    /// Opens or creates a log, locks it until the writer is destroyed, and withdraws the requests to
    /// an earlier run.  Devices such as /dev/null are not locked.
    /// Errors: kInvalidArgument if another program, or another writer of this one, writes this log;
    /// kNotFound with the system's message.
    static Result<RunLogWriter> open(const std::string& path, Mode mode = Mode::kReplace) {
        RunLogWriter log;
        bool is_held = false;
        if (!log.file_.open_to_append(path, &is_held)) {
            if (!is_held) return detail::file_error("write the run log", path);
            return invalid_argument("another program is writing the run log '" + path +
                                    "'; give each run a log of its own");
        }
        if (mode == Mode::kReplace && !log.file_.clear()) return detail::file_error("empty", path);
        log.path_ = path;
        for (uint32_t i = 0; i < kRunRequestNames.size(); ++i)
            if (has_run_request(path, static_cast<RunRequest>(i)))
                (void)os::remove_file(run_request_file(path, static_cast<RunRequest>(i)));
        return log;
    }
    /// lines: each with its end
    Status write(std::string_view lines) {
        if (path_.empty() || file_.write_all(as_bytes(span(lines)))) return {};
        return detail::file_error("append to", path_);
    }
    /// What `hearth watch` asks for; the file system is asked at most ten times a second.
    RunControl control() {
        constexpr std::chrono::milliseconds kInterval(100);
        const auto now = std::chrono::steady_clock::now();
        control_.stop = false;
        if (path_.empty() || now - looked_ < kInterval) return control_;
        looked_ = now;
        control_ = {take_stop_request(path_), has_run_request(path_, RunRequest::kPause),
                    has_run_request(path_, RunRequest::kFreeze)};
        return control_;
    }
    /// For programs without frames: waits while they are asked to pause.  Returns true if they are
    /// asked to stop.
    bool waits_or_stops() {
        while (true) {
            const RunControl asked = control();
            if (asked.stop || !asked.pause) return asked.stop;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }

  private:
    std::string path_;
    os::File file_;
    RunControl control_;
    std::chrono::steady_clock::time_point looked_{};
};

}  // namespace hearth
