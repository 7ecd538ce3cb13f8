// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the game on this machine's CPU, as fast as it goes, and prints the learning curve.
// Usage: my_game [FRAMES [LOG]]

#include "curve.hpp"
#include "game.hpp"

#include <cstdlib>

using namespace hearth;

static Status run(int frames, const char* log) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    HEARTH_ASSIGN(Game game, Game::create(device.context()));
    HEARTH_ASSIGN(Curve curve, Curve::open(log));
    for (int frame = 1; frame <= frames && !curve.follow(game); ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        HEARTH_TRY(game.play());
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) { return game.record(commands); }));
        if (frame % 250 == 0) HEARTH_TRY(curve.add(game, frame));
    }
    return {};
}

int main(int count, char** arguments) {
    const int frames = count > 1 ? std::atoi(arguments[1]) : 5'000;
    const Status status = run(frames, count > 2 ? arguments[2] : "run.jsonl");
    if (!status.ok()) std::fprintf(stderr, "my_game: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
