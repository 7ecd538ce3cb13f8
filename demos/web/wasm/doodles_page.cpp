// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The doodles network for page/doodles.js, and the hand that draws what it learns from.

#include "doodles.h"
#include "doodles.hpp"
#include "page.h"

extern "C" {

PAGE_CLASSIFIER(DOODLES, doodles, kind, hearth::web::kDoodlePixels)

static hearth::web::Drawing drawing;
static hearth::web::DoodleRandom hand;

/* x, y, begins_stroke of each point. */
PAGE_EXPORT(points) float* points(void) {
    return &drawing.points[0].x;
}
PAGE_EXPORT(most_points) int most_points(void) {
    return hearth::web::Drawing::kCapacity;
}
PAGE_EXPORT(name_of) const char* name_of(int kind) {
    return hearth::web::kDoodleNames[kind];
}
PAGE_EXPORT(seed) void seed(uint32_t number) {
    hand.state = number | 1;
}
/* Draws one of the kind; returns the number of points. */
PAGE_EXPORT(draw) int draw(int kind) {
    hearth::web::draw_doodle(kind, hand, drawing);
    return drawing.count;
}
/* The image of the first `count` points, as row 0. */
PAGE_EXPORT(rasterize) void rasterize(int count) {
    constexpr float kPen = 1.6f;
    drawing.count = count;
    hearth::web::rasterize(drawing, kPen, images_);
}
/* Fills rows from `first` on with drawings of kinds by chance. */
PAGE_EXPORT(draw_rows) void draw_rows(int first, int end) {
    for (int row = first; row < end; ++row) {
        labels_[row] = hand.integer(0, hearth::web::kDoodleKinds - 1);
        hearth::web::make_doodle_image(labels_[row], hand,
                                       images_ + row * hearth::web::kDoodlePixels);
    }
}
}
