// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures the roof of the roofline model: a copy and loops of multiply-adds, each enlarged until
// it takes long enough to be timed; then the best of several runs.

#include "bench.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/spirv.hpp"
#include "probe.hpp"
#include "probe_shaders.gen.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <functional>

namespace hearth::perf {

namespace {

using standalone::Buffer;

/// GPU time of the commands that `record` records.
Result<double> seconds(Stopwatch& stopwatch, standalone::Device& device,
                       const std::function<void(VkCommandBuffer)>& record) {
    HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
        stopwatch.reset(commands);
        stopwatch.stamp(commands);
        record(commands);
        stopwatch.stamp(commands);
    }));
    HEARTH_ASSIGN(const std::vector<double> intervals, stopwatch.intervals_us());
    return intervals[0] * 1e-6;
}

/// Minimum of several runs.
Result<double> best_seconds(Stopwatch& stopwatch, standalone::Device& device,
                            const std::function<void(VkCommandBuffer)>& record) {
    constexpr int kRuns = 10;
    double best = 1e30;
    for (int i = 0; i < kRuns; ++i) {
        HEARTH_ASSIGN(const double s, seconds(stopwatch, device, record));
        best = std::min(best, s);
    }
    return best;
}

/// Loop iterations per second of each thread of a probe.
Result<double> rounds_per_s(Stopwatch& stopwatch, standalone::Device& device, const Probe& probe,
                            Push push, uint32_t groups) {
    constexpr double kLongEnough = 5e-3;
    const auto multiply = [&](VkCommandBuffer commands) { probe.record(commands, push, groups); };
    double time_s = 0;
    for (push.count = 16; push.count < (1u << 20); push.count *= 2) {
        HEARTH_ASSIGN(time_s, seconds(stopwatch, device, multiply));
        if (time_s > kLongEnough) break;
    }
    HEARTH_ASSIGN(time_s, best_seconds(stopwatch, device, multiply));
    return push.count / time_s;
}

constexpr uint32_t kSubgroups = 4;  // per workgroup that multiplies matrices

/// Push::count rounds of eight independent products of matrices in registers, f16 with f32 sums: the
/// roof of what matrix cores compute.  Flops: 16 m n k * count for each of a workgroup's subgroups.
Status build_matrices(Probe& probe, const DeviceCaps& caps) {
    constexpr uint32_t kSums = 8;
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = kSubgroups * caps.subgroup_size;
    body.subgroup_size = caps.subgroup_size;
    body.matrix = caps.cooperative_matrix_shape;
    const auto start_of = [&](uint32_t buffer) -> KernelWriter::MatrixPlace {
        return {body.buffer(buffer), body.index(0), body.index(16)};
    };
    const uint32_t from = body.operand(0, DType::kF16, DType::kF16);
    const uint32_t to = body.operand(1, DType::kF32, DType::kF32);
    const Expr a = writer.declare_chunk("a", Chunk::kLeft);
    const Expr b = writer.declare_chunk("b", Chunk::kRight);
    writer.load_fragment(a, start_of(from));
    writer.load_fragment(b, start_of(from));
    std::vector<Expr> sums;
    for (uint32_t i = 0; i < kSums; ++i) {
        sums.push_back(writer.declare_chunk("sums" + std::to_string(i), Chunk::kSums));
        writer.assign(sums[i], body.fill(Chunk::kSums, body.constant(i, ScalarType::kF32)));
    }
    writer.for_("round", body.index(0), [&](Expr round) { return round < body.pushed_word(0); });
    for (const Expr sum : sums) writer.assign(sum, body.multiply_add(a, b, sum));
    writer.end();
    for (const Expr sum : sums) {
        // Never true, which the compiler cannot know.
        writer.if_(body.chunk_element(sum, body.index(0)) == body.constant(-1, ScalarType::kF32));
        writer.store_fragment(sum, start_of(to));
        writer.end();
    }
    body.statements = writer.take();
    HEARTH_ASSIGN(const std::vector<uint32_t> spirv,
                  print_spirv(body, {.local_size = {body.threads, 1, 1},
                                     .order = {0, 1},
                                     .word_count = 1,
                                     .matrices = caps.cooperative_matrix}));
    return probe.build(spirv);
}

}  // namespace

Result<Roof> measure_roof(standalone::Device& device) {
    const bool is_software = device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    // Larger than every cache: the largest L2 of a GPU so far is 128 MB; server CPUs have more, but
    // there the software driver is the limit.
    const VkDeviceSize bytes = VkDeviceSize{is_software ? 64u : 512u} << 20;
    HEARTH_ASSIGN(const Buffer from,
                  Buffer::create(device, bytes, standalone::MemoryKind::kDevice));
    HEARTH_ASSIGN(const Buffer to, Buffer::create(device, bytes, standalone::MemoryKind::kDevice));
    HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
        device.vk().CmdFillBuffer(commands, from.handle(), 0, VK_WHOLE_SIZE, 0x3f000000);  // 0.5f
    }));
    Roof roof;
    Stopwatch stopwatch(device);
    HEARTH_TRY(stopwatch.create(2));
    Probe copy(device), multiply_add(device);
    HEARTH_TRY(copy.build(k_copy));
    HEARTH_TRY(multiply_add.build(k_multiply_add));
    const uint32_t groups = is_software ? 64 : 16384;
    Push push{from.address(), to.address(), static_cast<uint32_t>(bytes / 16), 0.5f};
    HEARTH_ASSIGN(const double kernel_s,
                  best_seconds(stopwatch, device, [&](VkCommandBuffer commands) {
                      copy.record(commands, push, groups);
                  }));
    // A software driver's own copy is faster than any kernel.
    HEARTH_ASSIGN(const double copy_s,
                  best_seconds(stopwatch, device, [&](VkCommandBuffer commands) {
                      const VkBufferCopy region{0, 0, bytes};
                      device.vk().CmdCopyBuffer(commands, from.handle(), to.handle(), 1, &region);
                  }));
    roof.bytes_per_s = 2 * static_cast<double>(bytes) / std::min(kernel_s, copy_s);

    HEARTH_ASSIGN(const double multiply_adds,
                  rounds_per_s(stopwatch, device, multiply_add, push, groups));
    roof.flops_per_s = 32.0 * multiply_adds * groups * 256;
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    if (caps.cooperative_matrix == CooperativeMatrixExt::kNone) return roof;
    Probe matrices(device);
    HEARTH_TRY(build_matrices(matrices, caps));
    HEARTH_ASSIGN(const double products, rounds_per_s(stopwatch, device, matrices, push, groups));
    roof.matrix_flops_per_s = 16.0 * caps.cooperative_matrix_shape.m *
                              caps.cooperative_matrix_shape.n * caps.cooperative_matrix_shape.k *
                              products * groups * kSubgroups;
    return roof;
}

}  // namespace hearth::perf
