// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An activation function written with tensor operators.

#include "data.hpp"
#include "network.hpp"
#include "probe.hpp"
#include "probe_shaders.gen.hpp"

#include <hearth/ops.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

namespace hearth::perf {

namespace {

constexpr int64_t kWidth = 64, kRowsOf64Mb = 262'144;

/// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
Status run_gelu(Bench& bench, Row& row) {
    NetworkRun run{
        .trace = std::make_unique<Trace>("gelu"), .rows = kRowsOf64Mb, .pattern_rows = 64};
    const Tensor x = run.trace->input("x", {kBatch, kWidth});
    run.trace->output("y", x * (erf(x / std::numbers::sqrt2) + 1.0) / 2.0);
    run.inputs = {{"x", random_tensor("x", {run.pattern_rows, kWidth})}};
    row.bytes = 2.0 * sizeof(float) * kWidth * kRowsOf64Mb;
    return run_network(bench, row, run);
}

/// A hand-written version of that kernel (shaders/gelu.comp).
Status run_gelu_by_hand(Bench& bench, Row& row) {
    constexpr uint64_t kBytes = sizeof(float) * kWidth * kRowsOf64Mb;
    constexpr uint32_t kVectors = kBytes / 16, kThreads = 256;
    standalone::Device& device = bench.device();
    using standalone::Buffer, standalone::MemoryKind;
    HEARTH_ASSIGN(const Buffer from, Buffer::create(device, kBytes, MemoryKind::kDevice));
    HEARTH_ASSIGN(const Buffer to, Buffer::create(device, kBytes, MemoryKind::kDevice));
    HEARTH_ASSIGN(Buffer staging, Buffer::create(device, kBytes, MemoryKind::kUpload));
    HEARTH_ASSIGN(Buffer result, Buffer::create(device, kBytes, MemoryKind::kReadback));
    const HostTensor pattern = random_tensor("x", {64, kWidth});
    const HostTensor x = repeat_rows(pattern, kRowsOf64Mb);
    std::memcpy(staging.data(), x.bytes().data(), kBytes);
    const standalone::VulkanApi& vk = device.vk();
    const VkBufferCopy all{0, 0, kBytes};
    HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
        vk.CmdCopyBuffer(commands, staging.handle(), from.handle(), 1, &all);
    }));
    Probe probe(device);
    HEARTH_TRY(probe.build(k_gelu));
    const Push push{from.address(), to.address(), kVectors, 0};
    const Bench::Job job{[&](VkCommandBuffer commands) -> Status {
                             record_full_barrier(vk, commands);
                             probe.record(commands, push, kVectors / kThreads);
                             return {};
                         },
                         [&](const std::function<Status(VkCommandBuffer)>& record) {
                             Status recorded;
                             const Status status = device.run(
                                 [&](VkCommandBuffer commands) { recorded = record(commands); });
                             return status.ok() ? recorded : status;
                         }};
    HEARTH_ASSIGN(const Bench::Sample first, bench.sample(job, 1));
    row.bytes = 2.0 * kBytes;
    row.dispatches = 1;
    HEARTH_TRY(bench.time(job, first, row));
    HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
        record_full_barrier(vk, commands);
        vk.CmdCopyBuffer(commands, to.handle(), result.handle(), 1, &all);
        record_full_barrier(vk, commands);
    }));
    HostTensor y(DType::kF32, x.shape()), expected(DType::kF32, pattern.shape());
    std::memcpy(y.bytes().data(), result.data(), kBytes);
    for (int64_t i = 0; i < pattern.element_count(); ++i) {
        const double v = pattern.get(i);
        expected.set(i, v * (std::erf(v / std::numbers::sqrt2) + 1) / 2);
    }
    const double e = relative_error(y, expected);
    row.note = fmt::format("differs by {:.1e} from double precision", e);
    constexpr double kTolerance = 1e-6;
    return e <= kTolerance ? Status() : internal_error(row.note);
}

constexpr Scene kScenes[] = {
    {"gelu_custom", "x * (erf(x / sqrt 2) + 1) / 2 of 64 MB", run_gelu},
    {"gelu_by_hand", "the same by a kernel written by hand", run_gelu_by_hand},

};

}  // namespace

std::span<const Scene> elementwise_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
