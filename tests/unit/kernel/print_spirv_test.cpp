// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Bodies as SPIR-V.  That modules are valid and compute what bodies say is tested with all programs: by the newest
// validator in tests/replay, on a device in tests/ops and tests/integration.

#include "compiler/kernel/function_writer.hpp"
#include "compiler/print/spirv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace hearth::test {
namespace {

constexpr uint32_t kExtInst = 12, kSpecConstant = 50, kFunction = 54, kDecorate = 71, kFMul = 133,
                   kFDiv = 136, kVectorTimesScalar = 142, kDot = 148;

/// A module's instructions by opcode, each with its words.
std::multimap<uint32_t, std::vector<uint32_t>> instructions_of(std::span<const uint32_t> module) {
    std::multimap<uint32_t, std::vector<uint32_t>> all;
    for (size_t at = 5; at < module.size(); at += module[at] >> 16)
        all.emplace(module[at] & 0xffff,
                    std::vector(module.begin() + static_cast<ptrdiff_t>(at),
                                module.begin() + static_cast<ptrdiff_t>(at + (module[at] >> 16))));
    return all;
}

/// A kernel of two operands, f32: b1[t] is made of b0[t].
struct Rig {
    Body body;
    ScalarArena arena;
    KernelWriter writer{body, arena, {}};
    Expr t, number;
    SpirvOptions options;

    Rig() {
        for (const uint32_t value : {0u, 1u}) (void)body.operand(value, DType::kF32, DType::kF32);
        body.threads = 8;
        options.local_size = {8, 1, 1};
        options.order = {0, 1};
        t = writer.let("t", body.invocation());
        number = writer.let("number", body.load(0, t));
    }
    Result<std::vector<uint32_t>> print() {
        body.statements = writer.take();
        const Status status = verify_body(body);
        return status.ok() ? print_spirv(body, options) : Result<std::vector<uint32_t>>(status);
    }
};

TEST(PrintSpirv, SaysOnceOfEachProductThatItIsNoPartOfASum) {
    Rig rig;
    const Expr four = rig.writer.let("four", rig.body.fill(Chunk::kFour, rig.number));
    const Expr scaled = rig.writer.let("scaled", rig.body.scale(four, rig.number));
    const Expr sum = rig.number * rig.number + rig.number / rig.body.dot(four, scaled);
    rig.writer.store(1, rig.t, rig.body.multiply_add(sum, rig.number, rig.number));
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    std::multiset<uint32_t> products, decorated;
    for (const auto& [op, words] : instructions_of(*module)) {
        constexpr uint32_t kNoContraction = 42, kFma = 50;
        if (op == kDecorate && words[2] == kNoContraction) decorated.insert(words[1]);
        if (op == kFMul || op == kFDiv || op == kVectorTimesScalar || op == kDot ||
            (op == kExtInst && words[4] == kFma))
            products.insert(words[2]);
    }
    EXPECT_EQ(products.size(), 5u);
    EXPECT_EQ(decorated, products);
}

TEST(PrintSpirv, MultipliesPairsOfHalvesByOneInstructionWhereTheDeviceHasIt) {
    constexpr uint32_t kCapability = 17, kFDot2MixAcc32 = 6916, kDotProductFloat16AccFloat32 = 6912;
    for (const bool has_dot_halves : {true, false}) {
        Rig rig;
        rig.options.has_dot_halves = has_dot_halves;
        const Expr word = rig.body.operation(ScalarOp::kBitsToU32, rig.number);
        rig.writer.store(1, rig.t, rig.body.dot_halves(word, word, rig.number));
        const auto module = rig.print();
        ASSERT_TRUE(module.ok()) << module.status().message();
        const auto instructions = instructions_of(*module);
        EXPECT_EQ(instructions.count(kFDot2MixAcc32), has_dot_halves ? 1u : 0u);
        // Otherwise two are unpacked, and two products added.
        EXPECT_EQ(instructions.count(kExtInst), has_dot_halves ? 0u : 4u);
        std::set<uint32_t> capabilities;
        for (const auto& [op, words] : instructions)
            if (op == kCapability) capabilities.insert(words[1]);
        EXPECT_EQ(capabilities.count(kDotProductFloat16AccFloat32), has_dot_halves ? 1u : 0u);
    }
}

TEST(PrintSpirv, LetsDevicesThatMultiplyPairsOfHalvesRoundToNearestEven) {
    constexpr uint32_t kExecutionMode = 16, kRoundingModeRte = 4462, kFConvert = 115;
    for (const bool has_dot_halves : {true, false}) {
        Rig rig;
        rig.options.has_dot_halves = has_dot_halves;
        rig.writer.store(1, rig.t, rig.body.operation(ScalarOp::kRoundF16, rig.number));
        const auto module = rig.print();
        ASSERT_TRUE(module.ok()) << module.status().message();
        size_t modes = 0;
        for (const auto& [op, words] : instructions_of(*module))
            if (op == kExecutionMode && words.size() > 3 && words[2] == kRoundingModeRte)
                modes += words[3] == 16;
        EXPECT_EQ(modes, has_dot_halves ? 1u : 0u);
        EXPECT_EQ(instructions_of(*module).count(kFConvert), has_dot_halves ? 2u : 0u);
    }
}

TEST(PrintSpirv, PrintsFunctionsThatAreCalledAndNoOthers) {
    Rig rig;
    for (const char* name : {"twice", "nobody"}) {
        FunctionWriter f(rig.body, rig.arena, {}, name);
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        f.finish_with(x + x);
    }
    rig.writer.store(1, rig.t, rig.body.call(0, rig.number));
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(instructions_of(*module).count(kFunction), 2u);  // with main()
}

/// A function takes the buffer of which it gives an element.
void pass_a_buffer(Rig& rig) {
    FunctionWriter f(rig.body, rig.arena, {}, "element_of");
    const Expr buffer =
        rig.body.new_buffer("from", BufferKind::kParameter, DType::kF32, DType::kF32);
    const Expr at = rig.body.new_local("at", LocalKind::kParameter, ScalarType::kI32);
    f.writer.leave(rig.body.load(static_cast<uint32_t>(buffer.node().bits), at));
    rig.body.functions.push_back({.name = "element_of",
                                  .has_result = true,
                                  .result = ScalarType::kF32,
                                  .result_chunk = Chunk::kOne,
                                  .parameters = {buffer.id, at.id},
                                  .statements = f.writer.take()});
    const Expr arguments[] = {rig.body.buffer(0), rig.t};
    rig.writer.store(1, rig.t, rig.body.call(0, arguments));
}

TEST(PrintSpirv, PassesBuffersAsAddresses) {
    Rig rig;
    pass_a_buffer(rig);
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(instructions_of(*module).count(kSpecConstant), 0u);
}

TEST(PrintSpirv, PassesBuffersThatAreDescriptorsAsPlacesInARegion) {
    Rig rig;
    rig.options.binding_model = BindingModel::kDescriptor;
    rig.options.located_count = 1;
    pass_a_buffer(rig);
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    const auto instructions = instructions_of(*module);
    EXPECT_EQ(instructions.count(kSpecConstant), 1u);
    std::set<uint32_t> bindings;
    for (const auto& [op, words] : instructions)
        if (op == kDecorate && words[2] == 33) bindings.insert(words[3]);
    EXPECT_EQ(bindings, (std::set<uint32_t>{0, 1, 2}));  // the regions, and b1
}

TEST(PrintSpirv, ConvertsNarrowElementsWithinTheBranchOfTheirRegion) {
    Rig rig;
    rig.options.binding_model = BindingModel::kDescriptor;
    rig.options.located_count = 1;
    rig.body.buffers[0].dtype = rig.body.buffers[0].held = DType::kF16;
    rig.writer.store(1, rig.t, rig.body.load(0, rig.t));
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    constexpr uint32_t kTypeFloat = 22, kPhi = 245;
    const auto instructions = instructions_of(*module);
    std::map<uint32_t, uint32_t> bits;
    for (const auto& [op, words] : instructions)
        if (op == kTypeFloat) bits[words[1]] = words[2];
    ASSERT_GT(instructions.count(kPhi), 0u);
    for (const auto& [op, words] : instructions) EXPECT_TRUE(op != kPhi || bits[words[1]] == 32);
}

TEST(PrintSpirv, RefusesToPassADescriptor) {
    Rig rig;
    rig.options.binding_model = BindingModel::kDescriptor;
    pass_a_buffer(rig);
    const auto module = rig.print();
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.status().message(),
              "the SPIR-V printer does not support a descriptor that is passed to a function");
}

