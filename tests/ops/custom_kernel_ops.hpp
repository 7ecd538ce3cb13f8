// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records that exist for tests alone: each uses one feature of operators with a kernel of their
// own.

#pragma once

#include <hearth/op/op_def.hpp>

#include <span>

namespace hearth::test {

std::span<const OpDef* const> custom_kernel_ops();
/// The operators of docs/how-to/custom_kernels.md.
std::span<const OpDef* const> kernel_examples();

}  // namespace hearth::test
