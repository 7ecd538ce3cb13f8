// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "isolate.hpp"

#include "core/bytes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace hearth::tool {

namespace {

using Clock = std::chrono::steady_clock;

bool write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return true;
}

/// Reads exactly as much as fits `bytes` before the deadline.  False: the other end is closed.
enum class Read { kDone, kClosed, kTooLate };
Read read_all(int file, std::span<std::byte> bytes, const Clock::time_point* deadline) {
    while (!bytes.empty()) {
        int wait_ms = -1;
        if (deadline != nullptr) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now());
            if (left.count() <= 0) return Read::kTooLate;
            wait_ms = static_cast<int>(std::min<int64_t>(left.count() + 1, 60'000));
        }
        pollfd poll_info{file, POLLIN, 0};
        const int ready = ::poll(&poll_info, 1, wait_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t n = ::read(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return Read::kClosed;
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return Read::kDone;
}

std::vector<std::byte> encode(const std::vector<DeviceOutcome>& outcomes) {
    ByteWriter out;
    out.number(static_cast<uint32_t>(outcomes.size()));
    for (const DeviceOutcome& o : outcomes)
        out.counted_text(o.device)
            .number(static_cast<uint8_t>(o.outcome.kind))
            .counted_text(o.outcome.text);
    return out.finish();
}

std::vector<DeviceOutcome> decode(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    std::vector<DeviceOutcome> outcomes(in.count(9));
    for (DeviceOutcome& o : outcomes) {
        o.device = in.counted_text();
        o.outcome.kind = static_cast<Outcome::Kind>(in.number<uint8_t>());
        o.outcome.text = in.counted_text();
    }
    return outcomes;
}

[[noreturn]] void run_child(int file, size_t first, size_t count,
                            const std::function<RunCase()>& start) {
    {
        const RunCase run = start();
        for (size_t i = first; i < count; ++i) {
            const std::vector<std::byte> bytes = encode(run(i));
            const auto size = static_cast<uint64_t>(bytes.size());
            if (!write_all(file, std::as_bytes(std::span(&size, 1))) || !write_all(file, bytes))
                break;
        }
    }
    std::fflush(stdout);
    // Not exit(): what the parent registered for its end is the parent's.
    _exit(0);
}

/// How a child that gave no answer ended.
std::string ending_of(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("the process crashed: {}", strsignal(WTERMSIG(status)));
    return fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

void run_isolated(size_t count, const std::function<RunCase()>& start,
                  const std::function<void(size_t, std::vector<DeviceOutcome>)>& done,
                  const IsolateOptions& options) {
    size_t next = 0;
    while (next < count) {
        std::fflush(nullptr);  // or the child would write what is buffered here once more
        int ends[2];
        pid_t child = -1;
        if (::pipe(ends) == 0) child = ::fork();
        if (child < 0) {
            done(next++, {{"", failed("cannot start a process: " + std::string(strerror(errno)))}});
            continue;
        }
        if (child == 0) {
            ::close(ends[0]);
            run_child(ends[1], next, count, start);
        }
        ::close(ends[1]);
        bool is_running = true;
        while (is_running && next < count) {
            const auto deadline = Clock::now() + std::chrono::milliseconds(
                                                     static_cast<int64_t>(options.timeout_s * 1e3));
            const Clock::time_point* limit = options.timeout_s > 0 ? &deadline : nullptr;
            uint64_t size = 0;
            std::vector<std::byte> bytes;
            Read read = read_all(ends[0], std::as_writable_bytes(std::span(&size, 1)), limit);
            if (read == Read::kDone) {
                bytes.resize(static_cast<size_t>(size));
                read = read_all(ends[0], bytes, limit);
            }
            if (read == Read::kDone) {
                done(next++, decode(bytes));
                continue;
            }
            is_running = false;
            if (read == Read::kTooLate) ::kill(child, SIGKILL);
            int status = 0;
            while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
            child = -1;
            done(next++, {{"", failed(read == Read::kTooLate
                                          ? fmt::format("no answer after {} s", options.timeout_s)
                                          : ending_of(status))}});
        }
        ::close(ends[0]);
        if (child > 0)
            while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
    }
}

}  // namespace hearth::tool
