// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reductions: each row belongs to one thread (short rows) or one workgroup (long ones).  For each reduction: a loop over
// the row, then a tree through shared memory; then one more loop writes what has the row's full length.  Trees are
// fixed: results are deterministic.
//
// Depth-first recomputation inside a loop costs arithmetic instead of memory; see compiler/fusion/fuse.hpp.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/kernel_part.hpp"

#include <cstdint>

namespace hearth {

KernelPart reduction_part(const KernelTask& task, Body& body, Expr workgroup);

/// How a reduction deals out its work: short rows get a thread each, so that a workgroup
/// has many; long ones a workgroup.  Rows that lie across the memory get some threads each, side by
/// side, so that neighbouring threads read neighbouring elements.
struct ReductionLayout {
    Shape outer, row;      ///< extents that stay, and those that are reduced
    uint32_t lanes = 1;    ///< threads of each result
    uint32_t columns = 1;  ///< results of a workgroup, at a time
    bool is_looped = false;
};
ReductionLayout reduction_layout(const Group& group, const LowerOptions& options);

}  // namespace hearth
