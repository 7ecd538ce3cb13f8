// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Run logs (docs/reference/run_log.md): JSON lines that a program appends while it trains.

#pragma once

#include <hearth/core/os_file.hpp>
#include <hearth/run_log.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// A metric's value and its position on the horizontal axis.
struct Point {
    double at = 0, value = 0;
};

struct Metric {
    std::string name;  ///< keys of the line, joined by slashes: "player/seconds"
    std::vector<Point> points;
};

/// An event at one position: a mark in charts.
struct Event {
    double at = 0;
    std::string text;
};

/// Contents of a log so far; for a file with several runs, the last run.
class RunLog {
  public:
    static constexpr size_t kMaxLineBytes = 1 << 20, kMaxMetrics = 256, kMaxEvents = 4096,
                            kMaxObservations = 256;
    /// Per metric; beyond it, the points are thinned to at most half as many.
    static constexpr size_t kMaxPoints = 1 << 18;

    /// Counts of what was read and what was ignored.
    struct Counts {
        uint64_t lines = 0;         ///< complete non-empty lines
        uint64_t samples = 0;       ///< lines with metrics
        uint64_t events = 0;        ///< marks
        uint64_t foreign = 0;       ///< not a JSON object, or without a position ("at")
        uint64_t out_of_order = 0;  ///< position before that of the previous line
        uint64_t non_finite = 0;    ///< null or non-finite values of metrics
        uint64_t beyond = 0;        ///< values and events over the limits
        uint64_t runs = 0;          ///< lines that begin a run
    };

    /// Parses the next bytes of the file, split at any position.
    void read(std::string_view bytes);
    /// Bytes of an incomplete last line.
    size_t cut_bytes() const { return partial_.size(); }

    const std::string& program() const { return program_; }
    /// Unit of the horizontal axis: "seconds".
    const std::string& unit() const { return unit_; }
    const Counts& counts() const { return counts_; }
    /// Requests that the program looks for: bit i for RunRequest i.
    uint32_t listens() const { return listens_; }
    /// In order of first appearance.
    const std::vector<Metric>& metrics() const { return metrics_; }
    const Metric* find(std::string_view name) const;
    const std::vector<Event>& events() const { return events_; }
    /// Observations at their limits as of the last sample of agents, the largest share first, at
    /// most kMaxObservations: "place.x: 80 % of samples at the limit".
    const std::vector<std::string>& observations() const { return observations_; }
    /// True if the last line was an "end".
    bool has_ended() const { return has_ended_; }
    /// Position of the last line.
    double last_at() const { return last_at_; }

  private:
    void read_line(std::string_view line);
    void begin_run();
    void add(const std::string& name, double at, double value);

    std::string partial_;
    bool skips_line_ = false;  // the current line is too long
    std::string program_, unit_ = "at";
    Counts counts_;
    std::vector<Metric> metrics_;
    std::vector<Event> events_;
    std::vector<std::string> observations_;
    bool has_ended_ = false, has_place_ = false;
    uint32_t listens_ = 0;
    double last_at_ = 0;
};

/// A log file that may grow, be replaced, be restarted, or not exist yet.
class RunLogFile {
  public:
    explicit RunLogFile(std::string path) : path_(std::move(path)) {}

    /// Reads what was appended since the last call; returns true if anything changed.
    /// Errors: kNotFound while the file does not exist; kInvalidArgument for folders, devices and
    /// FIFOs.
    Result<bool> poll();

    const std::string& path() const { return path_; }
    const RunLog& log() const { return log_; }
    /// Number of times the file got shorter: a new run, read from the beginning.
    uint64_t restarts() const { return restarts_; }

  private:
    std::string path_;
    RunLog log_;
    std::optional<os::File> file_;  // kept open, so that its file number is not reused
    bool is_stale_ = false;         // log_ is not from the current file
    uint64_t read_bytes_ = 0, restarts_ = 0;
};

/// Makes a request to the program that writes a log, or withdraws it.
/// Errors: kUnsupported if the program does not listen to it; those of request_run().
Status request_run(const RunLogFile& file, RunRequest request, bool is_wanted);

/// The first of RunLog::observations() and the number of others; "" if there are none.
std::string observations_text(const RunLog& log);
/// Summary of the non-zero counts: "1,234 lines, 3 foreign, ...".
std::string counts_text(const RunLogFile& file);

}  // namespace hearth::tool
