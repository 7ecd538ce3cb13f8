// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Counts allocations that go through the application's callbacks, or through the C library by
// default.

#include "core/alloc.hpp"

#include "core/portable.hpp"

#include <algorithm>

namespace hearth {

namespace {

void* allocate_from_c(void*, size_t bytes, size_t alignment) {
    return allocate_aligned(bytes, alignment);
}

void free_to_c(void*, void* memory) {
    free_aligned(memory);
}

}  // namespace

HostAllocator::HostAllocator() : allocate_(allocate_from_c), free_(free_to_c) {}

void* HostAllocator::allocate(size_t bytes, size_t alignment) {
    void* memory = allocate_(user_data_, bytes, alignment);
    if (memory == nullptr) return nullptr;
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    return memory;
}

void HostAllocator::free(void* memory, size_t bytes) {
    if (memory == nullptr) return;
    held_ -= bytes;
    free_(user_data_, memory);
}

}  // namespace hearth
