// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Every kernel that is a body, of every operator's samples, executed on the CPU: it gives what the
// interpreter gives, without races, stray accesses and reads of nothing.  No device, no GLSL.

#include "compiler/ir/custom_kernel.hpp"
#include "compiler/ops/kernels/attention_tiles.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {
namespace {

/// Whether the operator's kernels are bodies, by its record.
bool is_a_body(const OpDef& op, const Variant& variant, const DeviceCaps& caps) {
    const std::vector<Node>& nodes = variant.graph.nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) {
        if (n.op != &op || op.writes_in_place) return false;
        if (op.traits.attention != AttentionPass::kNone)
            return !attention_tiles(variant.graph, n, caps, 64).empty();
        if (op.traits.walk != WindowWalk::kNone)
            return GruWalk::of_kernel(variant.graph, n, caps, 64).has_value();
        if (op.traits.is_convolution)
            return !conv_tiles(NodeContext(variant.graph, n, caps, 64).context).empty();
        return has_body(variant.graph, n, caps, 64);
    });
}

/// Runs the kernels of a variant that are bodies; returns how many they are.
int run_bodies(const OpDef& op, const Variant& variant, const DeviceCaps& caps, double tolerance) {
    int count = 0;
    bool has_own = !is_a_body(op, variant, caps);
    for (OpKernel& kernel : kernels_of(variant, caps)) {
        const Status status = run_kernel(*kernel.body, kernel.launch, kernel.operands);
        EXPECT_TRUE(status.ok()) << status.message();
        if (!status.ok()) continue;
        ++count;
        has_own |= kernel.launch.label.find(op.name, variant.text.size()) != std::string::npos;
        for (const auto& [index, expected] : kernel.expected) {
            const OperandMemory& found = kernel.operands[index];
            const auto missing = std::find(found.is_written.begin(), found.is_written.end(), false);
            EXPECT_EQ(missing - found.is_written.begin(),
                      static_cast<std::ptrdiff_t>(found.is_written.size()))
                << kernel.launch.label << ": does not write all of operand " << index;
            EXPECT_EQ(difference(found.tensor, expected, tolerance), "")
                << op.name << ", " << kernel.launch.label << ": operand " << index;
        }
    }
    EXPECT_TRUE(has_own) << variant.text << ": no kernel of the operator was executed";
    return count;
}

class OpBodies : public testing::TestWithParam<const OpDef*> {};

TEST_P(OpBodies, GiveWhatTheInterpreterGivesWithoutFaults) {
    const OpDef& op = *GetParam();
    auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    if (variants->empty()) GTEST_SKIP() << op.name << " has only samples of types no GPU holds";
    auto narrow = narrow_variants_of(op, DType::kF16);
    ASSERT_TRUE(narrow.ok()) << narrow.status().message();
    int count = 0;
    const bool is_glsl_alone = op.op_class == OpClass::kKernel && op.decompose == nullptr &&
                               !is_a_body(op, variants->front(), cpu_caps(CpuIsa::kX86_64V3));
    for (const DeviceCaps& caps : {gpu_caps(), cpu_caps(), cpu_caps(CpuIsa::kX86_64V3)}) {
        if (caps.cpu_isa != CpuIsa::kNone && is_glsl_alone) continue;
        for (const Variant& v : *variants) count += run_bodies(op, v, caps, op.tolerance.f32);
        for (const Variant& v : *narrow) count += run_bodies(op, v, caps, op.tolerance.f16);
    }
    if (count == 0) GTEST_SKIP() << op.name << " has no kernel that is a body";
}

INSTANTIATE_TEST_SUITE_P(Of, OpBodies, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
