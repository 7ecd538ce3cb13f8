// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/c.hpp"
#include "compiler/shaders/shader_text.hpp"

namespace hearth {

std::string_view c_prelude() {
    return prelude_text("kernel.h");
}

std::string_view c_lanes(CpuIsa cpu) {
    switch (cpu) {
        case CpuIsa::kX86_64V3:
            return prelude_text("lanes_x86_64_v3.h");
        case CpuIsa::kX86_64V4:
            return prelude_text("lanes_x86_64_v4.h");
        case CpuIsa::kNeon:
            return prelude_text("lanes_neon.h");
        default:
            return "HEARTH_LANES(4)\nHEARTH_PLAIN_MULTIPLY_ADD(4)\n";
    }
}

}  // namespace hearth
