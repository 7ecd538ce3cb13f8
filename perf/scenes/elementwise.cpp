// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An activation that a user writes with tensor operators.

#include "data.hpp"
#include "network.hpp"

#include <hearth/ops.hpp>

#include <numbers>

namespace hearth::perf {

namespace {

constexpr int64_t kWidth = 64, kRowsOf64Mb = 262'144;

/// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
Status run_gelu(Bench& bench, Row& row) {
    NetworkRun run{
        .trace = std::make_unique<Trace>("gelu"), .rows = kRowsOf64Mb, .pattern_rows = 64};
    const Tensor x = run.trace->input("x", {kRows, kWidth});
    run.trace->output("y", x * (erf(x / std::numbers::sqrt2) + 1.0) / 2.0);
    run.inputs = {{"x", random_tensor("x", {run.pattern_rows, kWidth})}};
    row.bytes = 2.0 * sizeof(float) * kWidth * kRowsOf64Mb;
    return run_network(bench, row, run);
}

constexpr Scene kScenes[] = {
    {"gelu_custom", "x * (erf(x / sqrt 2) + 1) / 2 of 64 MB", run_gelu},
};

}  // namespace

std::span<const Scene> elementwise_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
