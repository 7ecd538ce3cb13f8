// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exports a graph as a GLSL function for one batch item.

#include "compiler/driver/export_glsl.hpp"

#include "compiler/codegen/glsl_function.hpp"
#include "compiler/passes/pack_leaves.hpp"
#include "compiler/passes/pass.hpp"
#include "core/out_of_memory.hpp"

#include <algorithm>

namespace hearth {

Result<GlslFunction> export_glsl_of(Graph graph, const Program& program,
                                    const CompileOptions& options, std::string_view name) {
    graph.updates.clear();
    const bool are_packed = std::ranges::none_of(graph.values, [&](const Value& v) {
        return v.kind == ValueKind::kParam && size_bytes(v.dtype) < 4 &&
               program.find_variable(v.name) != nullptr;
    });
    HEARTH_ASSIGN(graph, pack_leaves(canonical(graph), options.caps.narrow_storage(),
                                     /*with_params=*/are_packed));
    // A batch of one: no work is divided among workgroups.
    Result<Graph> passed = run_passes(std::move(graph), {.max_batch_size = 1,
                                                         .caps = options.caps,
                                                         .fused_networks = false,
                                                         .precision = options.precision});
    if (!passed.ok()) return passed.status();
    return glsl_function(*passed, program, name.empty() ? passed->name : std::string(name));
}

Result<GlslFunction> export_glsl(Trace& entry, const Compiled& compiled,
                                 const CompileOptions& options, std::string_view name) {
    return or_out_of_memory([&]() -> Result<GlslFunction> {
        HEARTH_ASSIGN(Graph graph, entry.build());
        HEARTH_ASSIGN(const Program program, load_program(compiled.bytes));
        const std::string where = "GLSL of entry '" + graph.name + "'";
        Result<GlslFunction> made = export_glsl_of(std::move(graph), program, options, name);
        if (!made.ok()) return made.status().with_context(where);
        return made;
    });
}

}  // namespace hearth
