// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Wrappers for compiler and C library differences.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Marks a function that takes a printf format, so that the compiler checks its arguments.
// gnu_printf: MinGW's own printf is the standard one, but plain `printf` means Microsoft's old one.
#if defined(__MINGW32__) && !defined(__clang__)
#define HEARTH_PRINTF(format_index, first_argument) \
    __attribute__((format(gnu_printf, format_index, first_argument)))
#elif defined(__GNUC__)
#define HEARTH_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define HEARTH_PRINTF(format_index, first_argument)
#endif

// Compiler name and version; GCC's __VERSION__ has only the number.
#if defined(__GNUC__) && !defined(__clang__)
#define HEARTH_COMPILER_VERSION "g++ " __VERSION__
#elif defined(__VERSION__)
#define HEARTH_COMPILER_VERSION __VERSION__
#elif defined(_MSC_FULL_VER)
#define HEARTH_COMPILER_VERSION_(number) "MSVC " #number
#define HEARTH_COMPILER_VERSION_OF(number) HEARTH_COMPILER_VERSION_(number)
#define HEARTH_COMPILER_VERSION HEARTH_COMPILER_VERSION_OF(_MSC_FULL_VER)
#else
#define HEARTH_COMPILER_VERSION "unknown compiler"
#endif

namespace hearth {

/// True if a + b overflows; *sum is the sum modulo 2^64.
constexpr bool add_overflows(uint64_t a, uint64_t b, uint64_t* sum) {
    *sum = a + b;
    return *sum < a;
}

/// True if a * b overflows; *product is the product modulo 2^64.
constexpr bool multiply_overflows(uint64_t a, uint64_t b, uint64_t* product) {
#if defined(__GNUC__)
    return __builtin_mul_overflow(a, b, product);
#else
    *product = a * b;
    return a != 0 && *product / a != b;
#endif
}

/// The same for signed numbers: true if the result overflows, which is then modulo 2^64.
constexpr bool add_overflows(int64_t a, int64_t b, int64_t* sum) {
    *sum = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return b < 0 ? *sum > a : *sum < a;
}
constexpr bool subtract_overflows(int64_t a, int64_t b, int64_t* difference) {
    *difference = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    return b < 0 ? *difference < a : *difference > a;
}
constexpr bool multiply_overflows(int64_t a, int64_t b, int64_t* product) {
    *product = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    if (a == 0 || b == 0) return false;
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return true;
    return *product / b != a;
}

/// Allocates `bytes` at a multiple of `alignment`, a power of two; returns null if out of memory.
inline void* allocate_aligned(size_t bytes, size_t alignment) {
#if defined(_WIN32)
    return _aligned_malloc(bytes, alignment);
#else
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#endif
}

/// Frees memory from allocate_aligned(), or null.
inline void free_aligned(void* memory) {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

}  // namespace hearth
