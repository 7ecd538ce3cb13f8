/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The digits network for page/digits.js, which writes images and labels to where images() and
 * labels() point, and calls. Each call returns 0, or an error that error_text() describes. */

#include "digits.h"
#include "page.h"

PAGE_NETWORK_MEMORY(DIGITS, digits_cooked)
static float images_[DIGITS_ROWS * 64], scores_[DIGITS_ROWS * 10], loss_;
static int32_t labels_[DIGITS_ROWS];
static _Alignas(16) unsigned char brain_[2 * DIGITS_BRAIN_BYTES]; /* others' may be larger */

PAGE_EXPORT(images) float* images(void) {
    return images_;
}
PAGE_EXPORT(labels) int32_t* labels(void) {
    return labels_;
}
PAGE_EXPORT(scores) float* scores(void) {
    return scores_;
}
PAGE_EXPORT(loss) float loss(void) {
    return loss_;
}
PAGE_EXPORT(most_rows) int most_rows(void) {
    return DIGITS_ROWS;
}
PAGE_EXPORT(brain) unsigned char* brain(void) {
    return brain_;
}
PAGE_EXPORT(brain_bytes) int brain_bytes(void) {
    return DIGITS_BRAIN_BYTES;
}
PAGE_EXPORT(most_brain_bytes) int most_brain_bytes(void) {
    return sizeof brain_;
}

PAGE_EXPORT(forget) int forget(void) {
    return digits_init(&memory, &error);
}
PAGE_EXPORT(load) int load(int bytes) {
    return digits_load(&memory, brain_, (size_t)bytes, &error);
}
PAGE_EXPORT(save) int save(void) {
    return digits_save(&memory, brain_, DIGITS_BRAIN_BYTES, &error);
}

PAGE_EXPORT(read) int read_digits(int rows) {
    const digits_read_tensors tensors = {.image = images_, .scores = scores_};
    return digits_read(&memory, &tensors, (uint32_t)rows, &error);
}

PAGE_EXPORT(learn) int learn(int rows, float rate) {
    const digits_learn_tensors tensors = {
        .image = images_, .digit = labels_, .rate = &rate, .loss = &loss_};
    return digits_learn(&memory, &tensors, (uint32_t)rows, &error);
}
