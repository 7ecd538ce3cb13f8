// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {
namespace {

/// A kernel with operands b0 (f32), b1 (f32) and b2 (f16).
Body make(const std::function<void(KernelWriter&, Body&)>& write) {
    Body body;
    ScalarArena arena;
    (void)body.operand(10, DType::kF32, DType::kF32);
    (void)body.operand(11, DType::kF32, DType::kF32);
    (void)body.operand(12, DType::kF16, DType::kF16);
    body.threads = 64;
    KernelWriter writer(body, arena, {});
    write(writer, body);
    body.statements = writer.take();
    return body;
}

/// b1[i + offset] = b0[i]
Body copy_kernel(uint32_t from, int64_t offset, const std::string& name) {
    return make([&](KernelWriter& w, Body& b) {
        const Expr i = w.let(name, b.invocation());
        w.store(1, i + offset, b.load(from, i));
    });
}

std::string fault_of(const std::function<void(KernelWriter&, Body&)>& write) {
    const Status status = verify_body(make(write));
    return status.ok() ? "" : status.message();
}

TEST(Body, IsPrintedAsGlsl) {
    const Body body = make([](KernelWriter& w, Body& b) {
        const Expr i = w.let("i", b.workgroup() * 64 + b.invocation());
        w.if_(i >= b.rows());
        w.leave();
        w.end();
        w.store(2, i, select(i == 0, b.load(0, i), b.constant(2, ScalarType::kF32)));
    });
    EXPECT_EQ(verify_body(body).message(), "");
    EXPECT_EQ(print_glsl(body),
              "void main() {\n"
              "    const int i = (int(gl_WorkGroupID.x) * 64) + int(gl_LocalInvocationID.x);\n"
              "    if (i >= rows) {\n"
              "        return;\n"
              "    }\n"
              "    b2.at[i] = float16_t(hearth_round_f16(((i == 0) ? b0.at[i] : 2.0)));\n"
              "}\n");
    const BodyRequirements needs = body_requirements(body);
    EXPECT_TRUE(needs.rows && needs.rounding);
    EXPECT_FALSE(needs.barriers || needs.random || needs.functions);
}

TEST(Body, RequiresWhatItUsesAndNoMore) {
    const Body body = make([](KernelWriter& w, Body& b) {
        const Expr scratch = b.global("scratch", LocalKind::kShared, ScalarType::kF32, 64);
        const Expr four = w.load_vector("four", 0, b.invocation() * 4, 4);
        const Expr lane = w.unrolled_for_("lane", 4);
        w.assign(b.element(scratch, b.invocation()),
                 b.operation(ScalarOp::kTanh, b.element(four, lane)));
        w.end();
        w.barrier();
    });
    const BodyRequirements needs = body_requirements(body);
    EXPECT_TRUE(needs.barriers && needs.functions);
    EXPECT_FALSE(needs.rows || needs.rounding || needs.random);
    EXPECT_EQ(needs.shared_bytes, 256u);
}

TEST(Body, IsEqualToOneWithOtherNamesAndNoOther) {
    const uint64_t hash = structural_hash(copy_kernel(0, 1, "i"));
    EXPECT_EQ(structural_hash(copy_kernel(0, 1, "other")), hash);
    EXPECT_NE(structural_hash(copy_kernel(0, 2, "i")), hash);
    EXPECT_NE(structural_hash(copy_kernel(1, 1, "i")), hash);
}

TEST(Body, HasHolesForBuffersOfFloatsAndWholeNumbers) {
    const auto outline = [](const Body& body) {
        Body copy = body;
        const Expr group = copy.new_local("group", LocalKind::kParameter, ScalarType::kI32);
        return outline_of(copy, copy.statements, group);
    };
    const BodyOutline a = outline(copy_kernel(0, 1, "i")), b = outline(copy_kernel(0, 7, "e"));
    EXPECT_EQ(a.structure, b.structure);
    ASSERT_EQ(a.holes.size(), 3u);  // b1, the offset, b0: in reading order
    EXPECT_EQ(a.holes[0], (BodyOutline::Hole{true, 1}));
    EXPECT_EQ(b.holes[1], (BodyOutline::Hole{false, 7}));
    EXPECT_EQ(a.holes[2], (BodyOutline::Hole{true, 0}));
    // The same buffer twice is another structure than two, and an f16 is no float in memory.
    EXPECT_NE(outline(copy_kernel(1, 1, "i")).structure, a.structure);
    EXPECT_EQ(outline(copy_kernel(2, 1, "i")).holes.size(), 2u);
}

TEST(Body, TakesOtherContentsInItsHoles) {
    Body body = copy_kernel(0, 1, "i");
    const Expr group = body.new_local("group", LocalKind::kParameter, ScalarType::kI32);
    const Expr n = body.new_local("n", LocalKind::kParameter, ScalarType::kI32);
    const Expr p = body.new_buffer("p", BufferKind::kParameter, DType::kF32, DType::kF32);
    const std::vector<Expr> contents{p, n, {}};
    body.statements = fill_holes(body, body.statements, group, contents);
    EXPECT_EQ(print_glsl(body),
              "void main() {\n"
              "    const int i = int(gl_LocalInvocationID.x);\n"
              "    p.at[i + n] = b0.at[i];\n"
              "}\n");
}

TEST(VerifyBody, FindsValuesOfAnotherType) {
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) { w.store(0, b.invocation(), b.index(1)); }),
              "the kernel, store: the value is i32, not f32");
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.store(0, b.constant(0, ScalarType::kF32), b.constant(0, ScalarType::kF32));
              }),
              "the kernel, store: the index is f32, not i32");
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.invocation());
                  w.end();
              }),
              "the kernel, if: the condition is i32, not bool");
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  Expr sum = b.index(1) + b.index(2);
                  b.expressions[sum.id].type = ScalarType::kF32;
                  w.store(0, b.index(0), sum);
              }),
              "the kernel, store: operation add of i32 is no f32");
}

