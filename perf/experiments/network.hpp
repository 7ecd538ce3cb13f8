// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

// The network of the experiments, and its CPU reference in double precision.

namespace hearth::experiments {

constexpr uint32_t kWidth = 64;
constexpr uint32_t kLayers = 5;
constexpr uint32_t kLayerFloats = kWidth * kWidth + kWidth;  // w[in][out], then b[out]
constexpr uint32_t kParamFloats = kLayers * kLayerFloats;
constexpr float kLearningRate = 1e-3f;

/// A batch and the parameters before the first step.
struct Problem {
    uint32_t rows = 0;
    std::vector<float> x;        // [rows, 64]
    std::vector<float> target;   // [rows, 64]
    std::vector<float> weights;  // kParamFloats
};

/// Results of the CPU reference.
struct Reference {
    std::vector<float> sample_y;  // outputs before the first step: first and last 256 rows
    std::vector<double> losses;   // before each step
    std::vector<double> weights;  // after the last step
};

/// Inputs uniform in [-1, 1], smooth targets, Kaiming-uniform weights; the same on every machine.
Problem make_problem(uint32_t rows);

/// Transposes the matrices of flat parameters (biases stay).
std::vector<float> transposed(std::span<const float> weights);

/// Forward, mean squared error, backward and Adam, `steps` times, in double.
/// Deterministic for any number of threads.
Reference train_on_cpu(const Problem& problem, int steps);

}  // namespace hearth::experiments
