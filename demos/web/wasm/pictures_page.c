/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* SqueezeNet for page/pictures.js, which fetches the weights to where cooked() points and calls
 * begin(). */

#include "page.h"
#include "pictures.h"

#define IMAGE_NUMBERS (3 * 96 * 96)
#define CLASSES 1000

static uint64_t cooked_[PICTURES_COOKED_BYTES / 8];
PAGE_NETWORK_MEMORY(PICTURES, cooked_)
static float image_[IMAGE_NUMBERS], scores_[CLASSES];

PAGE_EXPORT(cooked) uint64_t* cooked(void) {
    return cooked_;
}
PAGE_EXPORT(cooked_bytes) int cooked_bytes(void) {
    return PICTURES_COOKED_BYTES;
}
PAGE_EXPORT(image) float* image(void) {
    return image_;
}
PAGE_EXPORT(scores) float* scores(void) {
    return scores_;
}
PAGE_EXPORT(begin) int begin(void) {
    return pictures_init(&memory, &error);
}

PAGE_EXPORT(classify) int classify(void) {
    const pictures_act_tensors tensors = {image_, scores_};
    return pictures_act(&memory, &tensors, 1, &error);
}
