// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gives each hostile file to its reader, in a process of its own:
//
//     hearth_hostile [--every N] [--only TEXT] [--table] [--write FOLDER]
//     hearth_hostile --read READER FILE
//
// A finding is a process that ends otherwise than by itself, more than 5 CPU seconds, more memory
// than 64 MB and 50 times the file's size (agents: 1 second, 100 MB), a refusal without a message,
// with one that is long or has control characters, or that blames the library; a valid file that is
// refused, and an attack that is not refused by name.

#include "readers.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#if defined(__SANITIZE_ADDRESS__)
#define HEARTH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEARTH_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef HEARTH_ADDRESS_SANITIZER
// What is freed must not count as held, and an allocation that no memory could hold must throw.
extern "C" const char* __asan_default_options() {
    return "quarantine_size_mb=1:allocator_may_return_null=1:detect_leaks=0";
}
#endif

namespace hearth::hostile {
namespace {

// A sanitizer's checks take three to five times the time; shadow memory, redzones and small objects
// rounded up about as much more memory.
#ifdef HEARTH_ADDRESS_SANITIZER
constexpr double kSlower = 6, kLarger = 4;
#else
constexpr double kSlower = 1, kLarger = 1;
#endif
constexpr double kMostSeconds = 5 * kSlower;
constexpr double kMostBytes = 64.0 * (1 << 20) * kLarger, kMostTimesSize = 50 * kLarger;
constexpr size_t kLongestMessage = 5000;

/// What a child tells before and after reading.
struct Before {
    uint64_t file_bytes = 0;
    double cpu_seconds = 0;
    double resident_bytes = 0;
    bool skipped = false;
};
struct After {
    bool ok = false;
    int code = 0;
    uint32_t message_bytes = 0;  ///< which follow
};

struct Outcome {
    bool skipped = false;
    uint64_t file_bytes = 0;
    double cpu_seconds = 0, bytes = 0;
    bool was_read = false;
    std::string text;                    ///< the message
    std::optional<std::string> finding;  ///< what is wrong
};

double seconds_of(const rusage& usage) {
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A figure of this process in /proc/self/status, in bytes.
double figure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name + ":")) return 1024 * std::atof(line.c_str() + name.size() + 1);
    return 0;
}

void send(int to, const void* data, size_t size) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t written = write(to, at, size);
        if (written <= 0) _exit(3);
        at += written;
        size -= static_cast<size_t>(written);
    }
}

[[noreturn]] void run_child(const HostileFile& file, int to) {
    Before before;
    before.skipped = !set_up(file.reader).ok();
    if (before.skipped) {
        send(to, &before, sizeof before);
        _exit(0);
    }
    const Bytes bytes = file.make();
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the largest so far is what it is now
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    before.file_bytes = bytes.size();
    before.cpu_seconds = seconds_of(usage);
    before.resident_bytes = figure("VmRSS");
    send(to, &before, sizeof before);
    const auto limit = static_cast<rlim_t>(before.cpu_seconds + kMostSeconds + 2);
    const rlimit cpu{limit, limit + 1};
    setrlimit(RLIMIT_CPU, &cpu);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#ifndef HEARTH_ADDRESS_SANITIZER
    // So that a finding does not take the machine with it.
    const auto space = static_cast<rlim_t>(figure("VmSize") + 2e9 +
                                           kMostTimesSize * static_cast<double>(bytes.size()));
    const rlimit memory{space, space};
    setrlimit(RLIMIT_AS, &memory);
#endif
    const Status status = read(file.reader, bytes);
    const After after{status.ok(), static_cast<int>(status.code()),
                      static_cast<uint32_t>(status.message().size())};
    send(to, &after, sizeof after);
    send(to, status.message().data(), status.message().size());
    _exit(0);  // without giving anything back: leaks are other tests' business
}

