// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of compile(), for tools and tests inside the project.

#pragma once

#include "compiler/ir/graph.hpp"
#include "program/package.hpp"

#include <hearth/compile.hpp>

#include <map>
#include <memory>

namespace hearth {

struct Body;

/// A Program with the graphs, as compiled, that its debug tables refer to.
struct CompiledProgram {
    Program program;
    std::vector<Graph> graphs;         ///< one for each entry
    std::vector<std::string> remarks;  ///< Compiled::remarks
    std::vector<QuantizedWeight> quantized;
    std::vector<std::string> tunable;                                 ///< Compiled::tunable_kernels
    std::map<std::string, std::vector<std::string>> listed_variants;  ///< LoweredProgram's
    /// For CPUs: the body of each kernel, which has no SPIR-V (LoweredProgram::bodies).
    std::vector<std::shared_ptr<const Body>> bodies;
};

/// The finished graphs of traces, or the first error.
Result<std::vector<Graph>> finish_all(std::span<Trace* const> entries);

/// Statistics of a program, without its bytes.
Compiled describe(const Program& program);

/// cook() of graphs instead of traces.
Result<Cooked> cook_graphs(std::vector<Graph> graphs, const CookOptions& options);

/// Maximum batch size that a package was cooked for.
/// Errors: kInvalidArgument if its programs are unreadable and it has no agents.
Result<uint64_t> max_batch_size_of(const PackageView& package);

/// Program::graph_hash of entries that compute these graphs.
uint64_t hash_of_graphs(std::span<const Graph> graphs);

Result<CompiledProgram> compile_graphs(std::vector<Graph> graphs, const CompileOptions& options);

/// compile_graphs() without code generation: kernels for a CPU are bodies only.
Result<CompiledProgram> plan_graphs(std::vector<Graph> graphs, const CompileOptions& options);

}  // namespace hearth
