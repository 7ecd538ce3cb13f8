// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Threads for CPU devices of tools, tests and demos; games use their own job system.

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hearth::native {

class ThreadTeam {
  public:
    /// size: number of threads, the caller's included; at least 1
    explicit ThreadTeam(uint32_t size);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    uint32_t size() const { return static_cast<uint32_t>(threads_.size()) + 1; }
    /// Runs job(data, i) for each i < count; returns when all are done. One caller at a time.
    void run(uint32_t count, void (*job)(void*, uint32_t), void* data);

  private:
    void work();
    void take_jobs();

    std::vector<std::thread> threads_;
    void (*job_)(void*, uint32_t) = nullptr;
    void* data_ = nullptr;
    uint32_t count_ = 0;
    std::atomic<uint32_t> turn_{0}, next_{0}, busy_{0};
    std::atomic<bool> is_over_{false};
};

}  // namespace hearth::native
