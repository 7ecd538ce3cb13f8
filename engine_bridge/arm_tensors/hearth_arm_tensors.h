/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Describes a binding's tensor for VK_ARM_tensors, for an application that accesses the same bytes
 * as a VkTensorARM: fills VkTensorDescriptionARM, with linear tiling. C and C++; needs hearth.h and
 * vulkan.h, but no header that knows the extension:
 *
 *     hearth_arm_tensor t;
 *     if (hearth_arm_tensor_of(&binding, batch_size, 0, &t) == HEARTH_OK)
 *         description.format = t.format, description.dimensionCount = t.rank,
 *         description.pDimensions = t.dimensions, description.pStrides = t.strides;
 *
 * Untested on a device. Hearth's kernels access the underlying buffer. */

#ifndef HEARTH_ARM_TENSORS_H_
#define HEARTH_ARM_TENSORS_H_

#include <hearth/hearth.h>

#include <vulkan/vulkan.h>

#if defined(__cplusplus)
#define HEARTH_ARM_INLINE inline
#define HEARTH_ARM_INT64(value) static_cast<int64_t>(value)
#else
#define HEARTH_ARM_INLINE static inline
#define HEARTH_ARM_INT64(value) ((int64_t)(value))
#endif

typedef struct hearth_arm_tensor {
    VkFormat format; /* of one component */
    uint32_t rank;   /* at least 1: a scalar has one element along one dimension */
    int64_t dimensions[HEARTH_MAX_RANK];
    int64_t strides[HEARTH_MAX_RANK]; /* bytes, outermost dimension first, as in VK_ARM_tensors */
} hearth_arm_tensor;

/* Returns the format of an element in memory; VK_FORMAT_UNDEFINED for bf16, which has no
 * single-component format, and for booleans. */
HEARTH_ARM_INLINE VkFormat hearth_arm_format_of(hearth_dtype dtype, uint32_t* bytes) {
    switch (dtype) {
        case HEARTH_F32:
            return *bytes = 4, VK_FORMAT_R32_SFLOAT;
        case HEARTH_F16:
            return *bytes = 2, VK_FORMAT_R16_SFLOAT;
        case HEARTH_F64:
            return *bytes = 8, VK_FORMAT_R64_SFLOAT;
        case HEARTH_I8:
            return *bytes = 1, VK_FORMAT_R8_SINT;
        case HEARTH_U8:
            return *bytes = 1, VK_FORMAT_R8_UINT;
        case HEARTH_I16:
            return *bytes = 2, VK_FORMAT_R16_SINT;
        case HEARTH_U16:
            return *bytes = 2, VK_FORMAT_R16_UINT;
        case HEARTH_I32:
            return *bytes = 4, VK_FORMAT_R32_SINT;
        case HEARTH_U32:
            return *bytes = 4, VK_FORMAT_R32_UINT;
        case HEARTH_I64:
            return *bytes = 8, VK_FORMAT_R64_SINT;
        case HEARTH_U64:
            return *bytes = 8, VK_FORMAT_R64_UINT;
        default:
            return *bytes = 0, VK_FORMAT_UNDEFINED;
    }
}

/* batch_size   current batch size; the shape of a VkTensorARM is fixed
 * item_stride  hearth_tensor_binding::item_stride: bytes from one batch item to the next; 0: packed
 * Errors: HEARTH_ERROR_UNSUPPORTED for an element type without a format;
 * HEARTH_ERROR_INVALID_ARGUMENT for a stride if the first dimension is not the batch, or smaller
 * than an item. */
HEARTH_ARM_INLINE hearth_result hearth_arm_tensor_of(const hearth_binding_info* binding,
                                                     uint64_t batch_size, uint64_t item_stride,
                                                     hearth_arm_tensor* out) {
    uint32_t element_bytes = 0;
    const VkFormat format = hearth_arm_format_of(binding->device_dtype, &element_bytes);
    int64_t stride = HEARTH_ARM_INT64(element_bytes);
    uint32_t i;
    if (format == VK_FORMAT_UNDEFINED) return HEARTH_ERROR_UNSUPPORTED;
    out->format = format;
    out->rank = binding->rank > 0 ? binding->rank : 1;
    out->dimensions[0] = 1;
    out->strides[0] = stride;
    for (i = binding->rank; i-- > 0;) {
        const hearth_dim dim = binding->dims[i];
        out->dimensions[i] =
            HEARTH_ARM_INT64(dim.count) * (dim.is_batch != 0 ? HEARTH_ARM_INT64(batch_size) : 1);
        out->strides[i] = stride;
        stride *= out->dimensions[i];
    }
    if (item_stride == 0) return HEARTH_OK;
    /* An item must be one step along the first dimension. */
    if (binding->rank == 0 || binding->dims[0].is_batch == 0 || binding->dims[0].count != 1 ||
        HEARTH_ARM_INT64(item_stride) < out->strides[0])
        return HEARTH_ERROR_INVALID_ARGUMENT;
    out->strides[0] = HEARTH_ARM_INT64(item_stride);
    return HEARTH_OK;
}

#undef HEARTH_ARM_INT64
#undef HEARTH_ARM_INLINE

#endif /* HEARTH_ARM_TENSORS_H_ */
