// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/native_kernels.hpp"

#include "compiler/print/c.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <vector>

namespace hearth {

namespace {

std::string hex(uint64_t value) {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4)
        digits += "0123456789abcdef"[value >> static_cast<unsigned>(shift) & 15];
    return digits;
}

std::string name_of(uint64_t hash) {
    return "hearth_kernel_" + hex(hash);
}

constexpr std::string_view kParameters =
    "(void* const* operands, int32_t rows, int32_t first, int32_t end, int32_t workgroups)";

}  // namespace

Result<NativeFunction> print_native_function(const Body& body, CpuIsa cpu) {
    // What prelude and vector registers are in the file is part of what a function does.
    HEARTH_ASSIGN(const std::string text, print_c(body, "hearth_kernel"));
    Hash hash;
    hash.number(static_cast<uint8_t>(cpu)).text(c_prelude()).text(text);
    if (body_requirements(body).lanes) hash.text(c_lanes(cpu));
    NativeFunction function{hash.value(), {}};
    HEARTH_ASSIGN(function.text, print_c(body, name_of(function.hash)));
    return function;
}

std::string print_native_table(std::span<const NativeFunctionRef> functions, CpuIsa cpu,
                               std::string_view table) {
    std::vector<NativeFunctionRef> sorted(functions.begin(), functions.end());
    const auto by_hash = [](const NativeFunctionRef& a, const NativeFunctionRef& b) {
        return a.hash < b.hash;
    };
    std::sort(sorted.begin(), sorted.end(), by_hash);
    sorted.erase(std::unique(sorted.begin(), sorted.end(),
                             [](const auto& a, const auto& b) { return a.hash == b.hash; }),
                 sorted.end());
    std::string text =
        "/* Kernels of a native device of Hearth (hearth_create_native_context): do not edit.\n\n"
        "   C11 that needs memcpy and memset, and functions of <math.h>.  Compile with -fwrapv "
        "-fno-strict-aliasing,\n"
        "   and with -ffp-contract=off for the same bits from every compiler; -fno-math-errno "
        "makes "
        "square roots vectors. */\n\n" +
        std::string(c_prelude()) + "\n" + std::string(c_lanes(cpu));
    text +=
        "\n#ifndef HEARTH_H_ /* as in hearth.h */\n"
        "typedef void hearth_cpu_kernel_fn(void* const* operands, int32_t rows, int32_t first,\n"
        "                                    int32_t end, int32_t workgroups);\n"
        "typedef struct hearth_cpu_kernel {\n    uint64_t hash;\n"
        "    hearth_cpu_kernel_fn* function;\n} hearth_cpu_kernel;\n"
        "typedef struct hearth_cpu_kernel_table {\n    uint32_t cpu;\n    uint32_t count;\n"
        "    const hearth_cpu_kernel* kernels;\n} hearth_cpu_kernel_table;\n#endif\n"
        "\n#if defined(__GNUC__)\n#pragma GCC diagnostic push\n"
        "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
        "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n#endif\n";
    for (const NativeFunctionRef& f : sorted)
        text += "\nstatic void " + name_of(f.hash) + std::string(kParameters) + ";\n" +
                std::string(f.text);
    text += "\n#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n";
    text += "\nstatic const hearth_cpu_kernel " + std::string(table) + "_list[] = {\n";
    for (const NativeFunctionRef& f : sorted)
        text += "    {UINT64_C(0x" + hex(f.hash) + "), " + name_of(f.hash) + "},\n";
    if (sorted.empty()) text += "    {0, 0},\n";
    return text + "};\nextern const hearth_cpu_kernel_table " + std::string(table) +
           ";\nconst hearth_cpu_kernel_table " + std::string(table) + " = {" +
           std::to_string(static_cast<int>(cpu)) + ", " + std::to_string(sorted.size()) + ", " +
           std::string(table) + "_list};\n";
}

}  // namespace hearth
