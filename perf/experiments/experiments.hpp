// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Entry points of the experiments.

#pragma once

#include "gpu.hpp"
#include "report.hpp"

#include <cstdint>
#include <span>

namespace hearth::experiments {

/// Experiment 1: training and inference of the small network as separate kernels, as kernels with
/// fused epilogues, and as a fused network in several tile shapes. Checked against the CPU
/// first.
void run_training(Gpu& gpu, Report& report, std::span<const uint32_t> batches, double budget_s);

/// Experiment 3: the same network on matrix cores, f16 with f32 accumulators and f32 master
/// weights, in many shapes; skipped if the device has no such matrices. Checked against the CPU
/// first.
void run_matrix_cores(Gpu& gpu, Report& report, std::span<const uint32_t> batches, double budget_s);

/// Experiment 2: many small dispatches, saxpy and a matrix product with buffers bound by device
/// address, by pre-allocated descriptor sets, by one set with dynamic offsets, by push descriptors.
void run_binding_models(Gpu& gpu, Report& report, double budget_s);

}  // namespace hearth::experiments