TEST(VerifyBody, FindsLocalsOutsideOfTheirScope) {
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.invocation() == 0);
                  const Expr x = w.let("x", b.load(0, b.index(0)));
                  w.end();
                  w.store(1, b.invocation(), x);
              }),
              "the kernel, store: a local that is not known here");
    EXPECT_EQ(
        fault_of([](KernelWriter& w, Body& b) { w.assign(w.let("x", b.index(1)), b.index(2)); }),
        "the kernel, assign: sets a local that is no variable");
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  const Expr i = w.for_(
                      "i", b.index(0), [](Expr at) { return at < 4; }, b.index(1));
                  w.assign(i, b.index(2));
                  w.end();
              }),
              "the kernel, assign: sets a loop's counter");
    EXPECT_EQ(fault_of([](KernelWriter& w, Body&) { w.next_turn(); }),
              "the kernel, continue: there is no loop");
}

TEST(VerifyBody, FindsBarriersThatNotAllComeBy) {
    const std::string fault =
        "the kernel, barrier: a barrier where not all invocations need come by";
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.invocation() == 0);
                  w.barrier();
                  w.end();
              }),
              fault);
    // Some have left, or take another number of turns; a variable differs if what sets it does.
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.invocation() >= b.rows());
                  w.leave();
                  w.end();
                  w.barrier();
              }),
              fault);
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.for_(
                      "i", b.invocation(), [](Expr at) { return at < 64; }, b.index(8));
                  w.barrier();
                  w.end();
              }),
              fault);
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  const Expr x = w.declare("x", ScalarType::kI32, b.index(0));
                  w.if_(b.load(0, b.invocation()) < b.constant(1, ScalarType::kF32));
                  w.assign(x, b.index(1));
                  w.end();
                  w.if_(x == 1);
                  w.barrier();
                  w.end();
              }),
              fault);
    // An operand that the kernel writes may differ between loads; any other one is the same for all.
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.load(0, b.index(0)) < b.constant(1, ScalarType::kF32));
                  w.barrier();
                  w.end();
                  w.store(0, b.index(0), b.constant(2, ScalarType::kF32));
              }),
              fault);
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  w.if_(b.load(0, b.index(0)) < b.constant(1, ScalarType::kF32));
                  w.barrier();
                  w.end();
              }),
              "");
    // All workgroups' invocations decide alike.
    EXPECT_EQ(fault_of([](KernelWriter& w, Body& b) {
                  const Expr row = w.let("row", b.workgroup());
                  w.if_(row >= b.rows());
                  w.leave();
                  w.end();
                  w.for_(
                      "i", row, [](Expr at) { return at < 64; }, b.workgroups());
                  w.barrier();
                  w.end();
              }),
              "");
}

TEST(KernelWriter, PlacesWhatALoopNeedNotWorkOutBeforeIt) {
    Body body;
    ScalarArena arena;
    const Scalar x = arena.symbol(ScalarType::kI32), k = arena.symbol(ScalarType::kI32);
    (void)body.operand(10, DType::kF32, DType::kF32);
    const auto operand = [&](uint32_t value) {
        return body.operand(value, DType::kF32, DType::kF32);
    };
    KernelWriter writer(body, arena, operand);
    writer.bind(x, writer.let("x", body.workgroup()));
    const Expr counter = writer.for_(
        "k", body.index(0), [](Expr i) { return i < 4; }, body.index(1));
    writer.bind(k, counter);
    const Expr sum =
        writer.emit(arena.load(10, x * 4, ScalarType::kF32) + arena.load(10, k, ScalarType::kF32));
    writer.store(0, counter, sum);
    writer.end();
    body.statements = writer.take();
    EXPECT_EQ(verify_body(body).message(), "");
    ASSERT_EQ(body.statements.size(), 4u);  // x, x * 4, the load, the loop
    EXPECT_EQ(body.statements[3].kind, StatementKind::kFor);
    EXPECT_EQ(body.statements[3].body.size(), 3u);  // the other load, the sum, the store
}

}  // namespace
}  // namespace hearth::test
