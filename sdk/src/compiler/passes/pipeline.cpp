// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the passes in order and verifies the graph after each.

#include "compiler/passes/pass.hpp"

#include <array>

namespace hearth {

std::span<const Pass> passes() {
    static constexpr std::array<Pass, 7> kPasses = {{
        {"decompose", decompose},
        {"fold_constants", fold_constants},
        {"mix_precision", mix_precision},
        {"share_common", share_common},
        {"split_rows", split_rows},
        {"split_norms", split_norms},
        {"split_sums", split_sums},
    }};
    return kPasses;
}

Result<Graph> run_passes(Graph graph, const PassOptions& options, const PassObserver& observer) {
    for (const Pass& pass : passes()) {
        Result<Graph> next = pass.run(graph, options);
        if (!next.ok()) return next.status().with_context(pass.name);
        graph = std::move(next).value();
        if (Status s = verify(graph); !s.ok()) return s.with_context(pass.name);
        if (observer) observer(pass.name, graph);
    }
    return graph;
}

}  // namespace hearth
