// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Doodles of ten kinds, drawn from random numbers: all that the page's second network learns from,
// before the page is built and, beside corrections, in the page.

#pragma once

#include <cstdint>

namespace hearth::web {

inline constexpr const char* kDoodleNames[] = {"sun",   "house", "tree",   "fish", "star",
                                               "heart", "boat",  "flower", "cat",  "cup"};
inline constexpr int kDoodleKinds = 10;
inline constexpr int kDoodleSide = 24;
inline constexpr int kDoodlePixels = kDoodleSide * kDoodleSide;

struct DoodlePoint {
    float x = 0, y = 0;       ///< y down, in any unit
    float begins_stroke = 0;  ///< 1: no line leads here from the point before
};

/// Lines of a pen; points beyond the capacity are dropped.
struct Drawing {
    static constexpr int kCapacity = 1024;
    DoodlePoint points[kCapacity];
    int count = 0;
};

/// A generator of 32 random bits (Marsaglia's xorshift, 2003), the same on all machines.
struct DoodleRandom {
    uint32_t state = 1;  ///< not 0

    uint32_t next();
    float uniform(float low, float high);
    int integer(int low, int high);  ///< both included
    bool chance(float probability) { return uniform(0, 1) < probability; }
};

/// Draws a doodle of the kind, an index into kDoodleNames, somewhere near the unit square.
void draw_doodle(int kind, DoodleRandom& random, Drawing& drawing);

/// Scales the drawing to fill the image, its aspect kept, and draws it with a pen of `pen` pixels.
/// image: f32 [kDoodleSide, kDoodleSide], the part of each pixel that is inked.
void rasterize(const Drawing& drawing, float pen, float* image);

/// Draws and rasterizes one of the kind with a random pen.
void make_doodle_image(int kind, DoodleRandom& random, float* image);

}  // namespace hearth::web
