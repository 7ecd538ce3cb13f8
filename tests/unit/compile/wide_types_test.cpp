// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Integers of 64 bits and doubles: which programs hold them in 32 bits, and what is refused.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "support/wide_graphs.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

using Make = std::function<void(Trace&)>;

Graph graph_of(const Make& make) {
    Trace trace("main");
    make(trace);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? std::move(graph).value() : Graph();
}

CompileOptions options_with(bool has_int64) {
    CompileOptions options;
    options.caps.shader_int64 = has_int64;
    options.max_batch_size = 64;
    return options;
}

/// Bits of integers in the program's memory for a device that has 64; 0: it is not compiled.
int bits_with_int64(const Make& make) {
    const auto compiled = compile_graphs({graph_of(make)}, options_with(true));
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (!compiled.ok()) return 0;
    return compiled->program.storage.int64 ? 64 : 32;
}

/// Why there is no program for a device without 64; empty: there is one.
std::string refusal(const Make& make, bool assume_int32 = false) {
    CompileOptions options = options_with(false);
    options.assume_int32 = assume_int32;
    const auto compiled = compile_graphs({graph_of(make)}, options);
    if (compiled.ok()) return "";
    EXPECT_EQ(compiled.status().code(), StatusCode::kUnsupported);
    return compiled.status().message();
}

Tensor table_of(Trace& trace, int64_t rows) {
    return trace.param("table", {rows, 4});
}

TEST(WideTypes, IndicesArgmaxAndConstantsStayIn32BitsOnEveryDevice) {
    const Make all[] = {
        [](Trace& t) {
            t.output("y", take(table_of(t, 100), t.input("ids", {kBatch}, DType::kI64), 0));
        },
        [](Trace& t) {
            const Tensor ids = t.input("ids", {kBatch}, DType::kI64);
            t.output("y", take(table_of(t, 100), ids + 1.0, 0));
        },
        [](Trace& t) {
            t.output("y", argmax(t.input("x", {kBatch, 9}), 1));
        },
        [](Trace& t) {
            t.output("y", argsort(t.input("x", {kBatch, 9}), 1));
        },
        [](Trace& t) {
            const Tensor mask = cast(t.input("mask", {kBatch, 16}, DType::kBool), DType::kI64);
            t.output("y", cumsum(mask, 1) - 1.0);
        },
        [](Trace& t) {
            const Tensor x = clamp(floor(t.input("x", {kBatch})), 0, 1000);
            t.output("y", cast(x, DType::kI64) * 2000.0);
        },
        [](Trace& t) { t.output("y", arange(t, {100}, DType::kI64) * 3.0 + 5.0); },
        [](Trace& t) {
            const Tensor x = cast(t.input("x", {kBatch, 8}, DType::kI16), DType::kI64);
            t.output("y", sum(x, {1}));
        },
        [](Trace& t) {
            const Tensor x = cast(t.input("x", {kBatch}, DType::kU8), DType::kI64);
            t.output("y", mod(x * 5000000.0, t.constant(7, DType::kI64)));
        },
        // Indices from the end, and those out of range, as scatters take them.
        [](Trace& t) {
            const Tensor ids = cast(t.input("ids", {kBatch}, DType::kI32), DType::kI64);
            const Tensor wrapped = where(less(ids, 0.0), ids + 1100.0, ids);
            const Tensor is_in = logical_and(greater_equal(wrapped, 0.0), less(wrapped, 1100.0));
            const Tensor place = where(is_in, wrapped, ids * 0.0 - 1.0);
            t.output("y", where(less(place, 0.0), ids * 0.0 + 3300.0, place * 3.0));
        },
        [](Trace& t) {
            Tensor data = t.input("data", {1100, 3}), ids = t.input("ids", {500, 2}, DType::kI32);
            t.output("y", scatter_elements(data, ids, t.input("updates", {500, 2}), 0, "add"));
        },
    };
    for (const Make& make : all) {
        EXPECT_EQ(refusal(make), "");
        EXPECT_EQ(bits_with_int64(make), 32);
    }
}

TEST(WideTypes, LowBitsSufficeWhereNothingElseIsRead) {
    const Make narrowed = [](Trace& t) {
        const Tensor x = cast(t.input("x", {kBatch}, DType::kI32), DType::kI64);
        t.output("y", cast(bitwise_xor(x * 73856093.0 + 12345.0, x), DType::kI32));
    };
    EXPECT_EQ(refusal(narrowed), "");
    EXPECT_EQ(bits_with_int64(narrowed), 32);
    const Graph graph = graph_of(narrowed);
    const auto compiled = compile_graphs({graph}, options_with(false));
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const NamedTensors inputs{{"x", integers({3}, {2000000000, -2000000000, 77}, DType::kI32)}};
    NamedTensors weights;
    const auto expected = interpret(graph, inputs, weights, 3);
    ProgramMemory memory(compiled->program);
    const auto found =
        run_program(compiled->program, "main", compiled->graphs[0], inputs, memory, 3);
    ASSERT_TRUE(expected.ok() && found.ok());
    EXPECT_EQ(found->at("y"), expected->at("y"));
}

struct Refused {
    const char* names;  ///< in the message
    Make make;
};

