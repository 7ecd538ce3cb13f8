// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "palette.hpp"

namespace hearth::ember {
namespace {

constexpr Palette kUsual = {
    .ground = {Tint{0x8cc063, 0x22394c}, Tint{0x5f8653, 0x182a3b}, Tint{0xe9d3a0, 0x3b4264}},
    .leaf = {0x3f8a46, 0x1b3d3c},
    .berry = {0xe0324f, 0x8a2350},
    .cap = {0x9a62bd, 0x4a3a80},
    .stem = {0xf3e8d2, 0x7a7f9e},
    .shell = {0xff9d86, 0x8a6a86},
    .rib = {0xb8604e, 0x5a466a},
    .stalk = {0x5d7d5a, 0x2a4050},
    .spike = {0x6a86d8, 0x3a4a90},
    .coat = {0xff8a3c, 0xff8a3c},
    .belly = {0xffd27a, 0xffd27a},
};
// They differ in lightness as well as in hue; ember_view_test measures how far.
constexpr Palette kDistinct = {
    .ground = {Tint{0x9cc9bd, 0x22394c}, Tint{0x6a9a86, 0x182a3b}, Tint{0xb9a88f, 0x3b4264}},
    .leaf = {0x0b4a44, 0x06211f},
    .berry = {0xffe14d, 0xc9a92e},
    .cap = {0x5b2a86, 0x2f1650},
    .stem = {0xf3e8d2, 0x9a9fb4},
    .shell = {0xfff8f2, 0xb4b0b8},
    .rib = {0x7a3b12, 0x4a2a1a},
    .stalk = {0x1c3f5c, 0x10263a},
    .spike = {0x1f6fd8, 0x2f7fe8},
    .coat = {0xd55e00, 0xd55e00},
    .belly = {0xffb878, 0xffb878},
};

}  // namespace

const Palette& palette_of(bool is_distinct) {
    return is_distinct ? kDistinct : kUsual;
}

}  // namespace hearth::ember
