/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Common parts of the WebAssembly modules for the page's JavaScript. */

#pragma once

#include <stddef.h>

#define PAGE_EXPORT(name) __attribute__((export_name(#name)))

/* Static memory of a network; NAME_ROWS and the like come from the cooked header. */
#define PAGE_NETWORK_MEMORY(UPPER, cooked_weights)                                              \
    static _Alignas(UPPER##_ALIGNMENT) unsigned char weights[UPPER##_WEIGHTS_BYTES];            \
    static _Alignas(UPPER##_ALIGNMENT) unsigned char arena[UPPER##_ARENA_BYTES];                \
    static const hearth_c_memory memory = {weights,      sizeof weights, arena,                 \
                                           sizeof arena, cooked_weights, UPPER##_COOKED_BYTES}; \
    static hearth_c_error error;                                                                \
    PAGE_EXPORT(weights) unsigned char* weights_of(void) {                                      \
        return weights;                                                                         \
    }                                                                                           \
    PAGE_EXPORT(error_text) const char* error_text(void) {                                      \
        return error.text;                                                                      \
    }
