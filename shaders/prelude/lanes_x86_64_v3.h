/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

#if !defined(__AVX2__) || !defined(__FMA__)
#error "cooked for x86-64-v3: compile with -march=x86-64-v3, or cook for another CPU"
#endif
#include <immintrin.h>
HEARTH_FMA_LANES(4, __m128, _mm_fmadd_ps)
HEARTH_FMA_LANES(8, __m256, _mm256_fmadd_ps)
