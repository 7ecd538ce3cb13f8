// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of convolutions on CPUs, and of the windows of images that products read there; gpu_conv_kernel.hpp has those
// of GPUs.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/ops/kernels/cpu_conv_strips.hpp"

namespace hearth {

/// Of a convolution for which has_strip_kernel(): strips of rows of windows.
KernelDraft cpu_conv_kernel(const KernelTask& task, const ConvStrip& strip);

/// Of a convolution for which has_depthwise_kernel().
KernelDraft cpu_depthwise_kernel(const KernelTask& task);

/// Of windows for which has_unfold_kernel().
KernelDraft cpu_unfold_kernel(const KernelTask& task);

}  // namespace hearth
