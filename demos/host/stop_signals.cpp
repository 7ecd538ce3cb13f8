// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Handles SIGINT, SIGTERM and SIGHUP.

#include "stop_signals.hpp"

#include <atomic>
#include <csignal>
#include <ctime>

namespace hearth::demo {
namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kStopCount = 3;

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a handler may not wait");

/// Later signals end the program at once. Earlier ones count as the same request: timeout(1)
/// signals the process and then its group, to which it belongs.
constexpr int64_t kPatience_ns = 500'000'000;
std::atomic<int64_t> received_ns{0};
static_assert(std::atomic<int64_t>::is_always_lock_free);

struct sigaction previous[kStopCount];
struct sigaction previous_pipe;

int64_t now_ns() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note(int signal) {
    const int64_t now = now_ns();
    int64_t first = 0;
    if (received_ns.compare_exchange_strong(first, now)) {
        received_signal = signal;
    } else if (now - first > kPatience_ns) {
        (void)std::signal(signal, SIG_DFL);
        (void)std::raise(signal);
    }
}

}  // namespace

StopSignals::StopSignals() {
    received_signal = 0;
    received_ns = 0;
    for (int i = 0; i < kStopCount; ++i) {
        sigaction(kStops[i], nullptr, &previous[i]);
        if (previous[i].sa_handler == SIG_IGN) continue;
        struct sigaction action = {};
        action.sa_handler = note;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;  // restart interrupted calls
        sigaction(kStops[i], &action, nullptr);
    }
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &previous_pipe);
}

StopSignals::~StopSignals() {
    for (int i = 0; i < kStopCount; ++i) sigaction(kStops[i], &previous[i], nullptr);
    sigaction(SIGPIPE, &previous_pipe, nullptr);
}

int StopSignals::received() {
    return received_signal;
}

const char* StopSignals::name_of(int signal) {
    return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

}  // namespace hearth::demo
