// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "device/session/ring.hpp"

#include <hearth/core/hash.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace hearth::runtime {
namespace {

TEST(ByteRing, SegmentsInUseNeverOverlapAndFreedOnesComeBack) {
    constexpr uint64_t kCapacity = 4096;
    HostAllocator allocator;
    ByteRing ring;
    ASSERT_TRUE(ring.init(allocator, kCapacity, 8));
    struct Live {
        size_t index;
        uint64_t begin, end, serial;
        bool held;
    };
    std::vector<Live> live;
    uint32_t allocated = 0, refused = 0;
    for (uint64_t serial = 1; serial < 5000; ++serial) {
        const uint64_t random = Hash().number(serial).value();
        const uint64_t completed = serial > 3 ? serial - 3 : 0;
        // The host lets go of the oldest segment that it holds, now and then.
        for (Live& l : live)
            if (l.held && random % 3 != 0) {
                ring.release(l.index);
                l.held = false;
                break;
            }
        std::erase_if(live, [&](const Live& l) { return !l.held && l.serial <= completed; });
        const uint64_t bytes = 1 + random % 1500;
        const bool held = random % 2 == 0;
        const int64_t index = ring.allocate(bytes, serial, held, completed);
        if (index < 0) {
            ++refused;
            continue;
        }
        ++allocated;
        const uint64_t begin = ring.segment(static_cast<size_t>(index)).offset;
        EXPECT_EQ(begin % ByteRing::kAlignment, 0u);
        EXPECT_LE(begin + bytes, kCapacity);
        for (const Live& l : live) EXPECT_TRUE(begin + bytes <= l.begin || l.end <= begin);
        live.push_back({static_cast<size_t>(index), begin, begin + bytes, serial, held});
    }
    EXPECT_GT(allocated, 1000u);
    EXPECT_GT(refused, 100u);
}

TEST(ByteRing, WithoutCapacityRefusesEverything) {
    HostAllocator allocator;
    ByteRing ring;
    ASSERT_TRUE(ring.init(allocator, 0, 0));
    EXPECT_EQ(ring.allocate(4, 1, false, 0), -1);
}

}  // namespace
}  // namespace hearth::runtime
