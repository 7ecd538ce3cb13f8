// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The public builder of kernels: what its calls write, and how it reports misuse.

#include "compiler/kernel/kernel_builder.hpp"

#include "compiler/print/c.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/print/wgsl.hpp"
#include "compiler/reference/run_kernel.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {
namespace {

constexpr int64_t kCount = 16;

/// A kernel of two workgroups that reads f32 [16] and writes f32 [16].
struct Rig {
    Body body;
    ScalarArena arena;
    KernelWriter writer{body, arena, [](uint32_t value) { return value; }};
    KernelBuilder::State state{.body = body, .arena = arena, .writer = writer};
    KernelBuilder builder{state};

    explicit Rig(uint32_t threads = 4) {
        for (const uint32_t value : {0u, 1u}) (void)body.operand(value, DType::kF32, DType::kF32);
        body.threads = state.threads = threads;
        state.is_serial = threads == 1;
        state.inputs = state.outputs = {{Shape{kCount}, ScalarType::kF32}};
        state.load = [this](size_t, Scalar i) { return arena.load(0, i, ScalarType::kF32); };
        state.store = [this](size_t, Scalar i, Scalar value) {
            writer.store(1, writer.emit(i), writer.emit(value));
        };
        writer.report_misuse(state.error);
        arena.note_misuse();
    }

    /// The output's elements for the input 1, 2, ..., after the kernel was executed.
    std::vector<double> run(const std::function<void(KernelBuilder&)>& write) {
        write(builder);
        body.statements = writer.take();
        EXPECT_TRUE(state.error.ok()) << state.error.message();
        HostTensor numbers(DType::kF32, {kCount});
        for (int64_t i = 0; i < kCount; ++i) numbers.set(i, static_cast<double>(i + 1));
        std::vector<OperandMemory> memory{OperandMemory::full(std::move(numbers)),
                                          OperandMemory::empty(DType::kF32, {kCount})};
        const Status status = run_kernel(body, {"built", 2, 1}, memory);
        EXPECT_TRUE(status.ok()) << status.message();
        std::vector<double> results;
        for (int64_t i = 0; i < kCount; ++i) results.push_back(memory[1].tensor.get(i));
        return results;
    }

