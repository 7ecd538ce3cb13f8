// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Chunks: elements that follow each other, as one value.

#include "compiler/kernel/function_writer.hpp"
#include "compiler/print/c.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/reference/run_kernel.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

/// A kernel of one invocation with operands of f32: 0 is read, 1 is written.
class ChunkKernel {
  public:
    Body body;
    ScalarArena arena;
    KernelWriter writer{body, arena, {}};
    uint32_t from, to;

    explicit ChunkKernel(DType dtype = DType::kF32)
        : from(body.operand(0, dtype, dtype)), to(body.operand(1, DType::kF32, DType::kF32)) {}

    Expr index(int64_t i) { return body.index(i); }

    /// Runs it on 8 elements 0, 1, ... (words: of `bits`); what it leaves in operand 1, or its
    /// error.
    Result<HostTensor> run(std::span<const uint32_t> bits = {}) {
        body.statements = writer.take();
        const DType dtype = body.buffers[from].dtype;
        HostTensor in(dtype, {8});
        for (int64_t i = 0; i < 8; ++i)
            if (dtype == DType::kU32)
                in.set_int(
                    i, i < static_cast<int64_t>(bits.size()) ? bits[static_cast<size_t>(i)] : 0);
            else
                in.set(i, static_cast<double>(i));
        std::vector<OperandMemory> operands{OperandMemory::full(in),
                                            OperandMemory::empty(DType::kF32, {8})};
        HEARTH_TRY(run_kernel(body, {"chunks", 1, 1}, operands));
        return operands[1].tensor;
    }
};

TEST(Chunk, FourAreLoadedAndStoredAtOnce) {
    ChunkKernel k;
    const Expr four = k.writer.let("four", k.body.load_chunk(Chunk::kFour, k.from, k.index(4)));
    k.writer.store_elements(k.to, k.index(0), {&four, 1});
    const auto left = k.run();
    ASSERT_TRUE(left.ok()) << left.status().message();
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(left->get(i), static_cast<double>(4 + i));
    EXPECT_EQ(print_glsl(k.body),
              "void main() {\n"
              "    const vec4 four = vec4(b0.at[4], b0.at[4 + 1], b0.at[4 + 2], b0.at[4 + 3]);\n"
              "    const vec4 chunk0 = four;\n"
              "    b1.at[0 + 0] = chunk0[0];\n"
              "    b1.at[0 + 1] = chunk0[1];\n"
              "    b1.at[0 + 2] = chunk0[2];\n"
              "    b1.at[0 + 3] = chunk0[3];\n"
              "}\n");
}

TEST(Chunk, ThatBeginsBetweenTwoIsReported) {
    ChunkKernel k;
    const Expr four = k.writer.let("four", k.body.load_chunk(Chunk::kFour, k.from, k.index(2)));
    k.writer.store_elements(k.to, k.index(0), {&four, 1});
    const auto left = k.run();
    ASSERT_FALSE(left.ok());
    EXPECT_EQ(left.status().message(),
              "chunks, main, workgroup 0, invocation 0: a chunk of 4 at element 2");
}

TEST(Chunk, LanesAreSetOneByOne) {
    ChunkKernel k;
    const Expr four = k.writer.declare_chunk("four", Chunk::kFour);
    const Expr i = k.writer.unrolled_for_("i", 4);
    k.writer.assign(k.body.chunk_element(four, i), k.body.load(k.from, k.index(7) - i));
    k.writer.end();
    for (int64_t lane = 0; lane < 4; ++lane)
        k.writer.store(k.to, k.index(lane), k.body.chunk_element(four, k.index(lane)));
    const auto left = k.run();
    ASSERT_TRUE(left.ok()) << left.status().message();
    for (int64_t lane = 0; lane < 4; ++lane)
        EXPECT_EQ(left->get(lane), static_cast<double>(7 - lane));
}

TEST(Chunk, ALaneThatNothingSetIsReported) {
    ChunkKernel k;
    const Expr four = k.writer.declare_chunk("four", Chunk::kFour);
    k.writer.assign(k.body.chunk_element(four, k.index(0)), k.body.constant(1, ScalarType::kF32));
    k.writer.store_elements(k.to, k.index(0), {&four, 1});
    const auto left = k.run();
    ASSERT_FALSE(left.ok());
    EXPECT_EQ(left.status().message(),
              "chunks, main, workgroup 0, invocation 0: reads four[1], which "
              "nothing has written");
}

