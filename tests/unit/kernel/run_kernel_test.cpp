// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Faults that devices keep quiet about, planted in kernels and found.

#include "compiler/reference/run_kernel.hpp"

#include "compiler/kernel/writer.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

constexpr uint32_t kThreads = 8;

/// A kernel of 8 invocations that reads b0 and writes b1, f32.
struct Rig {
    Body body;
    ScalarArena arena;
    KernelWriter writer{body, arena, {}};
    Expr thread;
    Shape in{kThreads}, out{kThreads};
    uint32_t workgroups = 1;

    Rig() {
        body.threads = kThreads;
        for (const uint32_t value : {0u, 1u}) (void)body.operand(value, DType::kF32, DType::kF32);
        thread = writer.let("thread", body.invocation());
    }

    Expr shared() { return body.global("scratch", LocalKind::kShared, ScalarType::kF32, kThreads); }
    Expr one() { return body.constant(1, ScalarType::kF32); }

    Status run(std::vector<double>* results = nullptr) {
        body.statements = writer.take();
        HostTensor numbers(DType::kF32, in);
        for (int64_t i = 0; i < numbers.element_count(); ++i)
            numbers.set(i, static_cast<double>(i + 1));
        std::vector<OperandMemory> memory{OperandMemory::full(std::move(numbers)),
                                          OperandMemory::empty(DType::kF32, out)};
        const Status status = run_kernel(body, {"planted", workgroups, 1}, memory);
        for (int64_t i = 0; results != nullptr && i < memory[1].tensor.element_count(); ++i)
            results->push_back(memory[1].tensor.get(i));
        return status;
    }

    void expect_fault(const std::string& what) {
        const Status status = run();
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.message().find("planted, "), std::string::npos) << status.message();
        EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
    }
};

TEST(RunKernel, SumsThroughSharedMemoryWithBarriers) {
    Rig rig;
    const Expr scratch = rig.shared(), mine = rig.body.element(scratch, rig.thread);
    rig.writer.assign(mine, rig.body.load(0, rig.thread));
    rig.writer.barrier();
    const Expr width = rig.writer.for_(
        "width", rig.body.index(kThreads / 2), [](Expr w) { return w > 0; }, rig.body.index(2),
        ScalarOp::kDiv);
    rig.writer.if_(rig.thread < width);
    rig.writer.assign(mine, mine + rig.body.element(scratch, rig.thread + width));
    rig.writer.end();
    rig.writer.barrier();
    rig.writer.end();
    rig.writer.store(1, rig.thread, rig.body.element(scratch, rig.body.index(0)));
    std::vector<double> results;
    const Status status = rig.run(&results);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(results, std::vector<double>(kThreads, 36));
}

TEST(RunKernel, FindsAMissingBarrierAsARace) {
    Rig rig;
    const Expr scratch = rig.shared();
    rig.writer.assign(rig.body.element(scratch, rig.thread), rig.one());
    rig.writer.store(1, rig.thread,
                     rig.body.element(scratch, rig.body.index(kThreads - 1) - rig.thread));
    rig.expect_fault("a race: reads scratch[7]");
}

TEST(RunKernel, FindsTwoWritersOfASharedElement) {
    Rig rig;
    rig.writer.assign(rig.body.element(rig.shared(), rig.body.index(3)), rig.one());
    rig.expect_fault("invocation 1: a race: writes scratch[3]");
}

TEST(RunKernel, FindsTwoWritersOfABufferElement) {
    Rig rig;
    rig.writer.store(1, rig.thread / 2, rig.one());
    rig.expect_fault("a race: writes b1[0]");
}

TEST(RunKernel, FindsWorkgroupsThatWriteTheSameElement) {
    Rig rig;
    rig.workgroups = 2;
    rig.writer.store(1, rig.thread, rig.one());
    rig.expect_fault("workgroup 1, invocation 0: a race: writes b1[0]");
}

TEST(RunKernel, FindsALoadOutOfBounds) {
    Rig rig;
    rig.writer.store(1, rig.thread, rig.body.load(0, rig.thread + 1));
    rig.expect_fault("invocation 7: loads element 8 of b0, which has 8");
}

TEST(RunKernel, FindsAStoreOutOfBounds) {
    Rig rig;
    rig.writer.store(1, rig.thread - 1, rig.one());
    rig.expect_fault("invocation 0: stores element -1 of b1, which has 8");
}

TEST(RunKernel, FindsAnIndexBeyondSharedMemory) {
    Rig rig;
    rig.writer.assign(rig.body.element(rig.shared(), rig.thread * 2), rig.one());
    rig.expect_fault("element 8 of scratch, which has 8");
}

TEST(RunKernel, FindsReadsOfWhatNothingHasWritten) {
    Rig variable;
    const Expr x = variable.writer.declare("x", ScalarType::kF32);
    variable.writer.store(1, variable.thread, x);
    variable.expect_fault("reads x[0], which nothing has written");
    Rig shared;
    shared.writer.if_(shared.thread < 4);
    shared.writer.assign(shared.body.element(shared.shared(), shared.thread), shared.one());
    shared.writer.end();
    shared.writer.barrier();
    shared.writer.store(1, shared.thread, shared.body.element(shared.shared(), shared.thread));
    shared.expect_fault("invocation 4: reads scratch[4], which nothing has written");
    Rig buffer;
    buffer.writer.store(1, buffer.thread, buffer.body.load(1, buffer.thread));
    buffer.expect_fault("reads b1[0], which nothing has written");
}

TEST(RunKernel, FindsAVectorThatIsNotAligned) {
    Rig rig;
    rig.in = rig.out = Shape{2 * kThreads};
    const Expr four = rig.writer.load_vector("four", 0, rig.thread, 4);
    rig.writer.store(1, rig.thread, rig.body.element(four, rig.body.index(0)));
    rig.expect_fault("invocation 1: a vector of 4 at element 1");
}

TEST(RunKernel, FindsAConversionThatDoesNotFit) {
    Rig rig;
    const Expr large = rig.body.load(0, rig.thread) * rig.body.constant(1e9, ScalarType::kF32);
    const Expr whole = rig.body.add({.kind = ExprKind::kFitting,
                                     .type = ScalarType::kI32,
                                     .op = ScalarOp::kToI32,
                                     .in = {large.id, 0, 0}});
    rig.writer.store(1, rig.thread, rig.body.operation(ScalarOp::kToF32, whole));
    rig.expect_fault("invocation 2: converts 3000000000");
}

TEST(RunKernel, RefusesOperandsThatAreNotTheBodys) {
    Rig rig;
    rig.body.statements = rig.writer.take();
    std::vector<OperandMemory> memory{OperandMemory::empty(DType::kF32, Shape{1})};
    EXPECT_EQ(run_kernel(rig.body, {"planted", 1, 1}, memory).message(),
              "planted: has 1 operands, not 2");
    memory.push_back(OperandMemory::empty(DType::kI32, Shape{1}));
    EXPECT_EQ(run_kernel(rig.body, {"planted", 1, 1}, memory).message(),
              "planted: operand 1 is i32, not f32");
}

/// The proof finds divergent barriers before anything runs.
TEST(RunKernel, RefusesABarrierThatNotAllComeTo) {
    Rig branch;
    branch.writer.if_(branch.thread < 4);
    branch.writer.barrier();
    branch.writer.end();
    const Status status = branch.run();
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find("a barrier where not all invocations need come by"),
              std::string::npos)
        << status.message();
}

}  // namespace
}  // namespace hearth::test
