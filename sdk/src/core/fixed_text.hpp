// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// printf into a buffer of fixed size: messages where nothing may be allocated.

#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace hearth {

/// Text of at most N - 1 characters; what does not fit is cut off.
template <size_t N>
class FixedText {
  public:
    const char* c_str() const { return text_; }
    bool empty() const { return size_ == 0; }
    void clear() {
        size_ = 0;
        text_[0] = '\0';
    }
    __attribute__((format(printf, 2, 3))) void append(const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        append_list(format, arguments);
        va_end(arguments);
    }
    __attribute__((format(printf, 2, 3))) void set(const char* format, ...) {
        clear();
        va_list arguments;
        va_start(arguments, format);
        append_list(format, arguments);
        va_end(arguments);
    }
    /// Puts a '?' for each: text that came from a file goes to logs and terminals.
    void replace_control_characters() {
        for (size_t i = 0; i < size_; ++i)
            if (static_cast<unsigned char>(text_[i]) < 0x20 || text_[i] == 0x7f) text_[i] = '?';
    }
    void append_list(const char* format, va_list arguments) {
        const int written = std::vsnprintf(text_ + size_, N - size_, format, arguments);
        if (written > 0) size_ += static_cast<size_t>(written);
        if (size_ > N - 1) size_ = N - 1;
    }

  private:
    size_t size_ = 0;
    char text_[N] = {};
};

}  // namespace hearth
