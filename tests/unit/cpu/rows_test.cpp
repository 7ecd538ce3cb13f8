// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rows of states that are written in place: the same contents as a scatter gives, and nothing else
// moves.

#include "compiler/codegen/lowered_program.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "ops/op_cases.hpp"

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {
namespace {

HostTensor filled(const Shape& shape, const std::vector<double>& values) {
    return HostTensor::of(shape, std::span<const double>(values));
}

HostTensor numbers(DType dtype, const Shape& shape, int64_t first) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        if (is_floating(dtype))
            t.set(i, 0.25 * static_cast<double>((first + 7 * i) % 61 - 30));
        else
            t.set_int(i, dtype == DType::kBool ? (first + i) % 2 : (first + 7 * i) % 61);
    return t;
}

HostTensor integers(DType dtype, const Shape& shape, const std::vector<int64_t>& values) {
    HostTensor t(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) t.set_int(static_cast<int64_t>(i), values[i]);
    return t;
}

struct Built {
    Graph traced;
    CompiledProgram compiled;
};

Built built(const std::function<void(Trace&)>& build, uint64_t rows = 1, bool fuse = true) {
    Trace trace("store");
    build(trace);
    Built result;
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    if (!graph.ok()) return result;
    result.traced = *graph;
    auto compiled =
        compile_graphs({*graph}, {.max_batch_size = rows, .fuse = fuse, .keep_source = false});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (compiled.ok()) result.compiled = *std::move(compiled);
    return result;
}

/// Steps that move as many bytes as the slot has: copies of it.
size_t copies_of(const Program& program, std::string_view slot) {
    const Variable& s = *program.find_variable(slot);
    size_t count = 0;
    for (const Command& step : program.commands) {
        const bool is_copy =
            step.kind == CommandKind::kCopy || (step.kind == CommandKind::kDispatch &&
                                                program.kernels[step.kernel].name == kCopyKernel);
        for (const Operand& o : program.operands_of(step))
            count += (is_copy || o.access == Access::kWrite) && o.region == Region::kWeights &&
                     o.offset == s.offset;
    }
    return count;
}

uint64_t bytes_moved(const Program& program) {
    uint64_t bytes = 0;
    for (const Command& step : program.commands) bytes += step.bytes_moved;
    return bytes;
}

/// Runs the program and the interpreter on the traced graph, again and again, and compares all
/// slots.
void expect_same(const Built& b, const std::function<NamedTensors(int64_t step)>& inputs,
                 int64_t rows = 1) {
    ProgramMemory memory(b.compiled.program);
    NamedTensors states;
    for (int64_t step = 0; step < 4; ++step) {
        const auto expected = interpret(b.traced, inputs(step), states, rows);
        const auto found = run_program(b.compiled.program, "store", b.compiled.graphs[0],
                                       inputs(step), memory, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (const auto& [name, tensor] : *expected)
            EXPECT_EQ(difference(found->at(name), tensor, 0), "") << name;
        for (const auto& [name, tensor] : states)
            EXPECT_EQ(difference(memory.read(*b.compiled.program.find_variable(name)), tensor, 0),
                      "")
                << name << " after step " << step;
    }
}

class Rows : public testing::TestWithParam<DType> {};

TEST_P(Rows, OfEveryTypeAreWrittenInPlaceAsAScatterWouldWriteThem) {
    const DType dtype = GetParam();
    const Shape shape{37, 3, 5}, rows{6, 3, 5};
    const Built b = built([&](Trace& t) {
        const Tensor ring = t.state("ring", shape, Init::from(numbers(dtype, shape, 3)), dtype);
        index_copy_(ring, t.input("at", {6}, DType::kI32), t.input("rows", rows, dtype));
    });
    EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
    // The last of those meant for one place stays; negative ones count from the back; others are
    // out.
    const std::vector<int64_t> at[] = {{0, 5, 36, 5, 5, 1},
                                       {-1, 36, -37, 2, 3, 4},
                                       {37, -38, 1000, -1000, 7, 7},
                                       {8, 8, 8, 8, 8, 8}};
    expect_same(b, [&](int64_t step) {
        return NamedTensors{{"at", integers(DType::kI32, {6}, at[step])},
                            {"rows", numbers(dtype, rows, step)}};
    });
}

INSTANTIATE_TEST_SUITE_P(Types, Rows,
                         testing::Values(DType::kF32, DType::kF16, DType::kI32, DType::kU8,
                                         DType::kBool, DType::kI64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(AssignRows, MovesTheRowsAndNotTheRing) {
    const auto bytes_of = [](int64_t capacity) {
        const Built b = built(
            [&](Trace& t) {
                const Tensor ring = t.non_persistent_state("ring", {capacity, 12});
                index_copy_(ring, t.input("at", {kBatch}, DType::kI32),
                            t.input("rows", {kBatch, 12}));
            },
            16);
        EXPECT_EQ(b.compiled.program.arena_bytes, 0u);
        return bytes_moved(b.compiled.program);
    };
    // 16 rows of 12 floats in and out, and their indices.
    EXPECT_EQ(bytes_of(100'000), 16u * (2 * 12 + 1) * 4);
    EXPECT_EQ(bytes_of(100'000), bytes_of(64));
}

TEST(AssignRows, WithOneKernelForEachOperatorGiveTheSame) {
    const Built b = built(
        [](Trace& t) {
            const Tensor ring = t.state("ring", {9, 2});
            const Tensor x = t.input("x", {kBatch, 2});
            index_copy_(ring, t.input("at", {kBatch}, DType::kI64) + 1.0, tanh(x) * 2.0);
        },
        8, /*fuse=*/false);
    EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
    expect_same(
        b,
        [](int64_t step) {
            return NamedTensors{{"at", integers(DType::kI64, {5}, {step, 3, 3, -9, 8})},
                                {"x", numbers(DType::kF32, {5, 2}, step)}};
        },
        5);
}

TEST(AssignRows, TakesPairsOfIndicesAndUnsignedOnes) {
    const Built b = built([](Trace& t) {
        const Tensor grid = t.state("grid", {4, 5, 3});
        index_copy_(grid, t.input("at", {3, 2}, DType::kI32), t.input("rows", {3, 3}));
        const Tensor list = t.state("list", {7}, {}, DType::kU32);
        index_copy_(list, t.input("places", {3}, DType::kU32), t.input("values", {3}, DType::kU32),
                    /*are_distinct=*/true);
    });
    EXPECT_EQ(copies_of(b.compiled.program, "grid"), 0u);
    expect_same(b, [](int64_t step) {
        return NamedTensors{{"at", integers(DType::kI32, {3, 2}, {step, 4, -1, -5, 2, 5 - step})},
                            {"rows", numbers(DType::kF32, {3, 3}, step)},
                            {"places", integers(DType::kU32, {3}, {step, 4294967295, 6})},
                            {"values", numbers(DType::kU32, {3}, step)}};
    });
}

// Reads of what is replaced see the old contents; they come first, and nothing is copied for them.
TEST(AssignRows, ReadersOfTheOldContentsRunBefore) {
    const Built b = built([](Trace& t) {
        const Tensor memory = t.non_persistent_state("memory", {50, 4});
        const Tensor ids = t.input("ids", {3}, DType::kI32);
        const Tensor old = take(memory, ids);
        t.output("old", old);
        t.output("sum", sum(memory));
        index_copy_(memory, ids, old * 0.5 + t.input("x", {3, 4}));
    });
    EXPECT_EQ(copies_of(b.compiled.program, "memory"), 0u);
    expect_same(b, [](int64_t step) {
        return NamedTensors{{"ids", integers(DType::kI32, {3}, {step, 49 - step, 7})},
                            {"x", numbers(DType::kF32, {3, 4}, step)}};
    });
}

// Parts of one kernel are not ordered, so the reader is none beside the writer.
TEST(AssignRows, DistinctRowsAreWrittenApartFromReadersOfAsManyElements) {
    const Built b = built([](Trace& t) {
        const Tensor memory = t.non_persistent_state("memory", {8, 3}, Init::uniform(-1, 1, 1));
        const Tensor ids = t.input("ids", {4}, DType::kI32);
        t.output("old", memory * 2.0);
        t.output("rows", take(memory, ids));
        index_copy_(memory, ids, t.input("x", {4, 3}), /*are_distinct=*/true);
        index_copy_(t.non_persistent_state("other", {8, 3}), ids, t.input("y", {4, 3}),
                    /*are_distinct=*/true);
    });
    expect_same(b, [](int64_t step) {
        return NamedTensors{{"ids", integers(DType::kI32, {4}, {step, 7 - step, 9, -9})},
                            {"x", numbers(DType::kF32, {4, 3}, step)},
                            {"y", numbers(DType::kF32, {4, 3}, step + 9)}};
    });
}

// Views and arithmetic of the ring itself must not be computed while it changes.
TEST(AssignRows, RowsMadeOfTheRingItselfAreStoredFirst) {
    for (const bool fuse : {true, false}) {
        const Built b = built(
            [](Trace& t) {
                const Tensor ring = t.non_persistent_state("ring", {8, 3}, Init::uniform(-1, 1, 1));
                const Tensor moved = slice(ring, 0, 2, 6);
                index_copy_(ring, t.input("at", {4}, DType::kI32), moved * 2.0 + mean(ring));
            },
            1, fuse);
        EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
        expect_same(b, [](int64_t step) {
            return NamedTensors{{"at", integers(DType::kI32, {4}, {3, 2, step, 5})}};
        });
    }
}

TEST(AssignRows, OfTwoRingsThatFeedEachOtherBothSeeTheOldOnes) {
    const Built b = built([](Trace& t) {
        const Tensor a = t.non_persistent_state("a", {6, 2}, Init::uniform(-1, 1, 1));
        const Tensor c = t.non_persistent_state("c", {6, 2}, Init::uniform(-1, 1, 2));
        const Tensor at = t.input("at", {2}, DType::kI32);
        index_copy_(a, at, slice(c, 0, 0, 2));
        index_copy_(c, at, slice(a, 0, 4, 6));
        t.assign(t.state("last", {6, 2}), a);
    });
    expect_same(b, [](int64_t step) {
        return NamedTensors{{"at", integers(DType::kI32, {2}, {step, 5 - step})}};
    });
}

TEST(AssignRing, GoesRoundAndKeepsTheLastRowsOfTooMany) {
    const Built b = built(
        [](Trace& t) {
            const Tensor ring = t.non_persistent_state("ring", {5, 2});
            const Tensor next = t.state("next", {}, {}, DType::kU32);
            t.assign(next, ring_buffer_push(ring, next, t.input("x", {kBatch, 2})));
        },
        13);
    EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
    for (const int64_t rows : {1, 3, 5, 7, 13})
        expect_same(
            b,
            [&](int64_t step) {
                return NamedTensors{{"x", numbers(DType::kF32, {rows, 2}, 5 * step)}};
            },
            rows);
}

TEST(AssignRing, HoldsWhatWasWrittenInTheirOrder) {
    const Built b = built(
        [](Trace& t) {
            const Tensor next = t.state("next", {}, {}, DType::kI32);
            t.assign(next, ring_buffer_push(t.non_persistent_state("ring", {4}), next,
                                            t.input("x", {kBatch})));
        },
        9);
    ProgramMemory memory(b.compiled.program);
    const auto store = [&](std::vector<double> x) {
        const auto count = static_cast<int64_t>(x.size());
        ASSERT_TRUE(run_program(b.compiled.program, "store", b.compiled.graphs[0],
                                {{"x", HostTensor::of({count}, std::span<const double>(x))}},
                                memory, count)
                        .ok());
    };
    const auto ring = [&] { return memory.read(*b.compiled.program.find_variable("ring")); };
    store({1, 2, 3});
    store({4, 5, 6});
    EXPECT_EQ(difference(ring(), filled({4}, {5, 6, 3, 4}), 0), "");
    store({7, 8, 9, 10, 11, 12});
    EXPECT_EQ(difference(ring(), filled({4}, {9, 10, 11, 12}), 0), "");
    EXPECT_EQ(memory.read(*b.compiled.program.find_variable("next")).get_int(0), 0);
}

TEST(AssignRows, AScatterThatIsNothingButAnUpdateIsThat) {
    const Built b = built([](Trace& t) {
        const Tensor ring = t.state("ring", {9, 4, 2});
        const Tensor at = t.input("at", {3, 2}, DType::kI32), x = t.input("x", {3, 2});
        t.assign(ring, scatter_nd(ring, at, x));
        // Not these: a sum, and one that something else reads.
        const Tensor sums = t.state("sums", {9, 4, 2}), seen = t.state("seen", {9, 4, 2});
        t.assign(sums, scatter_nd(sums, at, x, "add"));
        const Tensor next = scatter_nd(seen, at, x);
        t.assign(seen, next);
        t.output("total", sum(next));
    });
    EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
    EXPECT_GT(copies_of(b.compiled.program, "sums"), 0u);
    EXPECT_GT(copies_of(b.compiled.program, "seen"), 0u);
    expect_same(b, [](int64_t step) {
        return NamedTensors{{"at", integers(DType::kI32, {3, 2}, {step, 1, -1, -4, step, 1})},
                            {"x", numbers(DType::kF32, {3, 2}, step)}};
    });
}

TEST(AssignRows, UnderAGuardAreLeftOutWhereItFails) {
    const Built b = built([](Trace& t) {
        ConditionalUpdate guard(t);
        const Tensor ring = t.non_persistent_state("ring", {40, 3}, Init::constant(2));
        const Tensor rows = t.input("rows", {4, 3});
        index_copy_(ring, t.input("at", {4}, DType::kI32), rows);
        const Tensor count = t.state("count", {}, {}, DType::kU32);
        t.assign(count, ring_buffer_push(t.non_persistent_state("log", {5, 3}), count, rows));
        guard.commit_if(all_finite({rows}));
    });
    EXPECT_EQ(copies_of(b.compiled.program, "ring"), 0u);
    expect_same(b, [](int64_t step) {
        HostTensor rows = numbers(DType::kF32, {4, 3}, step);
        if (step % 2 == 1) rows.set(5, std::numeric_limits<double>::quiet_NaN());
        return NamedTensors{{"at", integers(DType::kI32, {4}, {step, 9, 39, -1})}, {"rows", rows}};
    });
}

TEST(AssignRows, RefusesWhatDoesNotFit) {
    const auto message = [](const std::function<void(Trace&)>& build) {
        Trace t("store");
        build(t);
        return t.status().message();
    };
    const auto has = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message([](Trace& t) {
            index_copy_(t.state("s", {4, 2}), t.input("i", {3}), t.input("x", {3, 2}));
        }),
        "the indices are f32, expected integers");
    has(message([](Trace& t) {
            index_copy_(t.state("s", {4, 2}), t.input("i", {3}, DType::kI32), t.input("x", {3, 5}));
        }),
        "rows must be [3, 2], found [3, 5]");
    has(message([](Trace& t) {
            index_copy_(t.constant(HostTensor(DType::kF32, Shape{4, 2})),
                        t.input("i", {3}, DType::kI32), t.input("x", {3, 2}));
        }),
        "assign: the target must be a param, state or input");
    has(message([](Trace& t) {
            const Tensor s = t.state("s", {4, 2});
            for (int i = 0; i < 2; ++i)
                index_copy_(s, arange(t, {3}), t.constant(HostTensor(DType::kF32, {3, 2})));
        }),
        "'s' is assigned twice");
    has(message([](Trace& t) {
            (void)ring_buffer_push(t.state("s", {4, 2}), t.input("i", {3}, DType::kI32),
                                   t.input("x", {3, 2}));
        }),
        "an integer begin of []");
}

}  // namespace
}  // namespace hearth::test