TEST(Chunk, FourWordsAreLoadedAtOnce) {
    ChunkKernel k(DType::kU32);
    const Expr words = k.writer.let("words", k.body.load_chunk(Chunk::kFour, k.from, k.index(4)));
    for (int64_t i = 0; i < 4; ++i)
        k.writer.store(k.to, k.index(i),
                       k.body.as(ScalarType::kF32, k.body.chunk_element(words, k.index(i))));
    const std::vector<uint32_t> bits{0, 0, 0, 0, 7, 6, 5, 4};
    const auto left = k.run(bits);
    ASSERT_TRUE(left.ok()) << left.status().message();
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(left->get(i), static_cast<double>(7 - i));
}

TEST(Chunk, HalvesAreRounded) {
    ChunkKernel k;
    const Expr third = k.body.constant(1.0 / 3, ScalarType::kF32);
    const Expr four = k.body.fill(Chunk::kFour, third);
    const Expr halves = k.writer.let("halves", k.body.join(Chunk::kHalves, four, four));
    const Expr back = k.body.part(halves, 1);
    k.writer.store_elements(k.to, k.index(0), {&back, 1});
    const auto left = k.run();
    ASSERT_TRUE(left.ok()) << left.status().message();
    EXPECT_EQ(left->get(3), 0.333251953125);  // the nearest f16
}

TEST(Chunk, PairsOfHalvesAreMultipliedAndAddedInF32) {
    ChunkKernel k;
    const Expr pair = k.body.constant(0x4800c000, ScalarType::kU32);   // -2 and 8
    const Expr other = k.body.constant(0x00017800, ScalarType::kU32);  // 32768 and 2^-24
    const Expr sum = k.body.constant(0.5, ScalarType::kF32);
    k.writer.store(k.to, k.index(0), k.body.dot_halves(pair, other, sum));
    const auto left = k.run();
    ASSERT_TRUE(left.ok()) << left.status().message();
    EXPECT_EQ(left->get(0), -65535.5);  // of which f16 has nothing: 65504 is its largest number
}

TEST(Chunk, OfAnotherKindIsNoResult) {
    ChunkKernel k;
    FunctionWriter f(k.body, k.arena, {}, "two");
    const Expr i = f.add_parameter("i", ScalarType::kI32);
    (void)f.finish_with(k.body.load_chunk(Chunk::kFour, k.from, i));
    k.body.functions[0].result_chunk = Chunk::kThree;
    k.body.statements = k.writer.take();
    const Status status = verify_body(k.body);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "two, return: the result is four, not three");
}

TEST(Chunk, ParametersCarryResultsToTheCaller) {
    ChunkKernel k;
    FunctionWriter f(k.body, k.arena, {}, "both");
    const Expr i = f.add_parameter("i", ScalarType::kI32);
    const Expr twice = f.add_result("twice", ScalarType::kF32);
    f.writer.assign(twice, k.body.load(k.from, i) + k.body.load(k.from, i));
    const uint32_t both = f.finish_with(k.body.load(k.from, i));
    const Expr second = k.writer.declare("second", ScalarType::kF32);
    const Expr arguments[] = {k.index(3), second};
    const Expr once = k.writer.let_call("once", both, arguments);
    k.writer.store(k.to, k.index(0), once);
    k.writer.store(k.to, k.index(1), second);
    const auto left = k.run();
    ASSERT_TRUE(left.ok()) << left.status().message();
    EXPECT_EQ(left->get(0), 3);
    EXPECT_EQ(left->get(1), 6);
    EXPECT_NE(print_glsl(k.body).find("float both(int i, out float twice) {"), std::string::npos);
    const auto c = print_c(k.body, "kernel");
    ASSERT_TRUE(c.ok()) << c.status().message();
    EXPECT_NE(c->find("kernel_both(group, invocation, 3, &second_)"), std::string::npos) << *c;
}

TEST(Chunk, OfFourIsAStructureInC) {
    ChunkKernel k;
    const Expr four = k.writer.let("four", k.body.load_chunk(Chunk::kFour, k.from, k.index(4)));
    k.writer.store_elements(k.to, k.index(0), {&four, 1});
    k.body.statements = k.writer.take();
    const auto c = print_c(k.body, "kernel");
    ASSERT_TRUE(c.ok()) << c.status().message();
    EXPECT_NE(c->find("hearth_four four_ = hearth_load_four("), std::string::npos) << *c;
}

}  // namespace
}  // namespace hearth::test
