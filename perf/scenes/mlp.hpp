// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small network typical of games: five 64x64 matrices with bias, relu between.

#pragma once

#include <hearth/tensor.hpp>

#include <memory>

namespace hearth::perf {

inline constexpr int64_t kMlpWidth = 64;
inline constexpr int kMlpLayers = 5;

/// x -> y; or for training (x, target) -> loss, with a step of Adam on the mean squared error.
std::unique_ptr<Trace> trace_mlp(bool is_training);

}  // namespace hearth::perf
