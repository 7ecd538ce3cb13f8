// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks as C, for machines without a GPU: a header and a source file that need neither Hearth nor a heap.
// `hearth cook --target c` does the same; docs/cooked_c.md shows how to use what comes out.

#pragma once

#include <hearth/compile.hpp>
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

struct CookCOptions {
    Cpu cpu = Cpu::
        kScalar;  ///< whose vector registers products use; the compiler's flags must allow them
    std::string name =
        "net";  ///< an identifier of C: all names begin with it, and the header is NAME.h
    uint64_t rows_capacity = 1;
    /// Off: the weights' first contents are not in the source, but a file that the caller loads.
    bool weights_in_source = true;
    bool share_arena = true;  ///< entries never run at the same time in one arena
    QuantizeOptions quantize;
    Precision precision = Precision::kF32;
};

/// What cook_c() makes.
struct CookedC {
    std::string header, source;  ///< NAME.h, NAME.c
    std::vector<std::byte>
        weights;              ///< the weights' first contents; also in the source, if asked for
    uint64_t graph_hash = 0;  ///< Cooked::graph_hash
    uint64_t weights_bytes = 0, arena_bytes = 0, brain_bytes = 0;
    uint32_t kernel_count = 0, step_count = 0;  ///< functions, and calls of them over all entries
    std::vector<QuantizedWeight> quantized;
};

/// Compiles the entries to freestanding C11 for a CPU: a function for each, which takes up to
/// `rows_capacity` rows and works in memory of the caller's; functions that read and write brains as devices do
/// (docs/brain_format.md).  An entry that learns is one like any other.
///
/// Results are the same bits whichever way the caller divides an entry's jobs among threads, and from
/// any compiler that is told -ffp-contract=off -fwrapv and uses the same <math.h>.
///
/// Errors: as compile(); kUnsupported naming an operator without a kernel in C; kInvalidArgument for a name that
/// is no identifier.  Threads: any.  Deterministic.
Result<CookedC> cook_c(std::span<Trace* const> entries, const CookCOptions& options);
inline Result<CookedC> cook_c(std::initializer_list<Trace*> entries, const CookCOptions& options) {
    return cook_c(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// The functions of a program for a native device (compile() with cpu_caps()) as a file of C11, with the table that
/// hearth_native_info::tables takes: `const hearth_native_kernels TABLE`.  A game compiles and links it, for the CPU
/// that the program is for and with the flags that docs/cooked_c.md names, and needs no compiler when it runs.
///
/// table  an identifier of C.
/// Errors: kInvalidArgument for a program for a GPU; kNotFound for one that was stripped of its functions' texts.
Result<std::string> native_kernels(std::span<const std::byte> program, std::string_view table);

}  // namespace hearth
