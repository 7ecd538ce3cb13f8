// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "host/overlap.hpp"

#include <gtest/gtest.h>

namespace hearth::demo {
namespace {

TEST(Overlap, IsTheShareOfTheWorkBesideWhichTheOtherQueueWorked) {
    Overlap overlap;
    EXPECT_EQ(overlap.share(), 0);
    // Frames of 8 ms with 2 between them.  Work of 4 ms: within a frame, over its end and into the
    // next one, between two frames, and beside the frame before its own.
    const double begins[] = {2, 16, 28.5, 32};
    for (uint64_t serial = 1; serial <= 4; ++serial) {
        const double frame = 10 * static_cast<double>(serial - 1);
        overlap.add_other(serial, frame, frame + 8);
        const double begin = begins[serial - 1];
        overlap.add_work(serial, begin, serial == 3 ? 29.5 : begin + 4);
    }
    EXPECT_EQ(overlap.work_ms(), 4);  // of what may still meet a later frame nothing is known
    for (uint64_t serial = 5; serial <= 8; ++serial) {
        const double frame = 10 * static_cast<double>(serial - 1);
        overlap.add_other(serial, frame, frame + 8);
    }
    EXPECT_EQ(overlap.work_ms(), 4 + 4 + 1 + 4);
    EXPECT_DOUBLE_EQ(overlap.share(), (4 + 2 + 0 + 4) / 13.0);
}

}  // namespace
}  // namespace hearth::demo
