// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Chains of thousands of operators that would all fit one kernel, whose compilation would then take
// the square of their number.

#include "compiler/driver/compile.hpp"
#include "compiler/fusion/fuse.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

/// The kernels of a chain of so many pairs: how many values each computes, and how long its source
/// is.
struct Kernels {
    size_t count = 0, most_values = 0, most_source = 0;
    uint64_t squares = 0;  ///< of values, over all kernels: what compiling takes
};

Kernels compiled(int pairs, const Shape& shape) {
    Trace trace("chain");
    Tensor x = trace.input("x", shape);
    for (int i = 0; i < pairs; ++i) x = sin(x) + 0.001 * i;
    trace.output("y", x);
    auto graph = std::move(trace).build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    std::vector<Graph> graphs;
    graphs.push_back(std::move(graph).value());
    const auto made = compile_graphs(std::move(graphs), {.keep_source = true});
    EXPECT_TRUE(made.ok()) << made.status().message();
    Kernels kernels;
    for (const Command& step : made->program.commands) {
        if (step.kind != CommandKind::kDispatch) continue;
        ++kernels.count;
        kernels.most_values = std::max(kernels.most_values, step.computes.size());
        kernels.most_source =
            std::max(kernels.most_source, made->program.kernels[step.kernel].source.size());
        kernels.squares += uint64_t{step.computes.size()} * step.computes.size();
    }
    return kernels;
}

TEST(LongChain, BecomesSeveralKernelsOfBoundedLength) {
    const size_t limit = FusionOptions().max_nodes;
    // Of tensors, and of single numbers, which readers compute again.
    for (const Shape& shape : {Shape{Dim(64)}, Shape{}}) {
        const Kernels one = compiled(100, shape), some = compiled(1000, shape),
                      many = compiled(4000, shape);
        EXPECT_EQ(one.count, 1u) << to_string(shape);
        EXPECT_EQ(many.count, (8000 + limit - 1) / limit) << to_string(shape);
        EXPECT_LE(many.most_values, limit);
        EXPECT_LE(many.most_source, some.most_source + some.most_source / 10);
        EXPECT_LE(many.squares, 5 * some.squares) << "four times the chain";
    }
}

}  // namespace
}  // namespace hearth::test
