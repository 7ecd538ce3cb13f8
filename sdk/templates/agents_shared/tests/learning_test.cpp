// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runners reach more flags after some thousand frames than at first, on this machine's CPU.

#include "game.hpp"

#include <cstdio>

using namespace hearth;

namespace {

constexpr int kFrames = 2'500;

/// Flags that were reached in the first and in the last fifth of the frames.
struct Flags {
    int first = 0, last = 0;
};

Result<Flags> count_flags() {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    HEARTH_ASSIGN(Game game, Game::create(device.context()));
    Flags flags;
    for (int frame = 0; frame < kFrames; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        HEARTH_TRY(game.play());
        for (const Runner& runner : game.runners()) {
            const bool has_new_flag = frame > 0 && runner.age == 0;
            if (has_new_flag && frame < kFrames / 5) ++flags.first;
            if (has_new_flag && frame >= kFrames - kFrames / 5) ++flags.last;
        }
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) { return game.record(commands); }));
    }
    return flags;
}

}  // namespace

int main() {
    const Result<Flags> flags = count_flags();
    if (!flags.ok()) return std::printf("error: %s\n", flags.status().message().c_str()), 1;
    std::printf("flags: %d at first, %d at last\n", flags->first, flags->last);
    return flags->last > 2 * flags->first ? 0 : 1;
}
