/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The native plug-in for Unity (Vulkan): additions to hearth.h, for P/Invoke, which calls the rest
 * directly. */

#ifndef HEARTH_UNITY_H_
#define HEARTH_UNITY_H_

#include <hearth/hearth.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The data of one plug-in event; valid until the render thread has run it. */
typedef struct hearth_unity_recording {
    hearth_session* session;
    const hearth_record_info* info; /* command_buffer is filled in */
    uint32_t initialize;            /* non-zero: hearth_record_initialize first */
    int32_t result;                 /* a hearth_result, written by the event */
} hearth_unity_recording;

/* The context on Unity's device, or NULL if Unity does not use Vulkan or after an error
 * (hearth_unity_error). */
HEARTH_API hearth_context* hearth_unity_context(void);
HEARTH_API const char* hearth_unity_error(void);
/* For CommandBuffer.IssuePluginEventAndData(hearth_unity_record(), hearth_unity_event(),
 * recording). */
HEARTH_API void* hearth_unity_record(void);
HEARTH_API int hearth_unity_event(void);

#ifdef __cplusplus
}
#endif

#endif /* HEARTH_UNITY_H_ */
