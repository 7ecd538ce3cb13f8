// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of a native device as a file of C: functions, and the table by which hearth_cpu_context_create_info finds them.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/status.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

struct NativeFunction {
    uint64_t hash = 0;  ///< of what it does and whose vector registers it uses: NativeCode::hash
    std::string text;   ///< its definition (print_c), named by the hash
};

/// Errors: as print_c().
Result<NativeFunction> print_native_function(const Body& body, CpuIsa cpu);

/// A function's hash and text, borrowed.
struct NativeFunctionRef {
    uint64_t hash = 0;
    std::string_view text;
};

/// A file of C11 with `functions`, each once, and the table of them: `const hearth_cpu_kernel_table TABLE`.
/// table  an identifier of C.
std::string print_native_table(std::span<const NativeFunctionRef> functions, CpuIsa cpu,
                               std::string_view table);

}  // namespace hearth
