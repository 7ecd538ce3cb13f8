// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Run logs, as docs/run_log.md describes them: JSON lines that a program appends to while it trains.

#pragma once

#include <hearth/core/os_file.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// A number of a metric, and where on the horizontal axis it stands.
struct Point {
    double at = 0, value = 0;
};

struct Metric {
    std::string name;  ///< keys of the line, joined by slashes: "player/seconds"
    std::vector<Point> points;
};

/// What happened at one moment: a mark in charts.
struct Event {
    double at = 0;
    std::string text;
};

/// A log as far as it was read; of a file with several runs the last.
class RunLog {
  public:
    static constexpr size_t kMostLineBytes = 1 << 20, kMostMetrics = 256, kMostEvents = 4096;
    /// Of a metric; beyond that, the points so far are thinned to half as many.
    static constexpr size_t kMostPoints = 1 << 18;

    /// What was read, and what was left out.
    struct Counts {
        uint64_t lines = 0;         ///< complete ones, without empty ones
        uint64_t samples = 0;       ///< that gave numbers to metrics
        uint64_t events = 0;        ///< marks
        uint64_t foreign = 0;       ///< no JSON object, or one without a place ("at")
        uint64_t out_of_order = 0;  ///< before the line that came before them
        uint64_t not_finite = 0;    ///< null where a metric has numbers
        uint64_t beyond = 0;        ///< numbers of metrics and events beyond the most there may be
        uint64_t runs = 0;          ///< lines that began one
    };

    /// The next bytes of the file, cut anywhere.
    void read(std::string_view bytes);
    /// Bytes of a last line without its end.
    size_t cut_bytes() const { return partial_.size(); }

    const std::string& program() const { return program_; }
    /// What the horizontal axis counts: "seconds".
    const std::string& unit() const { return unit_; }
    const Counts& counts() const { return counts_; }
    /// In the order in which they first appeared.
    const std::vector<Metric>& metrics() const { return metrics_; }
    const Metric* find(std::string_view name) const;
    const std::vector<Event>& events() const { return events_; }
    /// Whether the last line was an "end".
    bool has_ended() const { return has_ended_; }
    /// Where the last line stands.
    double last_at() const { return last_at_; }

  private:
    void read_line(std::string_view line);
    void begin_run();
    void add(const std::string& name, double at, double value);

    std::string partial_;
    bool skips_line_ = false;  // the line under way is too long
    std::string program_, unit_ = "at";
    Counts counts_;
    std::vector<Metric> metrics_;
    std::vector<Event> events_;
    bool has_ended_ = false, has_place_ = false;
    double last_at_ = 0;
};

/// A log in a file that may grow, be replaced, begin anew, or not be there yet.
class RunLogFile {
  public:
    explicit RunLogFile(std::string path) : path_(std::move(path)) {}

    /// Reads what has been written since; whether that changed anything.
    /// Errors: kNotFound while there is no such file; kInvalidArgument for folders, devices and FIFOs.
    Result<bool> poll();

    const std::string& path() const { return path_; }
    const RunLog& log() const { return log_; }
    /// Times that the file got shorter: another run, which was read from its beginning.
    uint64_t restarts() const { return restarts_; }

  private:
    std::string path_;
    RunLog log_;
    std::optional<os::File> file_;  // kept open, so that its number cannot become another file's
    bool is_stale_ = false;         // what was read is not what the file holds
    uint64_t read_bytes_ = 0, restarts_ = 0;
};

/// "1,234 lines, 3 foreign, ...": counts that are not zero.
std::string counts_text(const RunLogFile& file);

}  // namespace hearth::tool
