// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles networks to C, for machines without a GPU: a header and a source file that need neither
// Hearth nor a heap.  `hearth cook --target c` does the same; docs/how-to/cooked_c.md shows how to
// use the result.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct CompileToCOptions {
    /// Instruction set that matrix products use; the compiler's flags must allow it.
    CpuIsa cpu_isa = CpuIsa::kScalar;
    std::string name = "net";  ///< a C identifier: prefix of all names, and the header is NAME.h
    uint64_t max_batch_size = 1;
    /// Off: the initial weights are not in the source, but in a file that the caller loads.
    bool embed_weights = true;
    bool share_arena = true;  ///< entries never run at the same time in one arena
    QuantizeOptions quantize = {};
    Precision precision = Precision::kF32;
};

/// Result of compile_to_c().
struct CProgram {
    std::string header, source = {};  ///< NAME.h, NAME.c
    std::vector<std::byte> weights;  ///< the initial weights; also in the source with embed_weights
    uint64_t graph_hash = 0;         ///< Cooked::graph_hash
    uint64_t weights_bytes = 0, arena_bytes = 0, brain_bytes = 0;
    /// Functions, and calls of them over all entries.
    uint32_t kernel_count = 0, command_count = 0;
    std::vector<QuantizedWeight> quantized = {};
};

/// Compiles the entries to freestanding C11 for a CPU: one function per entry, which takes a batch
/// of up to `max_batch_size` items and works in memory of the caller's, and functions that read and
/// write brains in the format of devices (docs/reference/brain_format.md).  Entries that learn are
/// supported.
///
/// Results are bitwise equal however the caller divides an entry's jobs among threads, and for any
/// compiler that is given -ffp-contract=off -fwrapv and uses the same <math.h>.
///
/// Errors: as compile(); kUnsupported naming an operator without a kernel in C; kInvalidArgument
/// for a name that is not an identifier.  Threads: any.  Deterministic.
Result<CProgram> compile_to_c(std::span<Trace* const> entries, const CompileToCOptions& options);
inline Result<CProgram> compile_to_c(std::initializer_list<Trace*> entries,
                                     const CompileToCOptions& options) {
    return compile_to_c(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// Returns the functions of a program for a CPU device (compile() with cpu_caps()) as a C11 source
/// file, with the table for hearth_cpu_context_create_info::tables: `const hearth_cpu_kernel_table
/// TABLE`.  The application compiles it for the program's CPU, with the flags in
/// docs/how-to/cooked_c.md, and links it; it then needs no compiler at run time.
///
/// table  a C identifier.
/// Errors: kInvalidArgument for a program for a GPU; kNotFound for one whose sources were stripped.
Result<std::string> emit_cpu_kernels(std::span<const std::byte> program, std::string_view table);

}  // namespace hearth
