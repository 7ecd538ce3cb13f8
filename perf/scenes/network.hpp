// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A benchmark row that is a network: compared with the CPU reference, then timed.

#pragma once

#include "bench.hpp"

#include <hearth/tensor.hpp>

#include <memory>

namespace hearth::perf {

/// A network, its data, and the required accuracy.
struct NetworkRun {
    std::unique_ptr<Trace> trace;
    /// Inputs with `pattern_rows` rows. Larger batches repeat them, so that the reference's results
    /// for the pattern hold row by row, and as a mean.
    NamedTensors inputs;
    int64_t rows = 1, pattern_rows = 1;
    /// Number of steps after which parameters and states are compared, and the output "loss" must
    /// have decreased; 0: no training.
    int trained_steps = 0;
    bool has_loss = true;     ///< false: parameters and states must stay finite instead
    double tolerance = 1e-3;  ///< relative to each tensor's norm
    Precision precision = Precision::kF32;
    double least_norm = 0;  ///< lower bound of the norm, per element
};

/// Results of the reference for the pattern.
struct Reference {
    NamedTensors outputs;
    NamedTensors weights;  ///< parameters and states afterwards
};
Result<Reference> reference(const NetworkRun& network);

/// Networks shared with hearth_perf_native; they fill in the row's flops and bytes.
NetworkRun mlp_infer_network(Row& row);
NetworkRun mlp_train_network(Row& row);
NetworkRun ppo_network(Row& row);
NetworkRun digits_train_network(Row& row);
NetworkRun mobilenet_v2_network(Row& row);
NetworkRun squeezenet_network(Row& row);

/// Fills in all of the row except flops and bytes, which must be set.
Status run_network(Bench& bench, Row& row, const NetworkRun& network);

}  // namespace hearth::perf
