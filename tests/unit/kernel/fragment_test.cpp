// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrices that a subgroup holds together, in bodies: two subgroups of 8 multiply matrices of 8 x
// 8.

#include "compiler/kernel/writer.hpp"
#include "compiler/print/c.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/reference/run_kernel.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

constexpr int64_t kEdge = 8, kSubgroups = 2, kRows = kSubgroups * kEdge;

/// Each subgroup multiplies 8 rows of b0 by b1, both f16, to rows of b2, f32.
struct Rig {
    Body body;
    ScalarArena arena;
    KernelWriter writer{body, arena, {}};
    Expr subgroup, lane, pool;

    Rig() {
        body.threads = kRows;
        body.subgroup_size = kEdge;
        body.matrix = {kEdge, kEdge, kEdge};
        for (const uint32_t value : {0u, 1u}) (void)body.operand(value, DType::kF16, DType::kF16);
        (void)body.operand(2, DType::kF32, DType::kF32);
        pool = body.global("pool", LocalKind::kShared, ScalarType::kU32, kRows * kEdge / 4,
                           Chunk::kFour);
        subgroup = writer.let("subgroup", body.subgroup());
        lane = writer.let("lane", body.subgroup_invocation());
    }

    KernelWriter::MatrixPlace in_buffer(uint32_t buffer, Expr first) {
        return {body.buffer(buffer), first, body.index(kEdge)};
    }
    /// The subgroup's rows of shared floats.
    KernelWriter::MatrixPlace own_rows() {
        return {pool, subgroup * (kEdge * kEdge / 4), body.index(kEdge / 4)};
    }
    Expr product(bool of_transposed = false) {
        const Expr a = writer.declare_chunk("a", Chunk::kLeft);
        const Expr b = writer.declare_chunk("b", Chunk::kRight);
        writer.load_fragment(a, in_buffer(0, subgroup * (kEdge * kEdge)));
        KernelWriter::MatrixPlace right = in_buffer(1, body.index(0));
        right.by_columns = of_transposed;
        writer.load_fragment(b, right);
        const Expr zero = body.fill(Chunk::kSums, body.constant(0, ScalarType::kF32));
        return writer.let("sums", body.multiply_add(a, b, zero));
    }
    void store(Expr sums) { writer.store_fragment(sums, in_buffer(2, subgroup * (kEdge * kEdge))); }

    static double left(int64_t i) { return static_cast<double>(i % 7) - 3; }
    static double right(int64_t i) { return static_cast<double>(i % 5) / 2; }

    Status run(HostTensor* result = nullptr) {
        body.statements = writer.take();
        HostTensor a(DType::kF16, {kRows, kEdge}), b(DType::kF16, {kEdge, kEdge});
        for (int64_t i = 0; i < a.element_count(); ++i) a.set(i, left(i));
        for (int64_t i = 0; i < b.element_count(); ++i) b.set(i, right(i));
        std::vector<OperandMemory> memory{OperandMemory::full(std::move(a)),
                                          OperandMemory::full(std::move(b)),
                                          OperandMemory::empty(DType::kF32, {kRows, kEdge})};
        const Status status = run_kernel(body, {"planted", 1, 1}, memory);
        if (result != nullptr) *result = memory[2].tensor;
        return status;
    }
    void expect_fault(const std::string& what) {
        const Status status = run();
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
    }
};

TEST(Fragment, ProductsAreThoseOfTheMatricesInMemory) {
    for (const bool is_transposed : {false, true}) {
        Rig rig;
        rig.store(rig.product(is_transposed));
        HostTensor found(DType::kF32, {1});
        const Status status = rig.run(&found);
        ASSERT_TRUE(status.ok()) << status.message();
        for (int64_t i = 0; i < kRows; ++i)
            for (int64_t j = 0; j < kEdge; ++j) {
                double sum = 0;
                for (int64_t k = 0; k < kEdge; ++k)
                    sum += Rig::left(i * kEdge + k) *
                           Rig::right(is_transposed ? j * kEdge + k : k * kEdge + j);
                EXPECT_EQ(found.get(i * kEdge + j), sum) << i << ", " << j;
            }
    }
}

TEST(Fragment, ElementsAreChangedWhereverTheyAre) {
    Rig rig;
    const Expr sums = rig.product();
    const Expr twice = rig.writer.declare_chunk("twice", Chunk::kSums);
    const Expr e = rig.writer.for_("e", rig.body.index(0),
                                   [&](Expr next) { return next < rig.body.length(twice); });
    rig.writer.assign(rig.body.chunk_element(twice, e),
                      rig.body.chunk_element(sums, e) + rig.body.chunk_element(sums, e));
    rig.writer.end();
    rig.store(rig.body.convert(Chunk::kSums, rig.body.convert(Chunk::kHalfSums, twice)));
    HostTensor once(DType::kF32, {1}), found(DType::kF32, {1});
    const Status status = rig.run(&found);
    ASSERT_TRUE(status.ok()) << status.message();
    Rig plain;
    plain.store(plain.product());
    ASSERT_TRUE(plain.run(&once).ok());
    for (int64_t i = 0; i < found.element_count(); ++i)
        EXPECT_EQ(found.get(i), 2 * once.get(i)) << i;
}

