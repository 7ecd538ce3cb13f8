// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Uses each part of an installed Hearth once: the tool's package, the importer, the compiler,
// learners, the runtime.

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>
#include <hearth/file.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <cstdio>

using namespace hearth;

int main() {
    const Result<std::vector<std::byte>> package = read_whole_file(PACKAGE);
    const Result<ImportedModel> model = import_onnx_file(MODEL);
    Trace trace("act");
    trace.output("y", relu(trace.input("x", {kBatch, 4})));
    const Result<Compiled> compiled = compile({&trace}, {.max_batch_size = 8});
    agents::AgentSpec schema(agents::ObservationSpec().box("speed", 1, {0, 30}),
                             agents::ActionSpec().discrete("move", 3));
    const Result<Context> context = Context::create(hearth_context_create_info_default());
    if (!package.ok() || !model.ok() || !compiled.ok() || schema.save().empty() || context.ok()) {
        std::printf("package %d model %d compiled %d\n", package.ok(), model.ok(), compiled.ok());
        return 1;
    }
    std::puts(hearth_build_info());
    return 0;
}
