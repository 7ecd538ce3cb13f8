// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernel families, each defined in the folder of its name.

#pragma once

#include "compiler/codegen/kernel_family.hpp"

namespace hearth {

extern const KernelFamily kAttentionFamily;
extern const KernelFamily kGruFamily;
extern const KernelFamily kMatmulFamily;
extern const KernelFamily kDepthwiseConvFamily;
extern const KernelFamily kConvFamily;
extern const KernelFamily kGpuConvFamily;
extern const KernelFamily kUnfoldFamily;
extern const KernelFamily kRowsFamily;
extern const KernelFamily kCustomFamily;
extern const KernelFamily kReductionFamily;
extern const KernelFamily kElementwiseFamily;

}  // namespace hearth
