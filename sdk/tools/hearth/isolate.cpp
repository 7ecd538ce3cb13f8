// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs cases in child processes that return results through a pipe, and replaces those that die.

#include "isolate.hpp"

#include "core/bytes.hpp"

#include <hearth/core/os_file.hpp>

#include <fmt/format.h>
#if !defined(_WIN32)
#include <poll.h>
#include <sys/wait.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <thread>

namespace hearth::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Writes to the parent; returns false if the parent no longer reads.
using Write = std::function<bool(std::span<const std::byte>)>;

enum class Read { kDone, kClosed, kTooLate };

#if defined(_WIN32)

/// A child process and the pipe for its results.  Windows has no fork(): the child is this program
/// started again with the same command line, which leads to the same call of run_isolated().  An
/// environment variable ("PIPE FIRST") marks it as the child.
class Child {
  public:
    static constexpr wchar_t kVariable[] = L"HEARTH_ISOLATED";

    Child() = default;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pipe_ != nullptr) CloseHandle(pipe_);
        if (process_ == nullptr) return;
        WaitForSingleObject(process_, INFINITE);
        CloseHandle(process_);
    }

    /// In a child: runs `work` and exits.
    static void work_if_child(const std::function<void(size_t first, const Write&)>& work) {
        wchar_t text[64];
        const DWORD size = GetEnvironmentVariableW(kVariable, text, std::size(text));
        if (size == 0 || size >= std::size(text)) return;
        SetEnvironmentVariableW(kVariable, nullptr);
        SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);  // no dialog, no debugger
        wchar_t* end = nullptr;
        const HANDLE pipe = reinterpret_cast<HANDLE>(std::wcstoull(text, &end, 10));
        const auto first = static_cast<size_t>(std::wcstoull(end, nullptr, 10));
        work(first, [pipe](std::span<const std::byte> bytes) {
            DWORD n = 0;
            return WriteFile(pipe, bytes.data(), static_cast<DWORD>(bytes.size()), &n, nullptr) &&
                   n == bytes.size();
        });
        std::fflush(stdout);
        TerminateProcess(GetCurrentProcess(), 0);
    }

    bool start(size_t first, const std::function<void(size_t first, const Write&)>&) {
        SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
        HANDLE pipe = nullptr;
        if (!CreatePipe(&pipe_, &pipe, &inherited, 0)) return false;
        SetHandleInformation(pipe_, HANDLE_FLAG_INHERIT, 0);
        const std::wstring text =
            std::to_wstring(reinterpret_cast<uintptr_t>(pipe)) + L' ' + std::to_wstring(first);
        SetEnvironmentVariableW(kVariable, text.c_str());
        STARTUPINFOW startup{};
        startup.cb = sizeof startup;
        PROCESS_INFORMATION process{};
        std::wstring line = GetCommandLineW();
        const bool has_started = CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0,
                                                nullptr, nullptr, &startup, &process);
        const DWORD error = GetLastError();
        SetEnvironmentVariableW(kVariable, nullptr);
        CloseHandle(pipe);
        SetLastError(error);
        if (!has_started) return false;
        CloseHandle(process.hThread);
        process_ = process.hProcess;
        return true;
    }

    Read read_all(std::span<std::byte> bytes, const Clock::time_point* deadline) {
        while (!bytes.empty()) {
            DWORD ready = 0, n = 0;
            if (!PeekNamedPipe(pipe_, nullptr, 0, nullptr, &ready, nullptr)) return Read::kClosed;
            if (ready == 0) {
                if (deadline != nullptr && Clock::now() >= *deadline) return Read::kTooLate;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                continue;
            }
            const auto size = static_cast<DWORD>(std::min<size_t>(bytes.size(), ready));
            if (!ReadFile(pipe_, bytes.data(), size, &n, nullptr)) return Read::kClosed;
            bytes = bytes.subspan(n);
        }
        return Read::kDone;
    }

    void kill() { TerminateProcess(process_, 1); }

    /// Describes the exit of a child that did not answer.
    std::string ending() {
        DWORD code = 0;
        WaitForSingleObject(process_, INFINITE);
        GetExitCodeProcess(process_, &code);
        constexpr DWORD kFirstOfExceptions = 0xc0000000;
        if (code >= kFirstOfExceptions)
            return fmt::format("the process crashed: exception 0x{:x}", code);
        return fmt::format("the process ended with exit code {}", code);
    }

  private:
    HANDLE process_ = nullptr, pipe_ = nullptr;
};

