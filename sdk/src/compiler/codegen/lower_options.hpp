// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Options of code generation: the device, its binding model, and what is fused.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace hearth {

struct LowerOptions {
    DeviceCaps caps;
    BindingModel binding_model = BindingModel::kDeviceAddress;
    uint64_t rows_capacity = 1;
    bool fuse = true;
    bool fused_networks = true;  ///< where a region of rows is one
    bool spare_memory = false;   ///< see FusionOptions
    bool compile_kernels =
        true;                 ///< else they have no code, and bodies alone are of use; as on CPUs
    bool keep_source = true;  ///< keep the GLSL in the Program, for people to read
    std::map<std::string, std::string> variants;  ///< of kernels, where measured: Tuning::variants
};

}  // namespace hearth
