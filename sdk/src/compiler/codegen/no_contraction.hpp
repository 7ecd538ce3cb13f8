// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// SPIR-V in which a product and the sum behind it stay two operations, wherever they stand.
//
// A driver may make one operation of them, which rounds once, and chooses by what else is in the kernel.  So a value had
// other bits in a kernel of one simulated step than in one of four.  What is to be one operation says so: fma.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// The module with each product and quotient of floats decorated NoContraction (SPIR-V 1.6, 3.20).
/// spirv  as glslang writes it.
std::vector<uint32_t> without_contraction(std::span<const uint32_t> spirv);

}  // namespace hearth