/// Up to `size` bytes, as many as come.
size_t receive(int from, void* data, size_t size) {
    auto* at = static_cast<char*>(data);
    size_t got = 0;
    while (got < size) {
        const ssize_t now = ::read(from, at + got, size - got);
        if (now <= 0) break;
        got += static_cast<size_t>(now);
    }
    return got;
}

std::optional<std::string> judge(const HostileFile& file, const Outcome& outcome, int wait_status,
                                 const std::optional<After>& after) {
    char text[200];
    const bool is_of_agents = file.reader == "agents";
    if (outcome.cpu_seconds > (is_of_agents ? kSlower : kMostSeconds)) {
        std::snprintf(text, sizeof text, "takes %.1f CPU seconds or more", outcome.cpu_seconds);
        return text;
    }
    if (WIFSIGNALED(wait_status)) return std::string("ends by ") + strsignal(WTERMSIG(wait_status));
    if (WEXITSTATUS(wait_status) != 0)
        return "ends with code " + std::to_string(WEXITSTATUS(wait_status));
    if (!after) return "says nothing";
    const double most = is_of_agents
                            ? 1e8 * kLarger
                            : kMostBytes + kMostTimesSize * static_cast<double>(outcome.file_bytes);
    if (outcome.bytes > most) {
        std::snprintf(text, sizeof text, "takes %.0f MB for %.3f", outcome.bytes / 1048576,
                      static_cast<double>(outcome.file_bytes) / 1048576);
        return text;
    }
    if (after->ok && !file.says.empty()) return "is read";
    if (after->ok) return {};
    if (outcome.text.find(file.says) == std::string::npos)
        return "is refused without '" + file.says + "'";
    if (file.is_valid) return "is valid and refused";
    if (static_cast<StatusCode>(after->code) == StatusCode::kInternal)
        return "is an internal error";
    if (outcome.text.empty()) return "is refused without a message";
    if (outcome.text.size() > kLongestMessage)
        return "has a message of " + std::to_string(outcome.text.size()) + " bytes";
    if (std::any_of(outcome.text.begin(), outcome.text.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        return "has control characters in its message";
    if (outcome.text == "out of memory" || outcome.text.ends_with(": out of memory"))
        return "asks for all memory";
    return {};
}

Outcome run(const HostileFile& file) {
    Outcome outcome;
    int ends[2];
    if (pipe(ends) != 0) return outcome.finding = "no pipe", outcome;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(file, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return outcome.finding = "no process", outcome;
    }
    Before before;
    std::optional<After> after;
    if (receive(ends[0], &before, sizeof before) == sizeof before) {
        After got;
        if (receive(ends[0], &got, sizeof got) == sizeof got) {
            after = got;
            outcome.text.resize(std::min<size_t>(got.message_bytes, 1 << 20));
            outcome.text.resize(receive(ends[0], outcome.text.data(), outcome.text.size()));
            if (got.message_bytes > outcome.text.size())
                outcome.text.resize(kLongestMessage + 1, '?');
        }
    }
    close(ends[0]);
    int wait_status = 0;
    rusage usage{};
    wait4(child, &wait_status, 0, &usage);
    outcome.skipped = before.skipped;
    if (before.skipped) return outcome;
    outcome.file_bytes = before.file_bytes;
    outcome.cpu_seconds = seconds_of(usage) - before.cpu_seconds;
    outcome.bytes =
        std::max(0.0, 1024.0 * static_cast<double>(usage.ru_maxrss) - before.resident_bytes);
    outcome.was_read = after && after->ok;
    outcome.finding = judge(file, outcome, wait_status, after);
    return outcome;
}

struct Totals {
    int files = 0, read = 0, refused = 0, skipped = 0, findings = 0;
    double most_seconds = 0, most_bytes = 0;
};

void print_totals(const std::map<std::string, Totals>& by_reader) {
    std::printf("%-16s %6s %6s %8s %8s %9s %12s %12s\n", "reader", "files", "read", "refused",
                "skipped", "findings", "most CPU s", "most MB");
    for (const auto& [reader, t] : by_reader)
        std::printf("%-16s %6d %6d %8d %8d %9d %12.2f %12.1f\n", reader.c_str(), t.files, t.read,
                    t.refused, t.skipped, t.findings, t.most_seconds, t.most_bytes / 1048576);
}

struct Arguments {
    size_t every = 1;
    std::string only, folder;
    bool table = false;
    std::string reader, path;  ///< of a file that is given
};

std::optional<Arguments> parse(int count, char** values) {
    Arguments arguments;
    for (int i = 1; i < count; ++i) {
        const std::string argument = values[i];
        const bool has_more = i + 1 < count;
        if (argument == "--table")
            arguments.table = true;
        else if (argument == "--every" && has_more)
            arguments.every = std::strtoul(values[++i], nullptr, 10);
        else if (argument == "--only" && has_more)
            arguments.only = values[++i];
        else if (argument == "--write" && has_more)
            arguments.folder = values[++i];
        else if (argument == "--read" && i + 2 < count)
            arguments.reader = values[++i], arguments.path = values[++i];
        else
            return {};
    }
    if (arguments.every == 0) return {};
    return arguments;
}

Bytes contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return bytes_of(std::string{std::istreambuf_iterator<char>(file), {}});
}

/// As a file's name.
std::string file_name(const HostileFile& file) {
    std::string name = file.reader + "_" + file.name;
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
}

int run_all(const Arguments& arguments) {
    const Files files =
        arguments.reader.empty()
            ? all_files()
            : Files{{.reader = arguments.reader, .name = arguments.path, .make = [&] {
                         return contents_of(arguments.path);
                     }}};
    std::map<std::string, Totals> by_reader;
    int findings = 0;
    for (size_t i = 0; i < files.size(); ++i) {
        const HostileFile& file = files[i];
        const std::string name = file.reader + ": " + file.name;
        if (i % arguments.every != 0 && !file.is_valid && file.says.empty()) continue;
        if (name.find(arguments.only) == std::string::npos) continue;
        if (!arguments.folder.empty()) {
            const Bytes bytes = file.make();
            std::ofstream(arguments.folder + "/" + file_name(file), std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
            continue;
        }
        const Outcome outcome = run(file);
        Totals& totals = by_reader[file.reader];
        ++totals.files;
        totals.skipped += outcome.skipped;
        totals.read += outcome.was_read;
        totals.refused += !outcome.skipped && !outcome.was_read;
        totals.findings += outcome.finding.has_value();
        totals.most_seconds = std::max(totals.most_seconds, outcome.cpu_seconds);
        totals.most_bytes = std::max(totals.most_bytes, outcome.bytes);
        findings += outcome.finding.has_value();
        if (outcome.finding) std::printf("FINDING %s %s\n", name.c_str(), outcome.finding->c_str());
        if (arguments.table || outcome.finding || !arguments.reader.empty())
            std::printf("  %-60s %10llu bytes %6.2f s %8.1f MB  %s\n", name.c_str(),
                        static_cast<unsigned long long>(outcome.file_bytes), outcome.cpu_seconds,
                        outcome.bytes / 1048576,
                        outcome.was_read ? "read" : outcome.text.substr(0, 200).c_str());
    }
    if (!arguments.folder.empty()) return 0;
    print_totals(by_reader);
    std::printf("%zu files in all; %d findings\n", files.size(), findings);
    return findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hearth::hostile

int main(int count, char** values) {
    const auto arguments = hearth::hostile::parse(count, values);
    if (!arguments) {
        std::fprintf(
            stderr,
            "usage: %s [--every N] [--only TEXT] [--table] [--write FOLDER] | --read READER FILE\n",
            values[0]);
        return 2;
    }
    return hearth::hostile::run_all(*arguments);
}
