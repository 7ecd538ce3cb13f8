// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/count_allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local bool t_counts = false;
thread_local uint64_t t_allocations = 0;

}  // namespace

void* operator new(size_t bytes) {
    if (t_counts) ++t_allocations;
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) std::abort();
    return memory;
}
// AddressSanitizer's own does not call the one above, and would miss its counterpart below.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    if (t_counts) ++t_allocations;
    return std::malloc(bytes);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace hearth::gates {

void counts_allocations(bool counts) {
    t_counts = counts;
}

uint64_t allocations() {
    return t_allocations;
}

}  // namespace hearth::gates
