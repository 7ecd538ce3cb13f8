// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learning step of Loom: a texture as a feature grid and a small network.

#include "data.hpp"
#include "network.hpp"

#ifdef HEARTH_PERF_LOOM
#include <net.hpp>
#include <size.hpp>
#endif

namespace hearth::perf {

#ifdef HEARTH_PERF_LOOM

namespace {

// Multiply-adds per texel: six levels of two features, then 32, 32 and 3.
constexpr int64_t kProducts = 12 * 32 + 32 * 32 + 32 * 3;

Status run_texture_learn(Bench& bench, Row& row) {
    NetworkRun run{.trace = loom::trace_loom().learn,
                   .rows = loom::kBatchSize,
                   .pattern_rows = loom::kBatchSize,
                   .trained_steps = 2,
                   .tolerance = 1e-2,  // Adam amplifies the rounding of small gradients
                   .least_norm = 1e-4};
    HostTensor texels(DType::kI32, {loom::kBatchSize});
    for (int64_t i = 0; i < loom::kBatchSize; ++i)
        texels.set(i, static_cast<double>(i * 40503 % loom::kTexels));
    run.inputs = {{"picture", random_tensor("picture", {loom::kTexels, 3})}, {"texel", texels}};
    row.flops = 3.0 * 2.0 * static_cast<double>(loom::kBatchSize * kProducts);
    // A texel's colour, and per level four corners of two values, forward and backward.
    row.bytes = sizeof(float) * static_cast<double>(loom::kBatchSize) * (3 + 2 * 6 * 4 * 2);
    return run_network(bench, row, run);
}

constexpr Scene kScenes[] = {
    {"texture_learn", "a step of Loom's learning: 1,024 texels, hash grid, 32-32-3",
     run_texture_learn},
};

}  // namespace

std::span<const Scene> texture_scenes() {
    return kScenes;
}

#else

std::span<const Scene> texture_scenes() {
    return {};
}

#endif

}  // namespace hearth::perf
