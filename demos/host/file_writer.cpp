// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes files on a background thread and retries failed writes.

#include "file_writer.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <utility>

namespace hearth::demo {
namespace {

constexpr auto kLongestPause = std::chrono::seconds(30);

}  // namespace

FileWriter::FileWriter(Write write, Clock::duration first_pause)
    : write_(std::move(write)), first_pause_(first_pause) {
    if (!write_)
        write_ = [](const std::string& path, std::span<const std::byte> bytes) {
            return write_file_atomically(path, bytes);
        };
    thread_ = std::thread([this] { run(); });
}

FileWriter::~FileWriter() {
    (void)finish();
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void FileWriter::write(std::string path, Make make) {
    {
        const std::lock_guard lock(mutex_);
        requests_.insert_or_assign(std::move(path),
                                   Request{std::move(make), Clock::now(), first_pause_});
    }
    changed_.notify_all();
}

Status FileWriter::finish() {
    std::unique_lock lock(mutex_);
    is_finishing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return requests_.empty() && !is_writing_; });
    is_finishing_ = false;
    return std::exchange(lost_, Status());
}

std::vector<std::string> FileWriter::take_failures() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failures_, {});
}

uint64_t FileWriter::failure_count() const {
    const std::lock_guard lock(mutex_);
    return failure_count_;
}

/// Returns the request that is due first.
std::map<std::string, FileWriter::Request>::iterator FileWriter::next_due(Clock::time_point now) {
    if (is_finishing_)
        for (auto& [path, request] : requests_) request.due = std::min(request.due, now);
    return std::min_element(requests_.begin(), requests_.end(), [](const auto& a, const auto& b) {
        return a.second.due < b.second.due;
    });
}

void FileWriter::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const Clock::time_point now = Clock::now();
        const auto next = next_due(now);
        if (next == requests_.end()) {
            if (is_over_) return;
            changed_.wait(lock);
        } else if (next->second.due > now) {
            changed_.wait_until(lock, next->second.due);
        } else {
            attempt(lock, next);
        }
    }
}

/// Reports a file that is no longer the one that this writer wrote.
void FileWriter::note_other_writers(const std::string& path) {
    const auto ours = written_.find(path);
    os::FileInfo was, is;
    if (ours == written_.end() || !ours->second.look(&was) || !os::query_file(path, &is) ||
        is.kind != os::FileKind::kFile || (is.volume == was.volume && is.number == was.number))
        return;
    const std::lock_guard lock(mutex_);
    failures_.push_back("another program also saves to '" + path +
                        "'; the last to save wins, so give each game a file of its own");
}

/// Attempts one request; releases the lock while writing.
void FileWriter::attempt(std::unique_lock<std::mutex>& lock,
                         std::map<std::string, Request>::iterator at) {
    auto node = requests_.extract(at);
    Request& request = node.mapped();
    const bool is_last = is_finishing_;
    is_writing_ = true;
    lock.unlock();
    const Status status = [&]() -> Status {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, request.make());
        note_other_writers(node.key());
        HEARTH_TRY(write_(node.key(), bytes));
        os::File file;
        if (file.open_to_read(node.key())) written_[node.key()] = std::move(file);
        return {};
    }();
    lock.lock();
    is_writing_ = false;
    if (!status.ok()) {
        ++failure_count_;
        failures_.push_back(status.message());
        if (is_last) {
            if (lost_.ok()) lost_ = status;
        } else {
            request.due = Clock::now() + request.pause;
            request.pause = std::min<Clock::duration>(2 * request.pause, kLongestPause);
            requests_.insert(std::move(node));  // unless there is a newer one
        }
    }
    changed_.notify_all();
}

}  // namespace hearth::demo