TEST(PrintSpirv, ChangesCountersByTheOperationOfTheLoop) {
    constexpr uint32_t kIMul = 132, kSDiv = 135;
    for (const auto& [op, instruction] :
         {std::pair{ScalarOp::kMul, kIMul}, std::pair{ScalarOp::kDiv, kSDiv}}) {
        Rig rig;
        const auto goes_on = [&](Expr i) { return op == ScalarOp::kMul ? i < 64 : i > 0; };
        const Expr i = rig.writer.for_("i", rig.body.index(8), goes_on, rig.body.index(2), op);
        rig.writer.store(1, rig.t, rig.body.as(ScalarType::kF32, i));
        rig.writer.end();
        const auto module = rig.print();
        ASSERT_TRUE(module.ok()) << module.status().message();
        EXPECT_EQ(instructions_of(*module).count(instruction), 1u);
    }
}

TEST(PrintSpirv, ReadsWordsBehindTheAddresses) {
    Rig rig;
    rig.options.word_count = 2;
    rig.writer.store(1, rig.t, rig.body.as(ScalarType::kF32, rig.body.pushed_word(1)));
    const auto module = rig.print();
    ASSERT_TRUE(module.ok()) << module.status().message();
    std::set<uint32_t> offsets;
    constexpr uint32_t kMemberDecorate = 72, kOffset = 35;
    for (const auto& [op, words] : instructions_of(*module))
        if (op == kMemberDecorate && words[3] == kOffset) offsets.insert(words[4]);
    EXPECT_EQ(offsets, (std::set<uint32_t>{0, 8, 16, 20}));
}

TEST(PrintSpirv, RefusesVectorRegistersOfCpus) {
    Rig rig;
    (void)rig.writer.declare_lanes("lanes", 8, rig.number);
    const auto module = rig.print();
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.status().message(),
              "the SPIR-V printer does not support vector registers of CPUs");
}

}  // namespace
}  // namespace hearth::test
