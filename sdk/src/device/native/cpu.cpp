// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects the instruction set of this machine's CPU.

#include "device/native/device.hpp"

namespace hearth::native {

Cpu machine_cpu() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return Cpu::kX86_64V4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return Cpu::kX86_64V3;
    return __builtin_cpu_supports("sse4.2") ? Cpu::kX86_64V2 : Cpu::kScalar;
#elif defined(__aarch64__)
    return Cpu::kNeon;
#elif defined(__wasm_simd128__)
    return Cpu::kWasm128;
#else
    return Cpu::kScalar;
#endif
}

bool runs_on(Cpu wanted, Cpu given) {
    const auto is_x86 = [](Cpu cpu) { return cpu >= Cpu::kX86_64V2 && cpu <= Cpu::kX86_64V4; };
    return wanted == Cpu::kScalar || wanted == given ||
           (is_x86(wanted) && is_x86(given) && wanted < given);
}

}  // namespace hearth::native