/// Sums in shared memory, read element by element by the invocations of the subgroup.
void spread(Rig& rig, bool with_barrier) {
    rig.writer.store_fragment(rig.product(), rig.own_rows());
    if (with_barrier) rig.writer.subgroup_barrier();
    const Expr row = rig.writer.let("row", rig.subgroup * kEdge + (rig.lane + 1) % kEdge);
    const Expr four = rig.body.element(rig.pool, row * (kEdge / 4));
    rig.writer.store(
        2, row * kEdge,
        rig.body.operation(ScalarOp::kBitsToF32, rig.body.chunk_element(four, rig.body.index(0))));
}

TEST(Fragment, ABarrierOfTheSubgroupOrdersSharedMemoryWithinIt) {
    Rig right;
    spread(right, true);
    const Status status = right.run();
    EXPECT_TRUE(status.ok()) << status.message();
    Rig wrong;
    spread(wrong, false);
    wrong.expect_fault("a race: reads pool");
}

TEST(Fragment, ABarrierOfTheSubgroupOrdersNothingBetweenSubgroups) {
    Rig rig;
    rig.writer.store_fragment(rig.product(), rig.own_rows());
    rig.writer.subgroup_barrier();
    const Expr other = rig.body.element(rig.pool, rig.body.index(0));
    rig.writer.store(
        2, rig.subgroup * kEdge + rig.lane,
        rig.body.operation(ScalarOp::kBitsToF32, rig.body.chunk_element(other, rig.body.index(0))));
    rig.expect_fault("invocation 8: a race: reads pool[0]");
}

TEST(Fragment, BelongsToAllOfASubgroup) {
    Rig lanes;
    lanes.writer.if_(lanes.lane < 4);
    lanes.store(lanes.product());
    lanes.writer.end();
    lanes.expect_fault("a fragment where not all invocations of a subgroup need come by");
    Rig subgroups;
    subgroups.writer.if_(subgroups.subgroup == 1);
    subgroups.store(subgroups.product());
    subgroups.writer.end();
    EXPECT_TRUE(subgroups.run().ok());
    Rig barrier;
    barrier.writer.if_(barrier.subgroup == 1);
    barrier.writer.subgroup_barrier();
    barrier.writer.end();
    barrier.expect_fault("a barrier where not all invocations need come by");
    Rig place;
    const Expr a = place.writer.declare_chunk("a", Chunk::kLeft);
    place.writer.load_fragment(a, place.in_buffer(0, place.lane));
    place.expect_fault("a place that differs within a subgroup");
}

TEST(Fragment, BeyondItsBufferIsReported) {
    Rig rig;
    const Expr a = rig.writer.declare_chunk("a", Chunk::kLeft);
    rig.writer.load_fragment(a, rig.in_buffer(0, rig.subgroup * (kEdge * kEdge) + 1));
    rig.expect_fault("loads element 128 of b0, which has 128");
}

TEST(Fragment, OfAnotherKindIsNoFactor) {
    Rig rig;
    const Expr b = rig.writer.declare_chunk("b", Chunk::kRight);
    rig.writer.load_fragment(b, rig.in_buffer(1, rig.body.index(0)));
    const Expr zero = rig.body.fill(Chunk::kSums, rig.body.constant(0, ScalarType::kF32));
    rig.store(rig.body.multiply_add(b, b, zero));
    rig.expect_fault("the first operand is right factor, not left factor");
}

TEST(Fragment, HalvesAreTwoToAWordOfSharedMemory) {
    Rig rig;
    const Expr halves = rig.body.convert(Chunk::kHalfSums, rig.product());
    rig.writer.store_fragment(halves, {rig.pool, rig.subgroup * kEdge, rig.body.index(1)});
    rig.writer.subgroup_barrier();
    const Expr eight = rig.writer.declare_array("eight", ScalarType::kF32, 8);
    const Expr row = rig.writer.let("row", rig.subgroup * kEdge + rig.lane);
    const Expr four[] = {rig.body.reinterpret(rig.body.element(rig.pool, row))};
    rig.writer.spread(eight, four);
    const Expr j = rig.writer.unrolled_for_("j", kEdge);
    rig.writer.store(2, row * kEdge + j, rig.body.element(eight, j));
    rig.writer.end();
    HostTensor found(DType::kF32, {1}), expected(DType::kF32, {1});
    const Status status = rig.run(&found);
    ASSERT_TRUE(status.ok()) << status.message();
    Rig plain;
    plain.store(plain.product());
    ASSERT_TRUE(plain.run(&expected).ok());
    EXPECT_EQ(found, expected);
}

TEST(Fragment, AKernelSaysThatItNeedsMatricesAndSubgroups) {
    Rig rig;
    rig.store(rig.product());
    rig.body.statements = rig.writer.take();
    const BodyRequirements needs = body_requirements(rig.body);
    EXPECT_TRUE(needs.matrices && needs.subgroups);
    EXPECT_EQ(needs.shared_bytes, 4u * kRows * kEdge);
    EXPECT_NE(print_glsl(rig.body).find("load_fragment(a, "), std::string::npos);
    EXPECT_FALSE(print_c(rig.body, "kernel").ok());
}

}  // namespace
}  // namespace hearth::test
