/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* engine_bridge/arm_tensors: whatever VkTensorDescriptionARM says of a tensor, a binding says, too. */

#include "arm_tensors/hearth_arm_tensors.h"

#include <stdio.h>
#include <string.h>

/* VK_ARM_tensors, version 1: as the registry has it, under names of our own. */
typedef struct description_arm {
    VkStructureType type;
    const void* next;
    int32_t tiling;
    VkFormat format;
    uint32_t dimension_count;
    const int64_t* dimensions;
    const int64_t* strides;
    VkFlags64 usage;
} description_arm;

_Static_assert(HEARTH_MAX_RANK >= 6, "ranks that VK_ARM_tensors may have");
_Static_assert(sizeof(((hearth_arm_tensor*)0)->dimensions[0]) == sizeof(int64_t), "dimensions");

static int failures = 0;
#define EXPECT(condition)                                                                    \
    do {                                                                                     \
        if (!(condition)) ++failures, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)

int main(void) {
    hearth_binding_info x = hearth_binding_info_default();
    hearth_arm_tensor t;
    x.device_dtype = HEARTH_F32;
    x.rank = 3;
    x.dims[0].count = 1;
    x.dims[0].is_batch = 1;
    x.dims[1].count = 5;
    x.dims[2].count = 7;

    memset(&t, 0xff, sizeof t);
    EXPECT(hearth_arm_tensor_of(&x, 4, 0, &t) == HEARTH_OK);
    const description_arm d = {.format = t.format,
                               .dimension_count = t.rank,
                               .dimensions = t.dimensions,
                               .strides = t.strides};
    EXPECT(d.format == VK_FORMAT_R32_SFLOAT && d.dimension_count == 3);
    EXPECT(d.dimensions[0] == 4 && d.dimensions[1] == 5 && d.dimensions[2] == 7);
    EXPECT(d.strides[0] == 140 && d.strides[1] == 28 && d.strides[2] == 4);

    /* Rows apart. */
    EXPECT(hearth_arm_tensor_of(&x, 4, 256, &t) == HEARTH_OK);
    EXPECT(t.strides[0] == 256 && t.strides[1] == 28 && t.strides[2] == 4);
    EXPECT(hearth_arm_tensor_of(&x, 4, 136, &t) == HEARTH_ERROR_INVALID_ARGUMENT);
    x.dims[0].is_batch = 0;
    EXPECT(hearth_arm_tensor_of(&x, 4, 256, &t) == HEARTH_ERROR_INVALID_ARGUMENT);
    EXPECT(hearth_arm_tensor_of(&x, 4, 0, &t) == HEARTH_OK && t.dimensions[0] == 1);

    /* Narrow elements, a scalar, and what has no format. */
    x.device_dtype = HEARTH_I8;
    x.rank = 0;
    EXPECT(hearth_arm_tensor_of(&x, 4, 0, &t) == HEARTH_OK);
    EXPECT(t.format == VK_FORMAT_R8_SINT && t.rank == 1 && t.dimensions[0] == 1 &&
           t.strides[0] == 1);
    x.device_dtype = HEARTH_BF16;
    EXPECT(hearth_arm_tensor_of(&x, 4, 0, &t) == HEARTH_ERROR_UNSUPPORTED);
    x.device_dtype = HEARTH_F64;
    EXPECT(hearth_arm_tensor_of(&x, 4, 0, &t) == HEARTH_OK && t.strides[0] == 8);
    return failures != 0;
}
