// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs and programs of traces that are expected to be valid.

#pragma once

#include "compiler/driver/compile.hpp"

#include <hearth/tensor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace hearth::test {

/// The graph of an entry; empty after a reported failure.
inline Graph graph_of(const std::function<void(Trace&)>& build) {
    Trace trace("entry");
    build(trace);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? std::move(*graph) : Graph();
}

/// The program of the traces; empty after a reported failure.
inline CompiledProgram compile_traces(std::initializer_list<Trace*> traces,
                                      const CompileOptions& options) {
    std::vector<Graph> graphs;
    for (Trace* trace : traces) {
        auto graph = trace->build();
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        if (graph.ok()) graphs.push_back(std::move(*graph));
    }
    auto compiled = compile_graphs(std::move(graphs), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? std::move(*compiled) : CompiledProgram();
}

}  // namespace hearth::test
