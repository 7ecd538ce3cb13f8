// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes files in the background.

#pragma once

#include <hearth/core/os_file.hpp>
#include <hearth/status.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace hearth::demo {

/// Writes whole files on a thread of its own. Of several pending requests for a path only the last
/// is carried out. A failed write is retried, after a second at first and after up to half a minute
/// later, until it succeeds or a newer request replaces it.
///
/// The last program to write a file wins. A file that another program replaced between two writes is
/// reported once, as a failure is.
///
/// Threads: all calls from one thread.
class FileWriter {
  public:
    using Clock = std::chrono::steady_clock;
    /// Produces a file's bytes, on the writer's thread; called again for each attempt.
    using Make = std::function<Result<std::vector<std::byte>>()>;
    using Write = std::function<Status(const std::string& path, std::span<const std::byte> bytes)>;

    /// write: defaults to write_file_atomically().
    explicit FileWriter(Write write = {}, Clock::duration first_pause = std::chrono::seconds(1));
    /// Calls finish().
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    /// Requests a file; does not block.
    void write(std::string path, Make make);
    /// Waits for all requests; failed ones are retried once more, immediately.
    /// Errors: the first remaining one. Files that still cannot be written are dropped.
    Status finish();

    /// Returns the errors since the last call, one per failed attempt.
    std::vector<std::string> take_failures();
    /// Number of failed attempts.
    uint64_t failure_count() const;

  private:
    struct Request {
        Make make;
        Clock::time_point due;
        Clock::duration pause;  // before the next retry
    };

    void run();
    std::map<std::string, Request>::iterator next_due(Clock::time_point now);
    void note_other_writers(const std::string& path);
    void attempt(std::unique_lock<std::mutex>& lock, std::map<std::string, Request>::iterator at);

    Write write_;
    Clock::duration first_pause_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Request> requests_;  // not begun, by path
    /// Files that this writer wrote; open, so that no other file gets their numbers.
    std::map<std::string, os::File> written_;
    bool is_writing_ = false;
    bool is_finishing_ = false;
    bool is_over_ = false;
    std::vector<std::string> failures_;
    uint64_t failure_count_ = 0;
    Status lost_;  // first error of a dropped file
    std::thread thread_;
};

}  // namespace hearth::demo
