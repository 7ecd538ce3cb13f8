// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures a reference kernel to detect lowered GPU clocks.

#include "clock_guard.hpp"

#include "bench.hpp"
#include "probe_shaders.gen.hpp"

#include <algorithm>

namespace hearth::perf {

namespace {

constexpr uint32_t kGroups = 2048;    // several per compute unit of any GPU
constexpr double kKernelUs = 60;      // long compared with a pipeline switch
constexpr double kLeastLoadUs = 5e5;  // minimum load before "no faster" is meaningful
constexpr double kMostLoadUs = 5e6;
constexpr int kRunsWithoutGain = 2000;

}  // namespace

Result<std::unique_ptr<ClockGuard>> ClockGuard::create(standalone::Device& device) {
    std::unique_ptr<ClockGuard> guard(new ClockGuard(device));
    if (device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) return guard;
    HEARTH_TRY(guard->calibrate());
    return guard;
}

Status ClockGuard::calibrate() {
    HEARTH_ASSIGN(memory_,
                  standalone::Buffer::create(device_, 256, standalone::MemoryKind::kDevice));
    HEARTH_TRY(device_.run([&](VkCommandBuffer commands) {
        device_.vk().CmdFillBuffer(commands, memory_.handle(), 0, VK_WHOLE_SIZE, 0);
    }));
    HEARTH_TRY(kernel_.build(k_multiply_add));
    HEARTH_TRY(stopwatch_.create(2));
    is_on_ = true;
    push_ = {memory_.address(), memory_.address(), 16, 0.5f};
    const double start_us = now_us();
    for (int without_gain = 0; without_gain < kRunsWithoutGain; ++without_gain) {
        const double load_us = now_us() - start_us;
        if (load_us > kMostLoadUs) break;
        HEARTH_ASSIGN(const double us, time_us());
        if (us < kKernelUs && push_.count < (1u << 20)) {
            push_.count *= 2;  // too short, possibly because the clock has risen
            fastest_us_ = 0;
            continue;
        }
        const bool is_gain = fastest_us_ == 0 || us < 0.99 * fastest_us_;
        if (is_gain || load_us < kLeastLoadUs) without_gain = 0;
        fastest_us_ = fastest_us_ == 0 ? us : std::min(fastest_us_, us);
    }
    return {};
}

Result<double> ClockGuard::time_us() {
    // Several runs, so that waiting for the host does not interrupt the load.
    HEARTH_TRY(device_.run([&](VkCommandBuffer commands) {
        stopwatch_.reset(commands);
        for (int i = 0; i < 20; ++i) record(commands);
        stopwatch_.stamp(commands);
        record(commands);
        stopwatch_.stamp(commands);
    }));
    HEARTH_ASSIGN(const std::vector<double> intervals, stopwatch_.intervals_us());
    return intervals[0];
}

void ClockGuard::record(VkCommandBuffer commands) const {
    if (!is_on_) return;
    record_full_barrier(device_.vk(), commands);
    kernel_.record(commands, push_, kGroups);
    record_full_barrier(device_.vk(), commands);
}

bool ClockGuard::is_full_clock(double us) {
    if (is_on_) fastest_us_ = std::min(fastest_us_, us);
    return was_full_clock(us);
}

}  // namespace hearth::perf