const Refused kRefused[] = {
    {"reduce_sum -> i64 [batch, 1], of 'x'",
     [](Trace& t) {
         t.output("y", sum(t.input("x", {kBatch, 3}, DType::kI64), {1}));
     }},
    {"cumsum -> i64 [batch, 3], of 'x', output 'y'",
     [](Trace& t) {
         t.output("y", cumsum(t.input("x", {kBatch, 3}, DType::kI64), 1));
     }},
    {"add -> i64 [batch], of 'x', output 'y'",
     [](Trace& t) { t.output("y", t.input("x", {kBatch}, DType::kI64) + 1.0); }},
    {"of 'a'",
     [](Trace& t) {
         const Tensor a = t.input("a", {kBatch}, DType::kI64);
         const Tensor cell = mod(a * 1103515245.0 + 12345.0, t.constant(11, DType::kI64));
         t.output("y", take(table_of(t, 11), cell, 0));
     }},
    {"of 'x'",
     [](Trace& t) {
         const Tensor x = cast(t.input("x", {kBatch}), DType::kI64);
         t.output("y", take(table_of(t, 64),
                            bitwise_and(x * 73856093.0, t.constant(63, DType::kI64)), 0));
     }},
    {"cast -> i64 [batch], of 'x', output 'y'",
     [](Trace& t) { t.output("y", cast(t.input("x", {kBatch}), DType::kI64)); }},
    {"mul -> i64 [batch], of 'x'",
     [](Trace& t) {
         const Tensor x = cast(t.input("x", {kBatch}, DType::kI32), DType::kI64);
         t.output("y", cast(x * 3.0, DType::kF32));
     }},
    {"of 'count'",
     [](Trace& t) {
         const Tensor count = t.state("count", {}, {}, DType::kI64);
         t.assign(count, count + 1.0);
         t.output("y", cast(count, DType::kF32));
     }},
};

TEST(WideTypes, WhatMayExceed32BitsHas64OrIsRefusedByNameRangeAndRemedy) {
    for (const Refused& r : kRefused) {
        EXPECT_EQ(bits_with_int64(r.make), 64) << r.names;
        const std::string text = refusal(r.make);
        for (const char* part : {r.names, "integers from -", "--assume-int32", "assume_int32"})
            EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
        EXPECT_EQ(refusal(r.make, true), "") << r.names;
    }
}

TEST(WideTypes, InputsThatAreReadInFullHave64BitsWhereTheDeviceHas) {
    const Make compares = [](Trace& t) {
        t.output("y", equal(t.input("x", {kBatch}, DType::kI64), 0));
    };
    EXPECT_EQ(bits_with_int64(compares), 64);
    EXPECT_EQ(refusal(compares), "");  // the buffer has 32
}

TEST(WideTypes, AConstantBeyond32BitsIsNeverAssumedToFit) {
    const Make make = [](Trace& t) {
        t.output("y", minimum(t.input("x", {kBatch}, DType::kI64),
                              t.constant(integers({}, {int64_t{1} << 40}))));
    };
    EXPECT_EQ(bits_with_int64(make), 64);
    EXPECT_NE(refusal(make), "");
    EXPECT_NE(refusal(make, true).find("holds 1099511627776"), std::string::npos);
}

TEST(WideTypes, DoublesAreRefusedOnGpusUnlessTheyMayBeFloats) {
    const Graph graph = graph_of([](Trace& t) {
        t.output("y", sin(t.input("t", {kBatch}, DType::kF64) * 6.283185307179586));
    });
    CompileOptions options = options_with(true);
    const auto refused = compile_graphs({graph}, options);
    ASSERT_EQ(refused.status().code(), StatusCode::kUnsupported);
    for (const char* part : {"f64 [batch], of 't'", "--assume-float32", "--device cpu"})
        EXPECT_NE(refused.status().message().find(part), std::string::npos)
            << refused.status().message();
    options.assume_float32 = true;
    const auto assumed = compile_graphs({graph}, options);
    ASSERT_TRUE(assumed.ok()) << assumed.status().message();
    EXPECT_FALSE(assumed->program.storage.float64);
}

TEST(WideTypes, ProgramsForCpusHoldEachTypeAsItIs) {
    for (const WideGraph& wide : wide_graphs()) {
        CompileOptions options;
        options.caps = cpu_caps(CpuIsa::kScalar);
        const auto compiled = compile_graphs({wide.graph}, options);
        ASSERT_TRUE(compiled.ok()) << wide.name << ": " << compiled.status().message();
        EXPECT_TRUE(compiled->program.storage.int64 && compiled->program.storage.float64);
        for (const Binding& b : compiled->program.bindings)
            EXPECT_EQ(device_dtype(b.dtype, compiled->program.storage), b.dtype) << b.name;
        const auto loaded = load_program(save_program(compiled->program));
        ASSERT_TRUE(loaded.ok()) << wide.name << ": " << loaded.status().message();
        EXPECT_EQ(loaded->storage, compiled->program.storage);
    }
}

TEST(WideTypes, ProgramsWith64BitsCompileForGpus) {
    for (const WideGraph& wide : wide_graphs()) {
        if (wide.has_doubles) continue;
        const auto compiled = compile_graphs({wide.graph}, options_with(true));
        EXPECT_TRUE(compiled.ok()) << wide.name << ": " << compiled.status().message();
    }
}

TEST(HeldAs, AnIntegerThatTheBufferCannotHoldIsAnError) {
    const HostTensor x = integers({2}, {5, int64_t{1} << 33});
    const auto held = x.held_as(DType::kI32, "input 'x'");
    ASSERT_FALSE(held.ok());
    EXPECT_NE(held.status().message().find("input 'x': element 1 is 8589934592"),
              std::string::npos);
    EXPECT_TRUE(x.held_as(DType::kI64, "x").ok());
    EXPECT_TRUE(integers({1}, {-7}).held_as(DType::kI32, "x").ok());
}

}  // namespace
}  // namespace hearth::test
