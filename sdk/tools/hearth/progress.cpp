// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws a progress bar on stderr.

#include "progress.hpp"

#include <hearth/status.hpp>

#include <fmt/format.h>
#include <programs/streams.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace hearth::tool {

namespace {

constexpr size_t kBarWidth = 30, kTextWidth = 40;

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Progress::Progress(std::string_view what) : what_(what), is_terminal_(programs::is_terminal(2)) {}

Progress::~Progress() {
    clear();
}

void Progress::at(size_t done, size_t count, std::string_view now) {
    constexpr double kInterval = 0.05;
    if (!is_terminal_ || count == 0 || (done < count && now_s() - last_ < kInterval && is_drawn_))
        return;
    last_ = now_s();
    std::string what_now(now);
    replace_control_characters(what_now.data(), what_now.size());
    const size_t filled = std::min(done, count) * kBarWidth / count;
    fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {}/{} {:{}.{}}", what_, "", filled, "",
               kBarWidth - filled, done, count, what_now, kTextWidth, kTextWidth);
    std::fflush(stderr);
    is_drawn_ = true;
}

void Progress::clear() {
    if (!is_drawn_) return;
    fmt::print(stderr, "\r{:{}}\r", "", what_.size() + kBarWidth + kTextWidth + 24);
    std::fflush(stderr);
    is_drawn_ = false;
}

}  // namespace hearth::tool
