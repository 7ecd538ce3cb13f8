// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures the roof of the roofline: a copy and loops of multiply-adds, each grown until it takes
// long enough to be timed, and then the best of some runs.

#include "bench.hpp"
#include "codegen/khr_matrices.hpp"
#include "probe.hpp"
#include "probe_shaders.gen.hpp"

#include <algorithm>
#include <functional>

namespace hearth::perf {

namespace {

using standalone::Buffer;
using standalone::check_vulkan;

/// Two timestamps around something.
class Stopwatch {
  public:
    explicit Stopwatch(standalone::Device& device) : device_(device), vk_(device.vk()) {}
    ~Stopwatch() { vk_.DestroyQueryPool(device_.handle(), queries_, nullptr); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    Status create() {
        VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
        queries.queryCount = 2;
        return check_vulkan(vk_.CreateQueryPool(device_.handle(), &queries, nullptr, &queries_),
                            "vkCreateQueryPool");
    }

    /// GPU time of what `record` records.
    Result<double> seconds(const std::function<void(VkCommandBuffer)>& record) {
        HEARTH_TRY(device_.run([&](VkCommandBuffer commands) {
            constexpr auto kEnd = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
            vk_.CmdResetQueryPool(commands, queries_, 0, 2);
            vk_.CmdWriteTimestamp(commands, kEnd, queries_, 0);
            record(commands);
            vk_.CmdWriteTimestamp(commands, kEnd, queries_, 1);
        }));
        uint64_t stamps[2] = {};
        HEARTH_TRY(
            check_vulkan(vk_.GetQueryPoolResults(device_.handle(), queries_, 0, 2, sizeof stamps,
                                                 stamps, sizeof(uint64_t),
                                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                         "vkGetQueryPoolResults"));
        const uint32_t bits = device_.timestamp_valid_bits();
        const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        const double period_ns = device_.properties().limits.timestampPeriod;
        return static_cast<double>((stamps[1] - stamps[0]) & mask) * period_ns * 1e-9;
    }

    /// The shortest of some runs.
    Result<double> best_seconds(const std::function<void(VkCommandBuffer)>& record) {
        constexpr int kRuns = 10;
        double best = 1e30;
        for (int i = 0; i < kRuns; ++i) {
            HEARTH_ASSIGN(const double s, seconds(record));
            best = std::min(best, s);
        }
        return best;
    }

  private:
    standalone::Device& device_;
    const standalone::VulkanApi& vk_;
    VkQueryPool queries_ = VK_NULL_HANDLE;
};

/// How many rounds of its loop each thread of a probe does in a second.
Result<double> rounds_per_s(Stopwatch& stopwatch, const Probe& probe, Push push, uint32_t groups) {
    constexpr double kLongEnough = 5e-3;
    const auto multiply = [&](VkCommandBuffer commands) { probe.record(commands, push, groups); };
    double seconds = 0;
    for (push.count = 16; push.count < (1u << 20); push.count *= 2) {
        HEARTH_ASSIGN(seconds, stopwatch.seconds(multiply));
        if (seconds > kLongEnough) break;
    }
    HEARTH_ASSIGN(seconds, stopwatch.best_seconds(multiply));
    return push.count / seconds;
}

constexpr uint32_t kSubgroups = 4;  // of a workgroup that multiplies matrices

Status build_matrices(Probe& probe, const DeviceCaps& caps) {
    const uint32_t constants[] = {caps.matrix.m, caps.matrix.n, caps.matrix.k,
                                  kSubgroups * caps.subgroup_size};
    if (caps.matrix_cores == MatrixCores::kNv)
        return probe.build(k_multiply_add_matrices_nv, constants);
    HEARTH_ASSIGN(const std::vector<uint32_t> spirv, to_khr_matrices(k_multiply_add_matrices_khr));
    return probe.build(spirv, constants);
}

}  // namespace

Result<Roof> measure_roof(standalone::Device& device) {
    const bool is_software = device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    // Beyond every cache: the largest L2 of a GPU so far is 128 MB, of a server CPU more, but there
    // the software driver is the limit.
    const VkDeviceSize bytes = VkDeviceSize{is_software ? 64u : 512u} << 20;
    HEARTH_ASSIGN(const Buffer from,
                  Buffer::create(device, bytes, standalone::MemoryKind::kDevice));
    HEARTH_ASSIGN(const Buffer to, Buffer::create(device, bytes, standalone::MemoryKind::kDevice));
    HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
        device.vk().CmdFillBuffer(commands, from.handle(), 0, VK_WHOLE_SIZE, 0x3f000000);  // 0.5f
    }));
    Roof roof;
    Stopwatch stopwatch(device);
    HEARTH_TRY(stopwatch.create());
    Probe copy(device), multiply_add(device);
    HEARTH_TRY(copy.build(k_copy));
    HEARTH_TRY(multiply_add.build(k_multiply_add));
    const uint32_t groups = is_software ? 64 : 16384;
    Push push{from.address(), to.address(), static_cast<uint32_t>(bytes / 16), 0.5f};
    HEARTH_ASSIGN(const double kernel_s, stopwatch.best_seconds([&](VkCommandBuffer commands) {
        copy.record(commands, push, groups);
    }));
    // A software driver's own copy is faster than any kernel.
    HEARTH_ASSIGN(const double copy_s, stopwatch.best_seconds([&](VkCommandBuffer commands) {
        const VkBufferCopy region{0, 0, bytes};
        device.vk().CmdCopyBuffer(commands, from.handle(), to.handle(), 1, &region);
    }));
    roof.bytes_per_s = 2 * static_cast<double>(bytes) / std::min(kernel_s, copy_s);

    HEARTH_ASSIGN(const double multiply_adds, rounds_per_s(stopwatch, multiply_add, push, groups));
    roof.flops_per_s = 32.0 * multiply_adds * groups * 256;
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    if (caps.matrix_cores == MatrixCores::kNone) return roof;
    Probe matrices(device);
    HEARTH_TRY(build_matrices(matrices, caps));
    HEARTH_ASSIGN(const double products, rounds_per_s(stopwatch, matrices, push, groups));
    roof.matrix_flops_per_s =
        16.0 * caps.matrix.m * caps.matrix.n * caps.matrix.k * products * groups * kSubgroups;
    return roof;
}

}  // namespace hearth::perf
