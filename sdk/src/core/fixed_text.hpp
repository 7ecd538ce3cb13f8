// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// printf into a fixed-size buffer, for messages in code that may not allocate.  All detail texts of
// the runtime are made here, so control characters in names from files are replaced here.

#pragma once

#include "core/portable.hpp"

#include <hearth/status.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace hearth {

/// A string of at most N - 1 characters; longer text is truncated, and control characters become
/// '?'.
template <size_t N>
class FixedText {
  public:
    const char* c_str() const { return text_; }
    bool empty() const { return size_ == 0; }
    void clear() {
        size_ = 0;
        text_[0] = '\0';
    }
    HEARTH_PRINTF(2, 3) void append(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        append_list(format, arguments);
        va_end(arguments);
    }
    HEARTH_PRINTF(2, 3) void set(const char* format, ...) {
        clear();
        va_list arguments;
        va_start(arguments, format);
        append_list(format, arguments);
        va_end(arguments);
    }
    void append_list(const char* format, va_list arguments) {
        const size_t before = size_;
        const int written = std::vsnprintf(text_ + size_, N - size_, format, arguments);
        if (written > 0) size_ += static_cast<size_t>(written);
        if (size_ > N - 1) size_ = N - 1;
        replace_control_characters(text_ + before, size_ - before);
    }
    /// Appends the only control character that a text may contain, a separator between list items.
    void append_line_break() {
        if (size_ < N - 1) text_[size_++] = '\n';
        text_[size_] = '\0';
    }
    bool is_full() const { return size_ == N - 1; }

  private:
    size_t size_ = 0;
    char text_[N] = {};
};

}  // namespace hearth
