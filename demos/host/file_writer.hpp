// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files written beside the frames.

#pragma once

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

/// Writes files as a whole on a thread of its own.  Of several requests for one path that have not
/// begun only the last is carried out.  A write that failed is tried again, after a second at first,
/// later after up to half a minute, until it works or a newer request takes its place.
///
/// Threads: all calls from one thread.
class FileWriter {
  public:
    using Clock = std::chrono::steady_clock;
    /// Makes a file's bytes, on the writer's thread; called again for each attempt.
    using Make = std::function<Result<std::vector<std::byte>>()>;
    using Write = std::function<Status(const std::string& path, std::span<const std::byte> bytes)>;

    /// write: by default write_file_atomically().
    explicit FileWriter(Write write = {}, Clock::duration first_pause = std::chrono::seconds(1));
    /// Finishes.
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    /// Asks for a file; waits for nothing.
    void write(std::string path, Make make);
    /// Waits for all that was asked for; what has failed is tried once more, now.
    /// Errors: the first that remained.  What could not be written is given up.
    Status finish();

    /// What went wrong since the last call, one text for each attempt that failed.
    std::vector<std::string> take_failures();
    /// Attempts that failed.
    uint64_t failure_count() const;

  private:
    struct Request {
        Make make;
        Clock::time_point due;
        Clock::duration pause;  // after another failure
    };

    void run();
    std::map<std::string, Request>::iterator next_due(Clock::time_point now);
    void attempt(std::unique_lock<std::mutex>& lock, std::map<std::string, Request>::iterator at);

    Write write_;
    Clock::duration first_pause_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Request> requests_;  // not begun, by path
    bool is_writing_ = false;
    bool is_finishing_ = false;
    bool is_over_ = false;
    std::vector<std::string> failures_;
    uint64_t failure_count_ = 0;
    Status lost_;  // the first of what was given up
    std::thread thread_;
};

}  // namespace hearth::demo
