// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints a body as a SPIR-V module, 1.3 or 1.5.
//
// Values that are set once are ids; variables and arrays are OpVariables, which drivers promote.  Every product, quotient
// and fused multiply-add is decorated NoContraction, so that a kernel computes the same on all devices.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace hearth {

/// How a kernel meets its host and its device.
struct SpirvOptions {
    uint32_t version = 0x00010500;
    BindingModel binding_model = BindingModel::kDeviceAddress;
    std::array<uint32_t, 3> local_size{1, 1, 1};
    /// The body's operands in the order in which they are bound: by address in push constants, else as descriptors.  The
    /// first `located_count` are places in the arena or the weights instead, by specialization constants; those two
    /// regions are bound ahead of the others (program/program.hpp).
    std::vector<uint32_t> order;
    uint32_t located_count = 0;
    uint32_t word_count = 0;  ///< behind them a dispatch pushes so many words
    bool uses_rows = false;   ///< the live row count is the last operand

    CooperativeMatrixExt matrices =
        CooperativeMatrixExt::kNone;  ///< by which fragments are printed
    bool has_dot_halves = false;      ///< SPV_VALVE_mixed_float_dot_product

    // Workarounds (core/driver_workarounds.hpp).
    bool divides_exactly = false;
    bool guards_rounding = false;
    bool guards_nan = false;
};

/// Errors: kUnsupported for vector registers of CPUs, and for what only hand-written texts use.
Result<std::vector<uint32_t>> print_spirv(const Body& body, const SpirvOptions& options);

}  // namespace hearth
