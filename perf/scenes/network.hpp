// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A row that is a network: compared with the CPU reference, then timed.

#pragma once

#include "bench.hpp"

#include <hearth/tensor.hpp>

#include <memory>

namespace hearth::perf {

/// A network, its data, and how exactly the device must compute it.
struct NetworkRun {
    std::unique_ptr<Trace> trace;
    /// What goes in, of `pattern_rows` rows; at more rows they repeat, so that what the reference
    /// finds for the pattern holds row by row, and as a mean over rows.
    NamedTensors inputs;
    int64_t rows = 1, pattern_rows = 1;
    /// Params and states are compared after this many steps, and the output "loss" must get less;
    /// 0: the network is not trained.
    int trained_steps = 0;
    bool has_loss = true;     ///< false: params and states must stay finite instead
    double tolerance = 1e-3;  ///< relative, of each tensor's norm
    Precision precision = Precision::kF32;
    double least_norm = 0;  ///< for each element; smaller norms count as so much
};

/// What the reference computes for the pattern.
struct Reference {
    NamedTensors outputs;
    NamedTensors weights;  ///< params and states afterwards
};
Result<Reference> reference(const NetworkRun& network);

/// The networks of rows that hearth_perf_native has as well; they fill in the row's flops and bytes.
NetworkRun mlp_infer_network(Row& row);
NetworkRun mlp_train_network(Row& row);
NetworkRun ppo_network(Row& row);
NetworkRun digits_train_network(Row& row);
NetworkRun mobilenet_v2_network(Row& row);
NetworkRun squeezenet_network(Row& row);

/// Fills in all of the row but flops and bytes, which it must have.
Status run_network(Bench& bench, Row& row, const NetworkRun& network);

}  // namespace hearth::perf
