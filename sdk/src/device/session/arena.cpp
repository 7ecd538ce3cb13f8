// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates and frees shared arenas.

#include "device/session/arena.hpp"

namespace hearth::runtime {

hearth_result Arena::create(Context& context, uint64_t bytes, Arena** out) {
    const uint64_t limit = context.device().max_allocation_bytes();
    if (bytes == 0 || bytes > limit)
        return context.fail(HEARTH_ERROR_OUT_OF_RANGE, "arena: %llu bytes, expected 1..%llu",
                            static_cast<unsigned long long>(bytes),
                            static_cast<unsigned long long>(limit));
    auto* arena = context.allocator().make<Arena>(context);
    if (arena == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "arena: out of host memory");
    // Rounded up to words, because vkCmdFillBuffer clears them.
    const hearth_result result = context.memory().create(HEARTH_MEMORY_ARENA, (bytes + 3) / 4 * 4,
                                                         "hearth shared arena", arena->buffer_);
    if (result != HEARTH_OK) {
        context.allocator().destroy(arena);
        if (result == HEARTH_ERROR_BUDGET_EXCEEDED) {
            FixedText<256> why;
            context.memory().describe_refusal(why);
            return context.fail(result, "arena: %s", why.c_str());
        }
        return context.fail(result,
                            "arena: cannot allocate %llu bytes of device memory; free memory or "
                            "make the arena smaller",
                            static_cast<unsigned long long>(bytes));
    }
    context.count_arena(+1);
    *out = arena;
    return HEARTH_OK;
}

Arena::~Arena() {
    context_->memory().destroy(buffer_);
}

void Arena::free_if_unused() {
    if (!is_closed_ || users_ > 0) return;
    Context& context = *context_;
    context.count_arena(-1);
    context.allocator().destroy(this);
}

}  // namespace hearth::runtime
