// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Every kernel that is a body, of every operator's samples, executed on the CPU: it gives what the
// interpreter gives, without races, stray accesses and reads of nothing.  No device, no GLSL.

#include "codegen/lower.hpp"
#include "cpu/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "passes/pass.hpp"
#include "reference/run_kernel.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

/// What each value of a graph holds, as the interpreter says; none for what a graph's updates replace.
Result<std::vector<HostTensor>> all_values(const Graph& graph, const Variant& variant) {
    Graph open = graph;
    open.outputs.clear();
    open.updates.clear();
    for (ValueId v = 0; v < graph.values.size(); ++v)
        open.outputs.push_back({"v" + std::to_string(v), v});
    std::vector<HostTensor> inputs;
    for (ValueId v : graph.inputs) inputs.push_back(variant.inputs.at(graph.values[v].name));
    return evaluate(open, inputs, variant.rows);
}

bool writes_in_place(const KernelCall& call) {
    return std::any_of(call.operands.begin(), call.operands.end(), [&](const CallOperand& o) {
        return o.value != kNoValue && o.access == Access::kReadWrite;
    });
}

/// Runs the kernels of a variant that are bodies; returns how many they are.
int run_bodies(const OpDef& op, const Variant& variant, const DeviceCaps& caps, double tolerance) {
    const auto capacity = static_cast<uint64_t>(variant.rows) + 5;
    const auto graph = run_passes(variant.graph, {.rows_capacity = capacity, .caps = caps});
    EXPECT_TRUE(graph.ok()) << variant.text << ": " << graph.status().message();
    if (!graph.ok()) return 0;
    LowerOptions options;
    options.caps = caps;
    options.rows_capacity = capacity;
    options.row_programs = false;
    options.compile_kernels = false;
    const auto lowered = lower({&*graph, 1}, options);
    EXPECT_TRUE(lowered.ok()) << variant.text << ": " << lowered.status().message();
    const auto values = all_values(*graph, variant);
    EXPECT_TRUE(values.ok()) << variant.text << ": " << values.status().message();
    if (!lowered.ok() || !values.ok()) return 0;
    int count = 0;
    for (const KernelCall& call : lowered->entries[0].calls) {
        if (call.body == nullptr || writes_in_place(call)) continue;
        std::vector<OperandMemory> memory;
        std::vector<ValueId> stored;
        for (const CallOperand& o : call.operands)
            if (o.value != kNoValue && o.access == Access::kWrite) stored.push_back(o.value);
        std::vector<ValueId> operands;
        for (const BodyBuffer& b : call.body->buffers) {
            if (b.kind != BufferKind::kOperand) continue;
            operands.push_back(b.value);
            const HostTensor& contents = (*values)[b.value];
            const bool is_stored = std::find(stored.begin(), stored.end(), b.value) != stored.end();
            memory.push_back(is_stored ? OperandMemory::empty(b.dtype, contents.shape())
                                       : OperandMemory::full(contents));
        }
        const std::string label = variant.text + ", kernel " + call.label;
        const KernelLaunch launch{label, call.grid[0].groups(static_cast<uint64_t>(variant.rows)),
                                  variant.rows};
        const Status status = run_kernel(*call.body, launch, memory);
        EXPECT_TRUE(status.ok()) << status.message();
        if (!status.ok()) continue;
        ++count;
        for (size_t i = 0; i < operands.size(); ++i) {
            if (std::find(stored.begin(), stored.end(), operands[i]) == stored.end()) continue;
            const auto missing =
                std::find(memory[i].is_written.begin(), memory[i].is_written.end(), false);
            EXPECT_EQ(missing - memory[i].is_written.begin(),
                      static_cast<std::ptrdiff_t>(memory[i].is_written.size()))
                << label << ": does not write all of value " << operands[i];
            EXPECT_EQ(difference(memory[i].tensor, (*values)[operands[i]], tolerance), "")
                << op.name << ", " << label << ": value " << operands[i];
        }
    }
    return count;
}

DeviceCaps gpu_caps() {
    DeviceCaps caps;
    caps.subgroup_size = 32;
    caps.fp16_arithmetic = caps.fp16_storage = caps.int8_storage = true;
    return caps;
}

DeviceCaps cpu_caps() {
    DeviceCaps caps = gpu_caps();
    caps.subgroup_size = 8;
    return caps;
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
    for (const DeviceCaps& caps : {gpu_caps(), cpu_caps()}) {
        for (const Variant& v : *variants) count += run_bodies(op, v, caps, op.tolerance.f32);
        for (const Variant& v : *narrow) count += run_bodies(op, v, caps, op.tolerance.f16);
    }
    RecordProperty("kernels", count);
}

INSTANTIATE_TEST_SUITE_P(Of, OpBodies, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
