// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The learning curve: a line of text for each sample, and a run log for `hearth watch`.

#pragma once

#include "game.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

class Curve {
  public:
    /// path: the run log, or null for none.
    explicit Curve(const char* path) : log_(path ? std::fopen(path, "w") : nullptr, close) {
        if (path && !log_) std::fprintf(stderr, "my_game: cannot write '%s': no run log\n", path);
        write(hearth::agents::run_log_begin("my_game", "frames"));
    }
    void add(Game& game, int frame) {
        // An episode's return is 1 for the flag, and up to 2.8 for the way there.
        const float score = game.score();
        const auto length = static_cast<size_t>(std::clamp(score * 15, 0.0f, 50.0f));
        std::printf("%6d frames: return %5.2f %s\n", frame, static_cast<double>(score),
                    std::string(length, '#').c_str());
        std::fflush(stdout);
        write(hearth::agents::run_log_sample(game.agents(), frame));
    }

  private:
    static void close(std::FILE* file) {
        if (file) (void)std::fclose(file);
    }
    void write(const std::string& line) {
        if (log_) std::fputs(line.c_str(), log_.get()), std::fflush(log_.get());
    }
    std::unique_ptr<std::FILE, void (*)(std::FILE*)> log_;
};
