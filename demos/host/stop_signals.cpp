// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "stop_signals.hpp"

#include <atomic>
#include <csignal>

namespace hearth::demo {
namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kStopCount = 3;

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a handler may not wait");

struct sigaction previous[kStopCount];
struct sigaction previous_pipe;

void note(int signal) {
    int none = 0;
    received_signal.compare_exchange_strong(none, signal);
}

}  // namespace

StopSignals::StopSignals() {
    received_signal = 0;
    for (int i = 0; i < kStopCount; ++i) {
        sigaction(kStops[i], nullptr, &previous[i]);
        if (previous[i].sa_handler == SIG_IGN) continue;
        struct sigaction action = {};
        action.sa_handler = note;
        sigemptyset(&action.sa_mask);
        // Once; calls that were interrupted go on.
        action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
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
