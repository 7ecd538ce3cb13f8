/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

#if !defined(__aarch64__)
#error "cooked for NEON of AArch64: cook for another CPU"
#endif
#include <arm_neon.h>
HEARTH_LANES(4)
HEARTH_FUNCTION hearth_f32x4 hearth_multiply_add_f32x4(hearth_f32x4 a, hearth_f32x4 b,
                                                       hearth_f32x4 sum) {
    return (hearth_f32x4)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
}