#else

/// A child process and the pipe for its results.
class Child {
  public:
    Child() = default;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pipe_ >= 0) ::close(pipe_);
        if (process_ > 0) wait();
    }

    static void work_if_child(const std::function<void(size_t first, const Write&)>&) {}

    bool start(size_t first, const std::function<void(size_t first, const Write&)>& work) {
        int ends[2];
        if (::pipe(ends) != 0) return false;
        pipe_ = ends[0];
        process_ = ::fork();
        if (process_ == 0) {
            ::close(ends[0]);
            work(first, [&](std::span<const std::byte> bytes) {
                while (!bytes.empty()) {
                    const ssize_t n = ::write(ends[1], bytes.data(), bytes.size());
                    if (n < 0 && errno == EINTR) continue;
                    if (n <= 0) return false;
                    bytes = bytes.subspan(static_cast<size_t>(n));
                }
                return true;
            });
            std::fflush(stdout);
            // _exit() skips the parent's atexit handlers.
            _exit(0);
        }
        const int error = errno;
        ::close(ends[1]);
        errno = error;
        return process_ > 0;
    }

    Read read_all(std::span<std::byte> bytes, const Clock::time_point* deadline) {
        while (!bytes.empty()) {
            int wait_ms = -1;
            if (deadline != nullptr) {
                const auto left =
                    std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now());
                if (left.count() <= 0) return Read::kTooLate;
                wait_ms = static_cast<int>(std::min<int64_t>(left.count() + 1, 60'000));
            }
            pollfd poll_info{pipe_, POLLIN, 0};
            const int ready = ::poll(&poll_info, 1, wait_ms);
            if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
            const ssize_t n = ::read(pipe_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return Read::kClosed;
            bytes = bytes.subspan(static_cast<size_t>(n));
        }
        return Read::kDone;
    }

    void kill() { ::kill(process_, SIGKILL); }

    /// Describes the exit of a child that did not answer.
    std::string ending() {
        const int status = wait();
        if (WIFSIGNALED(status))
            return fmt::format("the process crashed: {}", strsignal(WTERMSIG(status)));
        return fmt::format("the process ended with exit code {}", WEXITSTATUS(status));
    }

  private:
    int wait() {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return status;
    }

    pid_t process_ = -1;
    int pipe_ = -1;
};

#endif

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

}  // namespace

void run_isolated(size_t count, const std::function<RunCase()>& start,
                  const std::function<void(size_t, std::vector<DeviceOutcome>)>& done,
                  const IsolateOptions& options) {
    const auto work = [&](size_t first, const Write& write) {
        const RunCase run = start();
        for (size_t i = first; i < count; ++i) {
            const std::vector<std::byte> bytes = encode(run(i));
            const auto size = static_cast<uint64_t>(bytes.size());
            if (!write(std::as_bytes(std::span(&size, 1))) || !write(bytes)) break;
        }
    };
    Child::work_if_child(work);
    size_t next = 0;
    while (next < count) {
        std::fflush(nullptr);  // otherwise the child would write the buffered output again
        Child child;
        if (!child.start(next, work)) {
            done(next++, {{"", failed("cannot start a process: " + os::error_text())}});
            continue;
        }
        bool is_running = true;
        while (is_running && next < count) {
            const auto deadline = Clock::now() + std::chrono::milliseconds(
                                                     static_cast<int64_t>(options.timeout_s * 1e3));
            const Clock::time_point* limit = options.timeout_s > 0 ? &deadline : nullptr;
            uint64_t size = 0;
            std::vector<std::byte> bytes;
            Read read = child.read_all(std::as_writable_bytes(std::span(&size, 1)), limit);
            if (read == Read::kDone) {
                bytes.resize(static_cast<size_t>(size));
                read = child.read_all(bytes, limit);
            }
            if (read == Read::kDone) {
                done(next++, decode(bytes));
                continue;
            }
            is_running = false;
            if (read == Read::kTooLate) child.kill();
            const std::string ending = child.ending();
            done(next++, {{"", failed(read == Read::kTooLate
                                          ? fmt::format("no answer after {} s", options.timeout_s)
                                          : ending)}});
        }
    }
}

}  // namespace hearth::tool
