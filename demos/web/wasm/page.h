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

/* A network with the entries read (image -> scores) and learn (image, LABEL, rate -> loss): JavaScript
 * writes images and labels to where images() and labels() point, and calls. Each call returns 0, or an
 * error that error_text() describes. */
#define PAGE_CLASSIFIER(UPPER, lower, LABEL, PIXELS)                                               \
    PAGE_NETWORK_MEMORY(UPPER, lower##_cooked)                                                     \
    static float images_[UPPER##_ROWS * (PIXELS)], scores_[UPPER##_ROWS * 10], loss_;              \
    static int32_t labels_[UPPER##_ROWS];                                                          \
    static _Alignas(16) unsigned char brain_[2 * UPPER##_BRAIN_BYTES]; /* others' may be larger */ \
    PAGE_EXPORT(images) float* images(void) {                                                      \
        return images_;                                                                            \
    }                                                                                              \
    PAGE_EXPORT(labels) int32_t* labels(void) {                                                    \
        return labels_;                                                                            \
    }                                                                                              \
    PAGE_EXPORT(scores) float* scores(void) {                                                      \
        return scores_;                                                                            \
    }                                                                                              \
    PAGE_EXPORT(loss) float loss(void) {                                                           \
        return loss_;                                                                              \
    }                                                                                              \
    PAGE_EXPORT(most_rows) int most_rows(void) {                                                   \
        return UPPER##_ROWS;                                                                       \
    }                                                                                              \
    PAGE_EXPORT(brain) unsigned char* brain(void) {                                                \
        return brain_;                                                                             \
    }                                                                                              \
    PAGE_EXPORT(brain_bytes) int brain_bytes(void) {                                               \
        return UPPER##_BRAIN_BYTES;                                                                \
    }                                                                                              \
    PAGE_EXPORT(most_brain_bytes) int most_brain_bytes(void) {                                     \
        return sizeof brain_;                                                                      \
    }                                                                                              \
    PAGE_EXPORT(forget) int forget(void) {                                                         \
        return lower##_init(&memory, &error);                                                      \
    }                                                                                              \
    PAGE_EXPORT(load) int load(int bytes) {                                                        \
        return lower##_load(&memory, brain_, (size_t)bytes, &error);                               \
    }                                                                                              \
    PAGE_EXPORT(save) int save(void) {                                                             \
        return lower##_save(&memory, brain_, UPPER##_BRAIN_BYTES, &error);                         \
    }                                                                                              \
    PAGE_EXPORT(read) int read_rows(int rows) {                                                    \
        const lower##_read_tensors tensors = {.image = images_, .scores = scores_};                \
        return lower##_read(&memory, &tensors, (uint32_t)rows, &error);                            \
    }                                                                                              \
    PAGE_EXPORT(learn) int learn_rows(int rows, float rate) {                                      \
        const lower##_learn_tensors tensors = {                                                    \
            .image = images_, .LABEL = labels_, .rate = &rate, .loss = &loss_};                    \
        return lower##_learn(&memory, &tensors, (uint32_t)rows, &error);                           \
    }
