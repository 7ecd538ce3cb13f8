// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operands of kernels that have more of them than are pushed.

#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

// A kernel of more operands than are pushed finds those in the arena itself.  An input that is set
// lies in a buffer of the host's.
TEST(Operands, AnInputThatIsSetIsNoOperandOfTheArena) {
    DeviceCaps caps = baseline_caps();
    caps.device_type = DeviceType::kOther;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    Trace trace("frame");
    Tensor total = trace.constant(0.0);
    for (int i = 0; i < 8; ++i) {
        const Tensor x = trace.input("x" + std::to_string(i), {kBatch});
        total = total + sum(x);
    }
    const Tensor strength = trace.input("strength", {});
    trace.assign(strength, strength + 1.0);
    for (int i = 0; i < 8; ++i) {
        const Tensor state = trace.state("state" + std::to_string(i), {});
        trace.assign(state, state + total);
    }
    const auto compiled = compile({&trace}, {.caps = caps, .max_batch_size = 4});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
}

// Buffers of the application are bound one by one, and the count of rows and both regions with
// them.
TEST(Operands, InputsBeyondThoseOfAKernelAreReadByAnother) {
    for (const BindingModel model : {BindingModel::kDeviceAddress, BindingModel::kDescriptor}) {
        for (int count = 8; count < 34; ++count) {
            Trace trace("act");
            Tensor total = trace.param("p", {3}, Init::zeros());
            for (int i = 0; i < count; ++i)
                total = total + exp(trace.input("x" + std::to_string(i), {kBatch, 3}));
            trace.output("y", total);
            trace.output("half", total * 0.5);
            const auto compiled = compile({&trace}, {.binding_model = model, .max_batch_size = 4});
            EXPECT_TRUE(compiled.ok()) << count << ": " << compiled.status().message();
        }
    }
}

}  // namespace
}  // namespace hearth
