// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A progress bar on stderr, only for interactive terminals.

#pragma once

#include <cstddef>
#include <string_view>

namespace hearth::tool {

class Progress {
  public:
    /// Draws only if stderr is a terminal.
    explicit Progress(std::string_view what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Shows that `done` of `count` items are finished and `now` is in progress.  Redraws at most
    /// 20 times per second.
    void at(size_t done, size_t count, std::string_view now);
    /// Erases the bar before other output.
    void clear();

  private:
    std::string_view what_;
    bool is_terminal_;
    bool is_drawn_ = false;
    double last_ = 0;
};

}  // namespace hearth::tool
