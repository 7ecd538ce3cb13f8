// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The CPU reference of the experiments' network.

#include "network.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

namespace hearth::experiments {
namespace {

constexpr uint32_t kChunkRows = 256;

/// Uniform in [-1, 1), a function of (stream, index): the finalizer of SplitMix64 (Steele 2014).
float uniform(uint64_t stream, uint64_t index) {
    uint64_t z = (stream << 40) + index * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return static_cast<float>(static_cast<double>(z >> 40) * 0x1p-23 - 1.0);
}

using Row = std::array<double, kWidth>;

/// Loss and gradients of a range of rows.
struct Partial {
    double loss = 0;
    std::vector<double> gradient = std::vector<double>(kParamFloats);
    std::vector<float> y;
};

Partial run_rows(const Problem& problem, const std::vector<double>& weights, uint32_t begin,
                 uint32_t end, bool keeps_outputs) {
    Partial partial;
    const double scale = 1.0 / (static_cast<double>(problem.rows) * kWidth);
    std::array<Row, kLayers + 1> h;
    for (uint32_t r = begin; r < end; ++r) {
        for (uint32_t k = 0; k < kWidth; ++k) h[0][k] = problem.x[uint64_t{r} * kWidth + k];
        for (uint32_t l = 0; l < kLayers; ++l) {
            const double* w = &weights[l * kLayerFloats];
            Row& out = h[l + 1];
            std::copy_n(w + kWidth * kWidth, kWidth, out.begin());
            for (uint32_t k = 0; k < kWidth; ++k) {
                for (uint32_t n = 0; n < kWidth; ++n) out[n] += h[l][k] * w[k * kWidth + n];
            }
            if (l + 1 < kLayers) {
                for (double& value : out) value = std::max(value, 0.0);
            }
        }
        Row delta;
        for (uint32_t n = 0; n < kWidth; ++n) {
            const double error = h[kLayers][n] - problem.target[uint64_t{r} * kWidth + n];
            partial.loss += error * error * scale;
            delta[n] = 2 * error * scale;
            if (keeps_outputs) partial.y.push_back(static_cast<float>(h[kLayers][n]));
        }
        for (uint32_t l = kLayers; l-- > 0;) {
            const double* w = &weights[l * kLayerFloats];
            double* g = &partial.gradient[l * kLayerFloats];
            Row previous{};
            for (uint32_t k = 0; k < kWidth; ++k) {
                const double value = h[l][k];
                double sum = 0;
                for (uint32_t n = 0; n < kWidth; ++n) g[k * kWidth + n] += value * delta[n];
                for (uint32_t n = 0; n < kWidth; ++n) sum += delta[n] * w[k * kWidth + n];
                previous[k] = value > 0 ? sum : 0;  // unused at layer 0
            }
            for (uint32_t n = 0; n < kWidth; ++n) g[kWidth * kWidth + n] += delta[n];
            delta = previous;
        }
    }
    return partial;
}

}  // namespace

Problem make_problem(uint32_t rows) {
    Problem problem;
    problem.rows = rows;
    problem.x.resize(uint64_t{rows} * kWidth);
    problem.target.resize(problem.x.size());
    for (uint64_t i = 0; i < problem.x.size(); ++i) problem.x[i] = uniform(1, i);
    for (uint64_t i = 0; i < problem.x.size(); ++i) {
        const uint64_t row = i / kWidth * kWidth;
        problem.target[i] = problem.x[i] * problem.x[row + (i + 7) % kWidth] + 0.25f;
    }
    problem.weights.resize(kParamFloats);
    const float bound = std::sqrt(6.0f / kWidth);  // He et al. 2015, for relu
    for (uint32_t i = 0; i < kParamFloats; ++i) {
        const bool is_bias = i % kLayerFloats >= kWidth * kWidth;
        problem.weights[i] = uniform(2, i) * (is_bias ? 0.1f : bound);
    }
    return problem;
}

std::vector<float> transposed(std::span<const float> weights) {
    std::vector<float> out(weights.begin(), weights.end());
    for (uint32_t l = 0; l < kLayers; ++l) {
        for (uint32_t k = 0; k < kWidth; ++k) {
            for (uint32_t n = 0; n < kWidth; ++n) {
                out[l * kLayerFloats + n * kWidth + k] = weights[l * kLayerFloats + k * kWidth + n];
            }
        }
    }
    return out;
}

Reference train_on_cpu(const Problem& problem, int steps) {
    Reference reference;
    reference.weights.assign(problem.weights.begin(), problem.weights.end());
    std::vector<double> m(kParamFloats), v(kParamFloats);
    const uint32_t chunks = (problem.rows + kChunkRows - 1) / kChunkRows;
    for (int step = 1; step <= steps; ++step) {
        std::vector<Partial> partials(chunks);
        std::atomic<uint32_t> next = 0;
        const auto work = [&] {
            for (uint32_t c = next++; c < chunks; c = next++) {
                const uint32_t begin = c * kChunkRows;
                partials[c] = run_rows(problem, reference.weights, begin,
                                       std::min(begin + kChunkRows, problem.rows),
                                       step == 1 && (c == 0 || c + 1 == chunks));
            }
        };
        std::vector<std::thread> threads;
        for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
            threads.emplace_back(work);
        }
        work();
        for (std::thread& thread : threads) thread.join();

        if (step == 1) {
            reference.sample_y = partials.front().y;
            reference.sample_y.insert(reference.sample_y.end(), partials.back().y.begin(),
                                      partials.back().y.end());
        }
        double loss = 0;
        std::vector<double> gradient(kParamFloats);
        for (const Partial& partial : partials) {
            loss += partial.loss;
            for (uint32_t i = 0; i < kParamFloats; ++i) gradient[i] += partial.gradient[i];
        }
        reference.losses.push_back(loss);
        const double correction1 = 1 - std::pow(0.9, step), correction2 = 1 - std::pow(0.999, step);
        for (uint32_t i = 0; i < kParamFloats; ++i) {
            m[i] = 0.9 * m[i] + 0.1 * gradient[i];
            v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
            reference.weights[i] -=
                kLearningRate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + 1e-8);
        }
    }
    return reference;
}

}  // namespace hearth::experiments
