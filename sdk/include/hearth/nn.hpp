// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Layers: graph code that declares its own params, "name.weight" and so on.  Calling a layer again
// under the same name uses the same params; random contents depend on name and seed alone.

#pragma once

#include <hearth/tensor.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::nn {

/// First contents of weights of [out, in].
enum class WeightInit {
    kFanIn,    ///< uniform within 1 / sqrt(in), biases too (PyTorch's choice for linear layers)
    kKaiming,  ///< uniform within sqrt(6 / in), biases zero (He et al., 2015; for relu)
    kXavier,   ///< uniform within sqrt(6 / (in + out)), biases zero (Glorot and Bengio, 2010)
    kZeros,    ///< the layer starts as zero
};

Init weight_init(WeightInit rule, int64_t in_features, int64_t out_features, uint64_t seed = 0);

struct LinearOptions {
    bool bias = true;
    WeightInit init = WeightInit::kFanIn;
    uint64_t seed = 0;
};

/// x: [..., in] -> [..., out_features].  Params: name.weight [out_features, in] and name.bias
/// [out_features], of x's element type.
Tensor linear(Trace& trace, std::string_view name, const Tensor& x, int64_t out_features,
              const LinearOptions& options = {});

/// Linear layers name.0, name.1, ... of these widths, with `activation` between them but not after
/// the last.  x: [..., in] -> [..., widths.back()].
Tensor mlp(Trace& trace, std::string_view name, const Tensor& x, std::span<const int64_t> widths,
           Tensor (*activation)(const Tensor&), const LinearOptions& options = {});
Tensor mlp(Trace& trace, std::string_view name, const Tensor& x,
           std::initializer_list<int64_t> widths, Tensor (*activation)(const Tensor&),
           const LinearOptions& options = {});

}  // namespace hearth::nn