    /// The message of the misuse, or of the arena's.
    std::string misuse(const std::function<void(KernelBuilder&)>& write) {
        write(builder);
        return arena.misuse().empty() ? state.error.message() : arena.misuse();
    }
};

std::vector<double> each(const std::function<double(double)>& f) {
    std::vector<double> results;
    for (int64_t i = 0; i < kCount; ++i) results.push_back(f(static_cast<double>(i + 1)));
    return results;
}

TEST(KernelBuilder, ForEachReachesEachElementOnceWithManyInvocationsAndWithOne) {
    for (const uint32_t threads : {1u, 4u}) {
        Rig rig(threads);
        EXPECT_EQ(rig.run([](KernelBuilder& k) {
            k.for_each(k.out_count(0), [&](Scalar i) { k.out(0, i, k.in(0, i) * 2.0 + 1.0); });
        }),
                  each([](double x) { return 2 * x + 1; }));
        EXPECT_FALSE(rig.state.uses_workgroup);
    }
}

TEST(KernelBuilder, AReadOfAVariableKeepsTheValueThatItHadThen) {
    Rig rig;
    EXPECT_EQ(rig.run([](KernelBuilder& k) {
        k.for_each(k.out_count(0), [&](Scalar i) {
            KernelVariable x = k.variable(k.in(0, i));
            const Scalar before = x;
            x += 1;
            x *= 10.0;
            x -= before;
            k.out(0, i, x);
        });
    }),
              each([](double x) { return (x + 1) * 10 - x; }));
}

TEST(KernelBuilder, LoadsInABranchStayThere) {
    Rig rig;
    // The element beyond the last does not exist; reading it would be a fault.
    EXPECT_EQ(rig.run([](KernelBuilder& k) {
        k.for_each(k.out_count(0), [&](Scalar i) {
            KernelVariable next = k.variable(0.0);
            const Scalar after = i + 1;
            k.if_(after < k.in_count(0), [&] { next = k.in(0, after); });
            k.out(0, i, next);
        });
    }),
              each([](double x) { return x < kCount ? x + 1 : 0; }));
}

TEST(KernelBuilder, LoopsGrowShrinkAndRunWhileAConditionHolds) {
    Rig rig;
    // Powers of two below 16 have the sum 15; shrinking from 9 gives 9 + 3 + 1.
    const auto write = [](KernelBuilder& k) {
        k.for_each(k.out_count(0), [&](Scalar i) {
            KernelVariable sum = k.variable(0);
            k.loop_growing(1, 16, 2, [&](Scalar power) { sum += power; });
            k.loop_shrinking(9, 3, [&](Scalar rest) { sum += rest; });
            KernelVariable halvings = k.variable(0), left = k.variable(k.index(100));
            k.while_([&] { return left > 5; },
                     [&] {
                         left = left / 2;
                         halvings += 1;
                     });
            k.out(0, i, k.convert(sum + halvings * 100, ScalarType::kF32));
        });
    };
    EXPECT_EQ(rig.run(write), std::vector<double>(kCount, 15 + 13 + 500));
    EXPECT_NE(print_glsl(rig.body, {}).find(" *= 2"), std::string::npos);
    const Result<std::string> c = print_c(rig.body, "loops"), wgsl = print_wgsl(rig.body);
    ASSERT_TRUE(c.ok() && wgsl.ok());
    EXPECT_NE(c->find(" *= 2"), std::string::npos);
    EXPECT_NE(wgsl->find(" *= 2"), std::string::npos);
}

TEST(KernelBuilder, ALoopThatGrowsIsAnotherKernelThanOneThatAdds) {
    const auto hash_of = [](bool grows) {
        Rig rig;
        rig.builder.for_each(1, [&](Scalar i) {
            const auto store = [&](Scalar j) { rig.builder.out(0, i, rig.builder.in(0, j)); };
            if (grows)
                rig.builder.loop_growing(1, 16, 2, store);
            else
                rig.builder.loop(1, 16, 2, store);
        });
        rig.body.statements = rig.writer.take();
        return structural_hash(rig.body);
    };
    EXPECT_NE(hash_of(true), hash_of(false));
    EXPECT_EQ(hash_of(true), hash_of(true));
}

TEST(KernelBuilder, AWorkgroupSharesMemoryBetweenBarriers) {
    Rig rig;
    EXPECT_EQ(rig.run([](KernelBuilder& k) {
        const KernelArray block = k.shared(ScalarType::kF32, k.workgroup_size());
        k.loop(k.workgroup() * 4, k.out_count(0), k.workgroup_count() * 4, [&](Scalar first) {
            block.set(k.lane(), k.in(0, first + k.lane()));
            k.barrier();
            k.out(0, first + k.lane(), block[3 - k.lane()]);
            k.barrier();
        });
    }),
              (std::vector<double>{4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13}));
    EXPECT_TRUE(rig.state.uses_workgroup);
}

TEST(KernelBuilder, AWorkgroupInWgslIsOneOfWebGpusAndWithinItsLimits) {
    const auto printed = [](uint32_t threads, int64_t length) {
        Rig rig(threads);
        const KernelArray block = rig.builder.shared(ScalarType::kF32, length);
        block.set(rig.builder.lane(), 1);
        rig.builder.barrier();
        rig.builder.out(0, rig.builder.lane(), block[0]);
        rig.body.statements = rig.writer.take();
        return print_wgsl(rig.body);
    };
    const Result<std::string> text = printed(16, 16);
    ASSERT_TRUE(text.ok()) << text.status().message();
    for (const char* part : {"var<workgroup> shared0_: array<f32, 16>;", "@workgroup_size(16)",
                             "let group_index = i32(group.x);", "workgroupBarrier();"})
        EXPECT_NE(text->find(part), std::string::npos) << part;
    EXPECT_EQ(printed(512, 512).status().message(),
              "WGSL: a workgroup of 512 invocations, at most 256");
    EXPECT_EQ(printed(16, 5000).status().message(),
              "WGSL: shared arrays of 20000 bytes, at most 16384");
}

TEST(KernelBuilder, ArraysOfAnInvocationAndMultiplyAddHoldTheirElements) {
    Rig rig;
    EXPECT_EQ(rig.run([](KernelBuilder& k) {
        k.for_each(k.out_count(0), [&](Scalar i) {
            const KernelArray powers = k.array(ScalarType::kF32, 3);
            powers.set(0, 1);
            k.loop(1, 3, [&](Scalar j) { powers.set(j, powers[j - 1] * k.in(0, i)); });
            k.out(0, i, k.multiply_add(powers[2], 3, powers[1]));
        });
    }),
              each([](double x) { return 3 * x * x + x; }));
}

TEST(KernelBuilder, ReportsMisuseByItsKind) {
    const auto expect = [](const char* what, const std::function<void(KernelBuilder&)>& write) {
        const std::string found = Rig().misuse(write);
        EXPECT_NE(found.find(what), std::string::npos) << found << ", expected: " << what;
    };
    expect("it asks for input 1 of 1", [](KernelBuilder& k) { (void)k.in(1, 0); });
    expect("it asks for axis 2 of output 0, which is [16]",
           [](KernelBuilder& k) { (void)k.out_dim(0, 2); });
    expect("it stores i32, expected f32; convert() changes the type",
           [](KernelBuilder& k) { k.out(0, 0, k.lane()); });
    expect("it assigns to a variable f32, expected i32", [](KernelBuilder& k) {
        KernelVariable v = k.variable(1);
        v = k.in(0, 0);
    });
    expect("it combines f32 and i32; convert() gives both one type",
           [](KernelBuilder& k) { k.out(0, 0, k.in(0, 0) + k.lane()); });
    expect("it uses a value outside of the loop or branch that made it", [](KernelBuilder& k) {
        Scalar escaped;
        k.loop(0, 4, [&](Scalar i) { escaped = i; });
        k.out(0, escaped, 1.0);
    });
    expect("it applies a function to i32 that has none of this type",
           [](KernelBuilder& k) { k.out(0, sqrt(k.lane()), 1.0); });
    expect("a condition is i32, expected a comparison",
           [](KernelBuilder& k) { k.if_(k.lane(), [] {}); });
    expect("it uses 0.5 where i32 is expected", [](KernelBuilder& k) { (void)k.in(0, 0.5); });
    expect("an array of 0 elements", [](KernelBuilder& k) { (void)k.array(ScalarType::kF32, 0); });
    expect("a factor below 2", [](KernelBuilder& k) { k.loop_growing(1, 4, 1, [](Scalar) {}); });
}

TEST(KernelBuilder, ABarrierThatNotAllInvocationsReachIsRejected) {
    Rig rig;
    rig.builder.if_(rig.builder.lane() < 2, [&] { rig.builder.barrier(); });
    rig.body.statements = rig.writer.take();
    EXPECT_FALSE(verify_body(rig.body).ok());
}

}  // namespace
}  // namespace hearth::test
