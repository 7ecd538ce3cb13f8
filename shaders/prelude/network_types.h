/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef HEARTH_C_TYPES
#define HEARTH_C_TYPES

typedef enum hearth_c_result {
    HEARTH_C_OK,
    HEARTH_C_INVALID_ARGUMENT,
    HEARTH_C_OUT_OF_RANGE, /* rows or memory that are too many or too small */
    HEARTH_C_MISMATCH,     /* a brain or weights of another network */
    HEARTH_C_CORRUPT_DATA,
    HEARTH_C_NOT_FINITE, /* NaN or infinite: a network that has learned one never recovers */
    HEARTH_C_UNSUPPORTED /* another version of the format */
} hearth_c_result;

/* What was expected and what was found, in English.  Ends with a zero. */
typedef struct hearth_c_error {
    char text[256];
} hearth_c_error;

/* What a network works in: the caller's, one for each copy of the network that learns or acts by itself. */
typedef struct hearth_c_memory {
    void* weights; /* params, states and constants: they persist from call to call */
    size_t weights_bytes;
    void* arena; /* nothing in it lasts beyond a call */
    size_t arena_bytes;
    const void* cooked; /* the first contents of the weights, as cooked */
    size_t cooked_bytes;
} hearth_c_memory;

#endif /* HEARTH_C_TYPES */
