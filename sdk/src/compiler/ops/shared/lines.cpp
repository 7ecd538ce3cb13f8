// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/shared/lines.hpp"

namespace hearth {

KernelLines::KernelLines(KernelBuilder& k, int axis)
    : type(k.in_type(0)), count(k.index(1)), extent(k.in_dim(0, axis)), stride(k.index(1)) {
    for (int i = 0; i < k.in_rank(0); ++i) {
        if (i == axis) continue;
        count = count * k.in_dim(0, i);
        if (i > axis) stride = stride * k.in_dim(0, i);
    }
}

}  // namespace hearth
