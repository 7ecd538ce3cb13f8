// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scratch memory of a training step, beside what it must keep: activations, their gradients and one
// gradient of each weight.

#include "compiler/driver/compile.hpp"

#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {
namespace {

uint64_t scratch_bytes(int64_t rows, int64_t width, const DeviceCaps& caps) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {rows, width}), y = trace.input("y", {rows, width});
    const Tensor loss = mse_loss(nn::mlp(trace, "net", x, {width, width, width}, relu), y);
    minimize(loss, trace.params(), AdamOptions{});
    trace.output("loss", loss);
    const auto compiled = compile_graphs({trace.build().value()}, {.caps = caps});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? compiled->program.arena_bytes : UINT64_MAX;
}

TEST(ScratchMemory, OfATrainingStepIsWhatItMustKeep) {
    DeviceCaps larger = baseline_caps();
    larger.max_compute_shared_memory_size = 49152;
    larger.max_compute_work_group_invocations = 1024;
    constexpr uint64_t kLittle = 2'000'000;  // may be parts of gradients, which save a dispatch
    for (const DeviceCaps& caps : {baseline_caps(), larger})
        for (const int64_t rows : {32, 256, 1024})
            for (const int64_t width : {64, 128, 256, 512, 1024}) {
                const int64_t activations = 3 * rows * width, weights = 3 * width * width;
                const auto kept = static_cast<uint64_t>(4 * (2 * activations + weights));
                const uint64_t found = scratch_bytes(rows, width, caps);
                EXPECT_LE(found, std::max(kLittle, kept + kept / 2)) << rows << " x " << width;
            }
}

}  // namespace
}  // namespace hearth::test
