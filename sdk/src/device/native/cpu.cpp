// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects the instruction set of this machine's CPU.

#include "device/native/device.hpp"

namespace hearth::native {

CpuIsa machine_cpu() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return CpuIsa::kX86_64V4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return CpuIsa::kX86_64V3;
    return __builtin_cpu_supports("sse4.2") ? CpuIsa::kX86_64V2 : CpuIsa::kScalar;
#elif defined(__aarch64__)
    return CpuIsa::kNeon;
#elif defined(__wasm_simd128__)
    return CpuIsa::kWasm128;
#else
    return CpuIsa::kScalar;
#endif
}

bool runs_on(CpuIsa wanted, CpuIsa given) {
    const auto is_x86 = [](CpuIsa cpu) {
        return cpu >= CpuIsa::kX86_64V2 && cpu <= CpuIsa::kX86_64V4;
    };
    return wanted == CpuIsa::kScalar || wanted == given ||
           (is_x86(wanted) && is_x86(given) && wanted < given);
}

}  // namespace hearth::native
