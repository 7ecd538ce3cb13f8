// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/alloc.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace hearth {
namespace {

TEST(HostAllocator, CountsWhatTheHostGives) {
    HostAllocator allocator;
    void* const memory = allocator.allocate(64, 64);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    EXPECT_EQ(allocator.bytes_held(), 64u);
    allocator.free(nullptr, 64);
    EXPECT_EQ(allocator.bytes_held(), 64u);
    allocator.free(memory, 64);
    EXPECT_EQ(allocator.bytes_held(), 0u);
    EXPECT_EQ(allocator.bytes_peak(), 64u);
}

TEST(HostAllocator, DoesNotCountWhatTheHostDoesNotGive) {
    HostAllocator allocator(
        nullptr, [](void*, size_t, size_t) -> void* { return nullptr; }, [](void*, void*) {});
    EXPECT_EQ(allocator.allocate(64, 8), nullptr);
    EXPECT_EQ(allocator.bytes_held(), 0u);
    EXPECT_EQ(allocator.bytes_peak(), 0u);
    Array<uint64_t> array;
    EXPECT_FALSE(array.resize(allocator, 1));
    EXPECT_EQ(array.size(), 0u);
    // Nothing needs nothing of the host.
    EXPECT_TRUE(array.resize(allocator, 0));
}

TEST(Array, RefusesMoreBytesThanThereAreAddresses) {
    HostAllocator allocator;
    Array<uint64_t> array;
    EXPECT_FALSE(array.resize(allocator, SIZE_MAX / sizeof(uint64_t) + 1));
    EXPECT_FALSE(array.resize(allocator, SIZE_MAX));
    EXPECT_EQ(allocator.bytes_held(), 0u);
}

}  // namespace
}  // namespace hearth
