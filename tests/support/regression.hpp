// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A function for small networks to fit.

#pragma once

#include "compiler/interpreter/interpreter.hpp"

#include <hearth/core/philox.hpp>

#include <cmath>

namespace hearth::test {

/// Points of y = (sin 3a, a b) with x = (a, b) in [-1, 1), others for each step.
inline NamedTensors regression_batch(int step, int64_t rows) {
    HostTensor x(DType::kF32, {rows, 2}), y(DType::kF32, {rows, 2});
    for (int64_t r = 0; r < rows; ++r) {
        double in[2];
        for (int64_t i = 0; i < 2; ++i) {
            const auto element = static_cast<uint32_t>(2 * r + i);
            in[i] = 2 * uniform_from_bits(philox_bits(1, static_cast<uint32_t>(step), element)) - 1;
            x.set(2 * r + i, in[i]);
        }
        y.set(2 * r, std::sin(3 * in[0]));
        y.set(2 * r + 1, in[0] * in[1]);
    }
    return {{"x", x}, {"y", y}};
}

}  // namespace hearth::test
