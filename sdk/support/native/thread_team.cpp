// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs jobs on a fixed team of threads.

#include "native/thread_team.hpp"

namespace hearth::native {

namespace {

/// About the duration of the work between two runs of a recording; sleeping threads are woken by
/// the system.
constexpr int kTurnsBeforeSleep = 4000;

}  // namespace

ThreadTeam::ThreadTeam(uint32_t size) {
    for (uint32_t i = 1; i < size; ++i) threads_.emplace_back([this] { work(); });
}

ThreadTeam::~ThreadTeam() {
    is_over_ = true;
    ++turn_;
    turn_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::take_jobs() {
    for (uint32_t i = next_++; i < count_; i = next_++) job_(data_, i);
}

void ThreadTeam::work() {
    for (uint32_t seen = 0;;) {
        for (int i = 0; i < kTurnsBeforeSleep && turn_ == seen; ++i) std::this_thread::yield();
        turn_.wait(seen);
        seen = turn_;
        if (is_over_) return;
        take_jobs();
        --busy_;
    }
}

void ThreadTeam::run(uint32_t count, void (*job)(void*, uint32_t), void* data) {
    job_ = job;
    data_ = data;
    count_ = count;
    next_ = 0;
    busy_ = static_cast<uint32_t>(threads_.size());
    ++turn_;
    turn_.notify_all();
    take_jobs();
    // Waits until all threads have seen this run's jobs, so that the jobs stay valid.
    while (busy_ != 0) std::this_thread::yield();
}

}  // namespace hearth::native
