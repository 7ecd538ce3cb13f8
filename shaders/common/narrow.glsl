// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Floats of 16 bits: rounding to nearest even, as HostTensor rounds.  How OpFConvert rounds is the
// driver's choice (Vulkan 1.2, "Precision and Operation of SPIR-V Instructions"), so values are
// made exact in f16 first; the conversion after that changes nothing.

#ifdef HEARTH_CONVERTS_TO_NEAREST
// Every GPU with matrix cores that we know of rounds so anyway, at a fraction of the cost.  One driver
// (NVIDIA 580) takes a conversion there and back for the value itself, even through bits; so the
// bits depend on the value once more, by a NaN that stays one.
float hearth_round_f16(float x) {
    const uint odd_nan = uint(floatBitsToUint(x) == 0x7fc12345u);
    return unpackHalf2x16(packHalf2x16(vec2(x, 0.0)) ^ odd_nan).x;
}
#else
float hearth_round_f16(float x) {
    const uint bits = floatBitsToUint(x);
    uint magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) return x;  // infinity, NaN
    // Below 2^-14 f16 has steps of 2^-24.
    if (magnitude < 0x38800000u) return roundEven(x * 16777216.0) * 5.9604644775390625e-8;
    magnitude = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & ~0x1fffu;
    if (magnitude > 0x477fe000u) magnitude = 0x7f800000u;  // beyond 65504
    return uintBitsToFloat(magnitude | (bits & 0x80000000u));
}
#endif

float hearth_round_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if (isnan(x)) return uintBitsToFloat((bits | 0x400000u) & 0xffff0000u);
    return uintBitsToFloat((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
}
